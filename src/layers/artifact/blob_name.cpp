// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/blob_name.h"

#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

constexpr std::string_view kAlgorithm = "sha256";

}  // namespace

std::string blob_name(std::string_view sha256) { return "sha256-" + std::string{sha256}; }

std::optional<std::string> digest_in_blob_name(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  if (!name.starts_with("sha256-")) return std::nullopt;
  return parse_sha256(name);
}

std::optional<std::string> parse_sha256(std::string_view digest) {
  if (!digest.starts_with(kAlgorithm)) return std::nullopt;
  digest.remove_prefix(kAlgorithm.size());
  if (!digest.starts_with(':') && !digest.starts_with('-')) return std::nullopt;
  std::string hex = lower_case(digest.substr(1));
  if (!is_sha256(hex)) return std::nullopt;
  return hex;
}

}  // namespace hearth
