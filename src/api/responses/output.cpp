// SPDX-License-Identifier: Apache-2.0
#include "api/responses/output.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace hearth::api::responses {
namespace json = boost::json;
namespace {

constexpr std::string_view kOpen = "in_progress";

}  // namespace

JsonWriter EventWriter::begin(std::string_view type) {
  JsonWriter event;
  event.string("type", type).integer("sequence_number", next_++);
  return event;
}

void EventWriter::append(std::string& out, std::string_view type, const JsonWriter& event) {
  out += "event: ";
  out += type;
  out += "\ndata: ";
  out += event.object();
  out += "\n\n";
}

void Output::add(std::string& out, EventWriter& events, const front::Delta& delta) {
  if (!delta.reasoning.empty()) {
    go_to(out, events, item_of(Kind::kReasoning));
    append_piece(out, events, delta.reasoning);
  }
  if (!delta.text.empty()) {
    go_to(out, events, item_of(Kind::kMessage));
    append_piece(out, events, delta.text);
  }
  for (const wire::ToolCallDelta& call : delta.tool_calls) {
    if (!is_wanted(call)) continue;
    go_to(out, events, item_of(call));
    if (!call.arguments.empty()) append_piece(out, events, call.arguments);
  }
}

void Output::finish(std::string& out, EventWriter& events, Ending ending) {
  if (items_.empty()) go_to(out, events, item_of(Kind::kMessage));
  close(out, events, ending == Ending::kComplete ? "completed" : "incomplete");
}

json::array Output::items() const {
  json::array out;
  for (const Item& item : items_) out.push_back(json_of(item));
  return out;
}

int Output::reasoning_tokens(int generated) const {
  std::size_t reasoning = 0, all = 0;
  for (const Item& item : items_) {
    all += item.text.size();
    if (item.kind == Kind::kReasoning) reasoning += item.text.size();
  }
  if (all == 0) return 0;
  const double share = static_cast<double>(reasoning) / static_cast<double>(all);
  return static_cast<int>(std::lround(share * generated));
}

bool Output::is_wanted(const wire::ToolCallDelta& call) const {
  return call.index == 0 || rules_.parallel_calls == ParallelCalls::kAllowed;
}

Output::Item Output::item_of(Kind kind) const {
  Item item{.kind = kind, .id = {}, .text = {}, .call_id = {}, .name = {}};
  item.id =
      fmt::format("{}_{}_{}", kind == Kind::kMessage ? "msg" : "rs", request_id_, items_.size());
  return item;
}

Output::Item Output::item_of(const wire::ToolCallDelta& call) const {
  Item item{.kind = Kind::kCall,
            .call = call.index,
            .id = {},
            .text = {},
            .call_id = {},
            .name = call.name};
  item.id = fmt::format("fc_{}_{}", request_id_, items_.size());
  item.call_id = call.id.empty() ? fmt::format("call_{}_{}", request_id_, call.index) : call.id;
  return item;
}

// Ends the item that is open and begins the next, unless it is of this kind already.
void Output::go_to(std::string& out, EventWriter& events, Item item) {
  const bool is_there = !items_.empty() && items_.back().status == kOpen &&
                        items_.back().kind == item.kind && items_.back().call == item.call;
  if (is_there) return;
  close(out, events, "completed");
  items_.push_back(std::move(item));
  open(out, events);
}

JsonWriter Output::begin(EventWriter& events, std::string_view type) const {
  JsonWriter event = events.begin(type);
  event.string("item_id", items_.back().id);
  event.integer("output_index", static_cast<std::int64_t>(items_.size()) - 1);
  return event;
}

void Output::add_part_place(JsonWriter& event) const {
  const bool in_summary =
      items_.back().kind == Kind::kReasoning && rules_.reasoning == ReasoningAs::kSummary;
  event.integer(in_summary ? "summary_index" : "content_index", 0);
}

void Output::add_item(JsonWriter& event) const {
  event.integer("output_index", static_cast<std::int64_t>(items_.size()) - 1);
  event.raw("item", json::serialize(json_of(items_.back())));
}

namespace {

struct EventNames {
  std::string_view part_added, delta, done, part_done;
};

constexpr EventNames kText{"response.content_part.added", "response.output_text.delta",
                           "response.output_text.done", "response.content_part.done"};
constexpr EventNames kReasoning{"response.content_part.added", "response.reasoning_text.delta",
                                "response.reasoning_text.done", "response.content_part.done"};
constexpr EventNames kSummary{
    "response.reasoning_summary_part.added", "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done", "response.reasoning_summary_part.done"};
constexpr EventNames kArguments{"", "response.function_call_arguments.delta",
                                "response.function_call_arguments.done", ""};

template <class Kind>
const EventNames& names_of(Kind kind, ReasoningAs reasoning) {
  if (kind == Kind::kMessage) return kText;
  if (kind == Kind::kCall) return kArguments;
  return reasoning == ReasoningAs::kSummary ? kSummary : kReasoning;
}

}  // namespace

void Output::open(std::string& out, EventWriter& events) {
  constexpr std::string_view kAdded = "response.output_item.added";
  const Item& item = items_.back();
  JsonWriter added = events.begin(kAdded);
  add_item(added);
  EventWriter::append(out, kAdded, added);
  if (item.kind == Kind::kCall) return;
  const std::string_view name = names_of(item.kind, rules_.reasoning).part_added;
  JsonWriter event = begin(events, name);
  add_part_place(event);
  event.raw("part", json::serialize(part_of(item)));
  EventWriter::append(out, name, event);
}

void Output::append_piece(std::string& out, EventWriter& events, std::string_view piece) {
  Item& item = items_.back();
  item.text += piece;
  const std::string_view name = names_of(item.kind, rules_.reasoning).delta;
  JsonWriter event = begin(events, name);
  if (item.kind != Kind::kCall) add_part_place(event);
  event.string("delta", piece);
  if (item.kind == Kind::kMessage) event.raw("logprobs", "[]");
  EventWriter::append(out, name, event);
}

void Output::close(std::string& out, EventWriter& events, std::string_view status) {
  if (items_.empty() || items_.back().status != kOpen) return;
  Item& item = items_.back();
  const EventNames& names = names_of(item.kind, rules_.reasoning);
  JsonWriter done = begin(events, names.done);
  if (item.kind == Kind::kCall) {
    done.string("name", item.name).string("arguments", item.text);
  } else {
    add_part_place(done);
    done.string("text", item.text);
  }
  if (item.kind == Kind::kMessage) done.raw("logprobs", "[]");
  EventWriter::append(out, names.done, done);
  if (item.kind != Kind::kCall) {
    JsonWriter part = begin(events, names.part_done);
    add_part_place(part);
    part.raw("part", json::serialize(part_of(item)));
    EventWriter::append(out, names.part_done, part);
  }
  item.status = status;
  constexpr std::string_view kDone = "response.output_item.done";
  JsonWriter ended = events.begin(kDone);
  add_item(ended);
  EventWriter::append(out, kDone, ended);
}

json::object Output::part_of(const Item& item) const {
  json::object part;
  if (item.kind == Kind::kMessage) {
    part["type"] = "output_text";
    part["text"] = item.text;
    part["annotations"] = json::array{};
    part["logprobs"] = json::array{};
    return part;
  }
  part["type"] = rules_.reasoning == ReasoningAs::kSummary ? "summary_text" : "reasoning_text";
  part["text"] = item.text;
  return part;
}

json::object Output::json_of(const Item& item) const {
  json::object out;
  out["id"] = item.id;
  if (item.kind == Kind::kCall) {
    out["type"] = "function_call";
    out["status"] = item.status;
    out["call_id"] = item.call_id;
    out["name"] = item.name;
    out["arguments"] = item.text;
    return out;
  }
  // Parts have events of their own: an item that has just begun has none yet.
  json::array parts;
  if (item.status != kOpen) parts.push_back(part_of(item));
  if (item.kind == Kind::kMessage) {
    out["type"] = "message";
    out["status"] = item.status;
    out["role"] = "assistant";
    out["content"] = std::move(parts);
    return out;
  }
  out["type"] = "reasoning";
  out["status"] = item.status;
  const bool in_summary = rules_.reasoning == ReasoningAs::kSummary;
  out["summary"] = in_summary ? parts : json::array{};
  out["content"] = in_summary ? json::array{} : parts;
  return out;
}

}  // namespace hearth::api::responses
