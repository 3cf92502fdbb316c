// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/found/found_name.h"

#include <algorithm>

#include "layers/artifact/found/look.h"
#include "layers/artifact/model_name.h"
#include "layers/artifact/source/quantisation.h"

namespace hearth::found {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string name_part(std::string_view text) {
  std::string part{text};
  std::ranges::replace_if(part, [](char c) { return !is_word(c) && c != '.' && c != '+'; }, '-');
  for (std::size_t at; (at = part.find("..")) != std::string::npos;) part.erase(at, 1);
  part.erase(part.begin(), std::ranges::find_if(part, is_word));
  return part;
}

std::string name_of(std::string_view above, std::string_view model, std::string_view tag) {
  std::string text = above.empty() ? std::string{} : std::string{above} + "/";
  text += std::string{model} + ":" + std::string{tag};
  const auto name = ModelName::parse(text);
  return name ? name->canonical() : std::string{};
}

std::string tag_in(std::string_view stem) {
  const std::string quantisation = quantisation_in(stem);
  return name_part(quantisation.empty() ? stem : quantisation);
}

bool is_companion(std::string_view file_name) {
  const std::string name = lower_case(file_name);
  if (name.find("mmproj") != std::string::npos) return true;
  const std::string_view stem = std::string_view{name}.substr(0, name.rfind(".gguf"));
  // Models that were quantised with one may say so in their names.
  return stem.find("imatrix") != std::string_view::npos && quantisation_in(stem).empty();
}

}  // namespace hearth::found
