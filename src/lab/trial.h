// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hearth::lab {

// What the kernel, and the server where it tells, say of a server's state right before a request.
// What is unset could not be observed.
struct StateProof {
  std::optional<double> pages;         // share of the model's load set that is resident, 0 to 1
  std::optional<Bytes> pages_evicted;  // of the rest, what the kernel took back under pressure
  std::optional<Bytes> load_set;       // what the load set holds, resident or not
  std::string pages_by;                // "cachestat", "mincore"; empty: unknown
  std::optional<int> processes;        // of the server
  std::optional<bool> mapped;          // some of the load set, by one of them
  std::optional<double> holder_age_s;  // of the process that holds, or is to hold, the model
  std::optional<Bytes> resident;       // VmRSS of all of them together, and its parts
  std::optional<Bytes> anonymous;
  std::optional<Bytes> file_backed;
  std::optional<Bytes> locked;
  std::optional<Bytes> device;              // VRAM, where the server tells
  std::optional<double> clock_mhz;          // of the processors, their mean
  std::map<std::string, std::string> told;  // layer -> level, by a server that has levels
};

// What happened between a request's first byte and its last.
struct Effects {
  std::optional<Bytes> bytes_read;  // from devices, by the server's processes
  std::optional<std::int64_t> major_faults;
  std::optional<std::int64_t> minor_faults;
  std::optional<double> processor_s;    // of the server's processes
  std::optional<Bytes> peak_resident;   // largest VmRSS seen, all together
  double outside_cores = 0;             // used by neither server nor lab
  std::map<std::string, double> stall;  // "cpu", "memory", "io": share of the time (PSI some)
  Bytes swapped;                        // in and out, the whole machine
  std::optional<double> joules;         // RAPL, where readable
};

// The columns of A23 and what else a reply says. Times in ms from the request's first byte.
struct Timing {
  std::optional<double> start_ms;  // from starting the server's process until it was ready
  std::optional<double> first_token_ms;
  double total_ms = 0;
  // By stage name of the timeline ("queue", "read", "prefill", ...); only what the server tells.
  std::map<std::string, double> stages_ms;
  std::optional<double> overlap_ms;  // sum - union of the stages; unset: not told
  std::optional<double> other_ms;
  std::optional<double> tokens_per_second;  // after the first token: the control
  std::optional<int> prompt_tokens;
  std::optional<int> cached_tokens;
  int generated_tokens = 0;

  // What a person waits for the first token: with a start of the server that the state needs.
  std::optional<double> wait_ms() const;
};

// A row: one request in one state, with its proof. Rows are kept as they were measured; what does
// not count says why in `flags`.
struct Trial {
  std::string study;  // "classes", "idle", "ablate", "mix"
  std::string side;   // "hearth", "llama-server", "ollama", ...
  std::string arm;    // the state: "page-cold 50 %"; for idle the gap: "10 min"
  std::string model;  // which one of a study with several; empty: there is one
  int block = 0;      // of a randomised order
  int order = 0;      // within the run, from 0
  int repetition = 0;
  std::int64_t started_wall_us = 0;

  StateProof before;
  Effects effects;
  Timing timing;
  std::string response_class;  // as the server says; empty: it does not
  std::string verdict_code;
  std::string verdict_text;
  std::string report;  // JSON: what the server told of the reply, as it came; empty: nothing
  std::map<std::string, double> extra;  // of this study only: "gap_s", "prompt_length", ...

  // Why it was not measured at all (a server that hangs, a state that cannot be made); empty: it
  // was.
  std::string failure;
  // Why it does not count: "state: ...", "busy: ...", "impossible: ...", "control: ...",
  // "text: ...", "pause: ...".
  std::vector<std::string> flags;

  bool counts() const { return failure.empty() && flags.empty(); }
};

// One line of JSON without a line feed, and back. Unset members are left out. Errors: kCorrupt.
std::string encode(const Trial& trial);
Result<Trial> decode_trial(const std::string& line);

}  // namespace hearth::lab
