// SPDX-License-Identifier: Apache-2.0
#include "wire/prefix_messages.h"

#include "wire/json_writer.h"
#include "wire/object_reader.h"
#include "wire/prefix_outcome.h"

namespace hearth::wire {
namespace {

// A list of objects, each already written.
template <class Items, class Write>
std::string list_of(const Items& items, Write write) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + ']';
}

std::string encode_stored(const PrefixPlanMessage::Stored& stored) {
  JsonWriter out;
  out.truth("disk", stored.tier == BlockTier::kDisk)
      .number("place", stored.place)
      .bytes("size", stored.size);
  if (stored.tokens > 0) out.number("tokens", stored.tokens);
  return out.finish();
}

std::string encode_refused(const PrefixOutcome::Refused& refused) {
  JsonWriter out;
  out.number("block", refused.block).text("reason", refused.reason);
  return out.finish();
}

std::vector<PrefixPlanMessage::Stored> read_stored(ObjectReader& in) {
  std::vector<PrefixPlanMessage::Stored> all;
  in.each_object("stored", [&](ObjectReader& inner) {
    inner.require({"place", "size"});
    PrefixPlanMessage::Stored stored;
    stored.tier = inner.truth("disk").value_or(false) ? BlockTier::kDisk : BlockTier::kArena;
    stored.place = inner.integer("place", kCount).value_or(0);
    stored.size = inner.bytes("size");
    stored.tokens = inner.integer("tokens", kCount).value_or(0);
    all.push_back(stored);
  });
  return all;
}

std::string encode_module(const PrefixPlanMessage::Module& module) {
  JsonWriter out;
  out.integers("tokens", module.tokens).raw("stored", list_of(module.stored, encode_stored));
  return out.finish();
}

PrefixPlanMessage read_plan(ObjectReader& in) {
  PrefixPlanMessage m;
  m.stored = read_stored(in);
  in.each_object("modules", [&](ObjectReader& inner) {
    m.modules.push_back({inner.integers("tokens", kCount), read_stored(inner)});
  });
  m.more = in.truth("more").value_or(false);
  m.keep_from = in.integer("keep_from", kCount).value_or(0);
  m.keep = in.integers("keep", kCount);
  m.keep_limit = in.bytes("keep_limit");
  m.both_ways = in.truth("both_ways").value_or(false);
  in.object("difference", [&](ObjectReader& inner) {
    inner.require({"position", "token"});
    m.difference.emplace();
    m.difference->position = inner.integer("position", kCount).value_or(0);
    m.difference->token = inner.integer("token", kCount).value_or(0);
  });
  return m;
}

BlocksMessage read_blocks(ObjectReader& in) {
  BlocksMessage m;
  m.generated = in.integers("generated", kCount);
  in.each("sizes", [&](const boost::json::value& item, const std::string& path) {
    const std::optional<std::int64_t> size = whole_number(item);
    if (!size || *size < 0) return in.wrong(path, "a size");
    m.sizes.push_back(Bytes{static_cast<std::uint64_t>(*size)});
  });
  m.part = in.integer("part", kCount).value_or(0);
  m.reason = in.text("reason");
  return m;
}

}  // namespace

PrefixOutcome read_prefix_outcome(ObjectReader& in) {
  PrefixOutcome m;
  m.live = in.integer("live", kCount).value_or(0);
  m.arena = in.integer("arena", kCount).value_or(0);
  m.disk = in.integer("disk", kCount).value_or(0);
  m.shifted = in.integer("shifted", kCount).value_or(0);
  m.arena_bytes = in.bytes("arena_bytes");
  m.disk_bytes = in.bytes("disk_bytes");
  in.each_object("refused", [&](ObjectReader& inner) {
    inner.require({"block"});
    m.refused.push_back({inner.integer("block", kCount).value_or(0), inner.text("reason")});
  });
  m.not_restorable = in.text("not_restorable");
  in.object("difference", [&](ObjectReader& inner) {
    inner.require({"position", "character"});
    m.difference.emplace();
    m.difference->position = inner.integer("position", kCount).value_or(0);
    m.difference->character = inner.integer("character", kCount).value_or(0);
    m.difference->had = inner.text("had");
    m.difference->has = inner.text("has");
  });
  return m;
}

std::string encode(const PrefixPlanMessage& m) {
  JsonWriter out;
  if (!m.stored.empty()) out.raw("stored", list_of(m.stored, encode_stored));
  if (m.more) out.truth("more", true);
  if (!m.modules.empty()) out.raw("modules", list_of(m.modules, encode_module));
  out.number("keep_from", m.keep_from)
      .integers("keep", m.keep)
      .bytes("keep_limit", m.keep_limit)
      .truth("both_ways", m.both_ways);
  if (m.difference) {
    JsonWriter inner;
    inner.number("position", m.difference->position).number("token", m.difference->token);
    out.raw("difference", inner.finish());
  }
  return out.finish();
}

std::string encode(const BlocksMessage& m) {
  JsonWriter out;
  out.integers("generated", m.generated).raw("sizes", list_of(m.sizes, [](Bytes size) {
                                               return std::to_string(size.count());
                                             }));
  if (m.part > 0) out.number("part", m.part);
  out.text("reason", m.reason);
  return out.finish();
}

std::string encode(const PrefixOutcome& m) {
  JsonWriter out;
  out.number("live", m.live).number("arena", m.arena).number("disk", m.disk);
  if (m.shifted > 0) out.number("shifted", m.shifted);
  out.bytes("arena_bytes", m.arena_bytes).bytes("disk_bytes", m.disk_bytes);
  if (!m.refused.empty()) out.raw("refused", list_of(m.refused, encode_refused));
  out.text("not_restorable", m.not_restorable);
  if (m.difference) {
    JsonWriter inner;
    inner.number("position", m.difference->position)
        .number("character", m.difference->character)
        .text("had", m.difference->had)
        .text("has", m.difference->has);
    out.raw("difference", inner.finish());
  }
  return out.finish();
}

Result<PrefixPlanMessage> decode_prefix_plan(const std::string& payload) {
  return read_message(payload, read_plan);
}
Result<BlocksMessage> decode_blocks(const std::string& payload) {
  return read_message(payload, read_blocks);
}

}  // namespace hearth::wire
