// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "http/client.h"
#include "lab/target/target.h"

namespace hearth::lab {

// How a server is asked and how its replies are read.
enum class Dialect {
  kCompletion,       // /v1/completions, with the members of llama.cpp's and Hearth's servers
  kPlainCompletion,  // the same with OpenAI's own members only
  kChat,             // /v1/chat/completions
  kOllama,           // /api/generate, raw
};

// How to ask, beside the question itself.
struct Asking {
  Dialect dialect = Dialect::kCompletion;
  std::string model;                          // as the server calls it
  std::map<std::string, int> ollama_options;  // of kOllama: "num_ctx", ...
  std::function<bool()> stop;
  std::string key{};  // of its API; empty: none
};

// Asks and reads: the moment of the first text, text, tokens, and whatever the server tells of
// stages: Hearth's own report, llama.cpp's timings, Ollama's durations. Never throws. Thread-safe.
Answer ask_server(const http::Client& server, const Asking& asking, const Question& question);

// Whether the answer says that this server does not know the dialect (400, 404, 405, 422, 501).
bool is_unknown_dialect(const Answer& answer);

}  // namespace hearth::lab
