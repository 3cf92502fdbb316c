// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "lab/machine/journal.h"
#include "lab/target/target.h"

namespace hearth::lab {

// Which server, and how it is to run. Plain values; the pointer and functions outlive the target.
struct TargetOptions {
  // "hearth", "llama-server", "ollama" or "llama-swap": started by the target, on 127.0.0.1 and a
  // port of the kernel's choice. Or the address of a server that runs already, "host:port" or
  // "http://host:port": it is asked and looked at; nothing but kLoad is done to it, by asking.
  std::string server;
  std::string name;     // of the side in rows and reports; empty: `server`
  std::string program;  // empty: the running executable for hearth, else looked up in PATH

  std::string llama_server;  // the program that llama-swap is to run; empty: looked up in PATH

  // A GGUF file, absolute. For an address: the model's name there; empty: the first in its list.
  std::string model;
  // Absolute, of this target alone, made if missing: data, a configuration, server.log. Nobody
  // removes it but whoever gave it. Not used for an address.
  std::string folder;

  int threads = 0;     // 0: the server decides
  int context = 4096;  // tokens
  // Of Hearth only: lines "key" -> value as TOML has it, beside and over the lab's own.
  std::map<std::string, std::string> configuration;
  std::vector<std::string> arguments;  // more of them; not for an address or llama-swap
  // A program with arguments that runs the server as its own last words: a memory limit, `nice`.
  std::vector<std::string> within;
  // How fast the lab's own file server hands the model out after kRemoveModel; unset: as it can.
  std::optional<Bytes> fetched_per_second;

  std::optional<std::chrono::milliseconds> patience;  // of each question, instead of its own
  std::string key;                                    // of a server given by address; empty: none

  Journal* journal = nullptr;  // told of each process before it runs; may be null
  std::function<bool()> stop;  // ^C: waiting and asking end soon; may be empty
};

// Checks that the program is there and starts what has to know the model first (hearth, ollama);
// that takes as long as reading the model once. The destructor ends all processes it started.
// The model is called "lab" by servers that give names.
// Errors: kNotFound (no such program or file), kInvalid (no such kind of server), kUnavailable (it
// does not start, or nobody listens there).
Result<std::unique_ptr<Target>> open_target(const TargetOptions& options);

// A question that is asked as patiently as the options say.
Question with_patience(Question question, const TargetOptions& options);

// Whether `server` names a kind that the lab starts, rather than an address.
bool is_started_by_lab(const std::string& server);

}  // namespace hearth::lab
