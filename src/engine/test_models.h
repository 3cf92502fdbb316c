// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

// Where tests find models. HEARTH_MODELS names the folder; without the file a test skips itself.
namespace hearth::engine::test {

inline constexpr const char* kSmol = "SmolLM2-135M-Instruct-Q4_1.gguf";
inline constexpr const char* kGemma = "gemma-3-270m-Q4_K_M.gguf";

inline std::optional<std::string> model_path(const std::string& name) {
  const char* folder = std::getenv("HEARTH_MODELS");
  const std::filesystem::path path = std::filesystem::path{folder ? folder : "build/models"} / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path.string();
}

}  // namespace hearth::engine::test

// Sets `variable` to the model's path, or skips the test.
#define HEARTH_MODEL_OR_SKIP(variable, name)                                          \
  const std::string variable = ::hearth::engine::test::model_path(name).value_or(""); \
  if (variable.empty()) GTEST_SKIP() << name << " is not there; `make models` brings it"
