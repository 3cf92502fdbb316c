// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/huggingface_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "layers/artifact/source/quantisation.h"
#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

constexpr std::string_view kMain = "main";
constexpr std::size_t kMaxText = 255;

bool is_gguf(std::string_view path) { return lower_case(path).ends_with(".gguf"); }

// A path without empty steps and steps upward, of characters that are the same in an address.
Result<> check_path(std::string_view path, std::string_view what) {
  const std::string name{what};
  if (path.size() > kMaxText) return invalid_source("the " + name + " is too long");
  for (const std::string_view step : split(path, '/')) {
    if (step.empty() || step.front() == '.') {
      return invalid_source("the " + name + " is empty, or a step of it is or begins with a dot");
    }
    const auto fit = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view{"_.-+"}.find(c) != std::string_view::npos;
    };
    if (!std::ranges::all_of(step, fit)) {
      return invalid_source("the " + name + " has a character that is none of letters, digits, " +
                            R"("_", ".", "-", "+")");
    }
  }
  return {};
}

// "refs/pr/1" is one revision of three steps.
std::string take_revision(std::string_view& rest) {
  const bool reference = rest.starts_with("refs/");
  std::size_t end = 0;
  for (int steps = reference ? 3 : 1; steps > 0 && end != std::string_view::npos; --steps) {
    end = rest.find('/', end == 0 ? 0 : end + 1);
  }
  const std::string revision{rest.substr(0, end)};
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return revision;
}

Result<> read_page(std::string_view rest, HuggingFaceText& said) {
  constexpr std::array<std::string_view, 4> kPages{"blob", "resolve", "raw", "tree"};
  const std::size_t slash = rest.find('/');
  const std::string_view page = rest.substr(0, slash);
  if (std::ranges::find(kPages, page) != kPages.end()) {
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    said.revision = take_revision(rest);
  }
  if (page == "tree" && rest.empty()) return {};
  if (!is_gguf(rest)) {
    return invalid_source(
        "what follows the repository is no .gguf file; to choose a quantisation, "
        "write hf.co/org/repo:Q4_K_M");
  }
  said.wanted = std::string{rest};
  return {};
}

Result<> read_marks(std::string_view rest, HuggingFaceText& said) {
  std::optional<std::string> revision;
  std::optional<std::string> wanted;
  while (!rest.empty()) {
    const char mark = rest.front();
    rest.remove_prefix(1);
    const std::string_view value = rest.substr(0, rest.find_first_of(":@"));
    std::optional<std::string>& into = mark == '@' ? revision : wanted;
    if (into) return invalid_source("it names two revisions, or two quantisations");
    if (value.empty()) return invalid_source("the revision or quantisation is empty");
    into = std::string{value};
    rest.remove_prefix(value.size());
  }
  if (revision) said.revision = *revision;
  if (wanted && lower_case(*wanted) != "latest") said.wanted = *wanted;
  return {};
}

Result<> check_repository(std::string_view organisation, std::string_view name) {
  if (organisation == "datasets" || organisation == "spaces") {
    return invalid_source("only models can be pulled, no data sets or spaces");
  }
  if (Result<> fit = check_part(organisation, "organisation"); !fit) return fit;
  return check_part(name, "repository");
}

}  // namespace

Result<HuggingFaceText> HuggingFaceText::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return invalid_source("it must name a repository: hf.co/org/repo");
  }
  const std::size_t end = std::min(text.find_first_of(":@/", slash + 1), text.size());
  const std::string_view organisation = text.substr(0, slash);
  const std::string_view name = text.substr(slash + 1, end - slash - 1);
  if (Result<> fit = check_repository(organisation, name); !fit) return Failed{fit.error()};
  HuggingFaceText said;
  said.repository = std::string{text.substr(0, end)};
  const std::string_view rest = text.substr(end);
  Result<> read = rest.starts_with('/') ? read_page(rest.substr(1), said) : read_marks(rest, said);
  if (!read) return Failed{std::move(read).error()};
  if (auto quantisation = quantisation_named(said.wanted)) said.wanted = *quantisation;
  if (Result<> fit = check_path(said.revision, "revision"); !fit) return Failed{fit.error()};
  if (said.wanted.empty()) return said;
  if (Result<> fit = check_path(said.wanted, "quantisation or file"); !fit) {
    return Failed{fit.error()};
  }
  return said;
}

std::string HuggingFaceText::canonical() const {
  std::string text = repository;
  if (revision != kMain) text += "@" + revision;
  if (!wanted.empty()) text += ":" + wanted;
  return text;
}

}  // namespace hearth
