// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_log.h"

#include <llama.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "log.h"  // of the engine's common library

namespace hearth::engine {
namespace {

std::mutex first_error_mutex;
std::string& first_error() {
  static std::string text;
  return text;
}

// What the engine says in the course of things: a load without a second vocabulary, pooling that
// the model leaves open, a vocabulary it corrects, a computation that was broken off because we
// asked for it.
constexpr std::string_view kExpected[] = {
    "dummy tokens",
    "model default pooling_type",
    "control-looking token",
    "graph_compute_async failed with error 1",
    "compute status: 1",
    "removing memory module entries",
    "failed to decode, ret = 2",
};

bool is_expected(std::string_view line) {
  const auto contains = [&](std::string_view part) { return line.find(part) != line.npos; };
  return std::any_of(std::begin(kExpected), std::end(kExpected), contains);
}

// Where the message proper begins: the engine puts the names of its functions before it.
std::size_t function_prefix(std::string_view line) {
  constexpr std::string_view kLoading = "error loading model: ";
  if (const std::size_t at = line.find(kLoading); at != line.npos) return at + kLoading.size();
  const std::size_t colon = line.find(": ");
  return colon == line.npos || line.find(' ') < colon ? 0 : colon + 2;
}

void on_engine_log(ggml_log_level level, const char* text, void* /*user*/) {
  if (level != GGML_LOG_LEVEL_WARN && level != GGML_LOG_LEVEL_ERROR) return;
  std::string_view line{text};
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  if (line.empty() || is_expected(line)) return;
  if (level == GGML_LOG_LEVEL_WARN) {
    log::warn("engine", {{"text", line}});
    return;
  }
  log::error("engine", {{"text", line}});
  std::lock_guard lock{first_error_mutex};
  if (first_error().empty()) first_error() = line.substr(function_prefix(line));
}

}  // namespace

void route_engine_log() {
  llama_log_set(on_engine_log, nullptr);
  // The common library logs by itself, from a thread of its own that starts with its first line.
  common_log_set_verbosity_thold(-1);
}

std::string take_engine_error() {
  std::lock_guard lock{first_error_mutex};
  return std::exchange(first_error(), {});
}

}  // namespace hearth::engine
