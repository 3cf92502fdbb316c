// SPDX-License-Identifier: Apache-2.0
#include "timeline/prefix_use.h"

#include <fmt/format.h>

#include "timeline/json_writer.h"

namespace hearth {
namespace {

// "evicted" for prefix.evicted.
std::string_view reason_of(VerdictCode code) {
  const std::string_view name = name_of(code);
  return name.substr(name.find('.') + 1);
}

std::string miss_json(const PrefixUse::Miss& miss, PrefixTexts texts) {
  JsonWriter json;
  json.string("reason", reason_of(miss.reason)).integer("position", miss.position);
  std::string text = fmt::format("prefix miss at token {}", miss.position);
  if (miss.difference) {
    json.integer("character", miss.difference->character);
    text += fmt::format(" (char {})", miss.difference->character);
  }
  if (miss.difference && texts == PrefixTexts::kShown) {
    json.string("had", miss.difference->had).string("has", miss.difference->has);
  }
  return json.string("text", text).object();
}

std::string modules_json(const std::vector<PrefixUse::Module>& modules) {
  std::string out = "[";
  for (const PrefixUse::Module& module : modules) {
    JsonWriter json;
    json.string("name", module.name).string("version", module.version);
    if (module.tokens >= 0) json.integer("tokens", module.tokens);
    if (out.size() > 1) out += ',';
    out += json.object();
  }
  return out + "]";
}

}  // namespace

std::string to_json(const PrefixUse& use, PrefixTexts texts) {
  JsonWriter json;
  json.integer("live", use.live)
      .integer("memory", use.memory)
      .integer("disk", use.disk)
      .integer("restored_bytes", static_cast<std::int64_t>(use.restored.count()));
  if (use.approximate > 0) json.integer("approximate", use.approximate);
  if (use.miss) json.raw("miss", miss_json(*use.miss, texts));
  if (!use.not_restorable.empty()) json.string("not_restorable", use.not_restorable);
  if (use.normalised > 0) json.integer("normalised", use.normalised);
  if (!use.modules.empty()) json.raw("modules", modules_json(use.modules));
  return json.object();
}

}  // namespace hearth
