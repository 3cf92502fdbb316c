// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "front/modules/module.h"
#include "layers/artifact/model_name.h"

namespace hearth::front {
namespace {

constexpr std::size_t kMostName = 64;
constexpr std::size_t kShownDigest = 8;

bool is_plain(unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; }

}  // namespace

std::string Module::version_name() const {
  return fmt::format("{}-{}", version, digest.substr(0, kShownDigest));
}

Result<> check_module_name(const std::string& name) {
  const bool fits =
      !name.empty() && name.size() <= kMostName && is_plain(static_cast<unsigned char>(name[0])) &&
      std::ranges::all_of(
          name, [](unsigned char c) { return is_plain(c) || c == '_' || c == '-' || c == '.'; });
  if (fits) return {};
  return fail(
      ErrorCode::kInvalid,
      fmt::format("a module's name is 1 to {} letters, digits, '_', '-' and '.', and begins "
                  "with a letter or digit",
                  kMostName));
}

Result<> check_module_text(const std::string& text) {
  if (text.empty()) return fail(ErrorCode::kInvalid, "a module's text must not be empty");
  if (text.size() > kMostModuleText) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a module's text is at most 1 MiB, not {} bytes", text.size()));
  }
  if (!is_utf8(text) || text.find('\0') != std::string::npos) {
    return fail(ErrorCode::kInvalid, "a module's text must be UTF-8 without NUL");
  }
  return {};
}

Result<std::vector<std::string>> canonical_models(const std::vector<std::string>& names) {
  if (names.size() > kMostModuleModels) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a module is kept warm for at most {} models", kMostModuleModels));
  }
  std::vector<std::string> models;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Result<ModelName> name = ModelName::parse(names[i]);
    if (!name) return Failed{std::move(name).error().at(fmt::format("[{}]", i))};
    std::string canonical = name->canonical();
    if (std::ranges::find(models, canonical) == models.end()) models.push_back(canonical);
  }
  return models;
}

}  // namespace hearth::front
