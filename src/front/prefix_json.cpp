// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_json.h"

#include "timeline/json_writer.h"

namespace hearth::front {
namespace {

std::int64_t count_of(Bytes bytes) { return static_cast<std::int64_t>(bytes.count()); }
std::int64_t number_of(std::uint64_t count) { return static_cast<std::int64_t>(count); }

template <class Item>
std::string list_of(const std::vector<Item>& items, std::string (*json)(const Item&)) {
  std::string list = "[";
  for (const Item& item : items) {
    if (list.size() > 1) list += ',';
    list += json(item);
  }
  return list + "]";
}

std::string finding_json(const VolatileHead& head) {
  JsonWriter out;
  out.string("code", "prefix.volatile_head").string("model", head.model);
  out.integer("position", head.position);
  if (head.character) {
    out.integer("character", *head.character).string("had", head.had).string("has", head.has);
  }
  out.integer("requests", head.requests).string("text", text_of(head, head.model));
  return out.string("remedy", remedy_for_volatile_heads()).object();
}

std::string slot_json(const wire::HeartbeatMessage::Slot& slot) {
  return JsonWriter{}.integer("tokens", slot.tokens).yes_or_no("busy", slot.busy).object();
}

std::string model_json(const PrefixView::OfModel& model) {
  JsonWriter out;
  out.string("model", model.name).integer("live_tokens", model.live_tokens);
  out.integer("memory_tokens", model.stored.tokens_memory);
  out.integer("disk_tokens", model.stored.tokens_disk);
  out.integer("memory_bytes", count_of(model.stored.memory));
  out.integer("disk_bytes", count_of(model.stored.disk));
  if (!model.not_restorable.empty()) out.string("not_restorable", model.not_restorable);
  return out.raw("slots", list_of(model.slots, slot_json)).object();
}

std::string memory_json(const PrefixRoom::Figures& figures) {
  return JsonWriter{}
      .integer("bytes", count_of(figures.memory))
      .integer("limit", count_of(figures.memory_limit))
      .integer("blocks", figures.blocks_memory)
      .object();
}

std::string disk_json(const PrefixRoom::Figures& figures) {
  return JsonWriter{}
      .integer("bytes", count_of(figures.disk))
      .integer("limit", count_of(figures.disk_limit))
      .integer("blocks", figures.blocks_disk)
      .integer("written_today", count_of(figures.written_today))
      .integer("daily_limit", count_of(figures.daily_limit))
      .object();
}

std::string refused_json(const PrefixRoom::Figures& figures) {
  JsonWriter out;
  for (const auto& [reason, blocks] : figures.refused) out.integer(reason, number_of(blocks));
  return out.object();
}

}  // namespace

std::string to_json(const std::vector<VolatileHead>& findings) {
  return list_of(findings, finding_json);
}

std::string to_json(const PrefixView& view) {
  const PrefixRoom::Figures& figures = view.figures;
  JsonWriter evicted;
  evicted.integer("memory", number_of(figures.evicted_memory));
  evicted.integer("disk", number_of(figures.evicted_disk));
  JsonWriter restore;
  restore.number("memory_bytes_per_s", figures.restore_memory_rate);
  restore.number("disk_bytes_per_s", figures.restore_disk_rate);
  JsonWriter out;
  out.raw("memory", memory_json(figures)).raw("disk", disk_json(figures));
  out.integer("lookups", number_of(figures.lookups));
  out.integer("hit_tokens", number_of(figures.hit_tokens));
  out.integer("missed_tokens", number_of(figures.missed_tokens));
  out.raw("evicted", evicted.object()).raw("refused", refused_json(figures));
  out.raw("restore", restore.object()).number("saved_seconds", figures.saved_seconds);
  out.raw("models", list_of(view.models, model_json)).raw("modules", view.modules);
  return out.raw("findings", to_json(view.findings)).object();
}

}  // namespace hearth::front
