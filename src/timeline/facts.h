// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "timeline/verdict_code.h"

namespace hearth {

// What is known about one request once it is over: the input of classify(), explain() and
// avoided_by(). Whatever the request did not need stays at its default.
struct Facts {
  std::string model{};  // as a person would type it in a command

  Bytes downloaded{};
  Bytes bytes_read{};       // from the device, by this request or by the load that it joined
  Bytes load_set{};         // what a load of this model maps or reads
  Bytes read_for_prefix{};  // of bytes_read: stored prompt state, nothing of the model's files
  std::int64_t major_faults = 0;
  Bytes swapped_in{};
  std::string swap_kind{};  // with it: where from, "zram" or "disk"; empty: not known

  bool spawned = false;         // a worker had to be started, by this request or one that it joined
  bool weights_loaded = false;  // likewise
  bool compiled = false;        // likewise

  int prompt_tokens = 0;
  int cached_tokens = 0;       // of these, taken from the prefix layer
  int tokens_seen_before = 0;  // leading tokens that had been evaluated before, kept or not
  // Tokens that earlier prompts had, too, behind a place near the beginning that is another one in
  // each prompt; so they were evaluated anew. 0: there is no such place.
  int behind_volatile_head = 0;
  Duration restored{};  // what bringing back stored state took, beside nothing else

  Duration queued{};
  bool queued_behind_load = false;  // another model was loading meanwhile
  Duration behind_load{};           // what the load itself waited for a device that another had

  // Hints from those who know the layer; a code of that layer, else it is ignored.
  std::optional<VerdictCode> artifact_cause{};
  std::optional<VerdictCode> pages_cause{};
  std::optional<VerdictCode> weights_cause{};
  std::optional<VerdictCode> compiled_cause{};
  std::optional<VerdictCode> prefix_cause{};
  // The first use of what the model's file holds since it was changed or touched.
  bool file_changed = false;
  std::string evicted_for{};  // with weights.evicted_for: who took the room
  // With weights.idle: how long they were to stay, and who said so ("request", "configuration", a
  // variable's name).
  std::string keep_alive{};
  std::string keep_alive_source{};

  // What prefill of as many tokens usually takes here when all is warm and quiet. Unset when nobody
  // has measured it: then neither the processor nor its power state is ever blamed.
  std::optional<Duration> usual_prefill{};
  // The same by whatever is known, if only of other models: what of a cold reply would have been
  // prefill anyway. Unset: nothing is known.
  std::optional<Duration> warm_prefill{};
  std::optional<Duration> idle_before{};  // since this model's previous reply
};

}  // namespace hearth
