// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/model_name.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "layers/artifact/shard_name.h"

namespace hearth {
namespace {

constexpr std::size_t kMaxLength = 256;
constexpr std::string_view kDefaultTag = "latest";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_inner(char c) { return is_word(c) || c == '.' || c == '-' || c == '+'; }

Failed invalid(std::string message) {
  return Failed{Error{ErrorCode::kInvalid, "model name: " + message}.at("model")};
}

Result<std::string> checked(std::string_view part, std::string_view what) {
  if (part.empty()) return invalid("the " + std::string{what} + " is empty");
  if (!is_word(part.front())) {
    return invalid("the " + std::string{what} + " must begin with a letter or a digit");
  }
  if (!std::all_of(part.begin(), part.end(), is_inner)) {
    return invalid("the " + std::string{what} +
                   " has a character that is none of letters, digits, \"_\", \".\", \"-\", \"+\"");
  }
  if (part.find("..") != std::string_view::npos) return invalid("\"..\" is not allowed");
  return std::string{part};
}

Result<std::string> checked_host(std::string_view host) {
  const std::size_t colon = host.find(':');
  Result<std::string> name = checked(host.substr(0, colon), "host");
  if (!name || colon == std::string_view::npos) return name;
  const std::string_view port = host.substr(colon + 1);
  const bool digits =
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (port.empty() || port.size() > 5 || !digits) return invalid("the host's port is no number");
  return *name + ":" + std::string{port};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<ModelName> ModelName::parse(std::string_view text) {
  if (text.empty()) return invalid("it is empty");
  if (text.size() > kMaxLength) {
    return invalid("it has " + std::to_string(text.size()) + " characters, at most " +
                   std::to_string(kMaxLength) + " are allowed");
  }
  std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() > 3) return invalid("it has more than host, namespace and model");
  std::string_view last = parts.back();
  parts.pop_back();

  const std::size_t colon = last.find(':');
  auto model = checked(last.substr(0, colon), "model");
  if (!model) return Failed{std::move(model).error()};
  auto tag = checked(colon == std::string_view::npos ? kDefaultTag : last.substr(colon + 1), "tag");
  if (!tag) return Failed{std::move(tag).error()};

  ModelName name;
  name.model_ = std::move(*model);
  name.tag_ = std::move(*tag);
  if (!parts.empty()) {
    auto name_space = checked(parts.back(), "namespace");
    if (!name_space) return Failed{std::move(name_space).error()};
    name.name_space_ = std::move(*name_space);
  }
  if (parts.size() == 2) {
    auto host = checked_host(parts.front());
    if (!host) return Failed{std::move(host).error()};
    name.host_ = std::move(*host);
  }
  return name;
}

Result<ModelName> ModelName::from_path(std::string_view path) {
  std::string stem{path.substr(path.find_last_of('/') + 1)};
  if (const auto shard = parse_shard_name(stem)) stem = shard->stem;
  if (lower_case(stem).ends_with(".gguf")) stem.resize(stem.size() - 5);
  std::replace_if(stem.begin(), stem.end(), [](char c) { return !is_inner(c); }, '-');
  for (std::size_t at; (at = stem.find("..")) != std::string::npos;) stem.erase(at, 1);
  const auto first = std::find_if(stem.begin(), stem.end(), is_word);
  stem.erase(stem.begin(), first);
  return parse(stem);
}

std::string ModelName::canonical() const {
  std::string text = host_.empty() ? "" : host_ + "/";
  if (!name_space_.empty()) text += name_space_ + "/";
  return text + model_ + ":" + tag_;
}

std::string ModelName::key() const { return lower_case(canonical()); }

}  // namespace hearth
