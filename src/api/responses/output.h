// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/tool_calls.h"
#include "front/reply.h"
#include "timeline/json_writer.h"

namespace hearth::api::responses {

// Numbers the events of one stream.
class EventWriter {
 public:
  // An event's members, begun with what all have.
  JsonWriter begin(std::string_view type);
  static void append(std::string& out, std::string_view type, const JsonWriter& event);

 private:
  int next_ = 0;
};

// Clients that ask for a summary look for it there; there is none but the reasoning itself.
enum class ReasoningAs { kContent, kSummary };

struct OutputRules {
  ParallelCalls parallel_calls = ParallelCalls::kAllowed;  // forbidden: the first call alone
  ReasoningAs reasoning = ReasoningAs::kContent;
};

// The items of a reply as they grow, and the events that tell of it.
class Output {
 public:
  Output(std::string request_id, OutputRules rules)
      : request_id_{std::move(request_id)}, rules_{rules} {}

  void add(std::string& out, EventWriter& events, const front::Delta& delta);
  // Ends the newest item. A reply without any gets a message without text, which clients look for.
  enum class Ending { kComplete, kIncomplete };
  void finish(std::string& out, EventWriter& events, Ending ending);

  boost::json::array items() const;
  // Of `generated` tokens those that are reasoning, estimated by the length of the texts: the
  // engine does not count them apart.
  int reasoning_tokens(int generated) const;

 private:
  enum class Kind { kReasoning, kMessage, kCall };
  struct Item {
    Kind kind;
    int call = 0;  // its index among the calls
    std::string id;
    std::string text;  // of a call its arguments
    std::string call_id;
    std::string name;
    std::string_view status = "in_progress";
  };

  void go_to(std::string& out, EventWriter& events, Item item);
  void open(std::string& out, EventWriter& events);
  void close(std::string& out, EventWriter& events, std::string_view status);
  void append_piece(std::string& out, EventWriter& events, std::string_view piece);
  Item item_of(Kind kind) const;
  Item item_of(const wire::ToolCallDelta& call) const;
  bool is_wanted(const wire::ToolCallDelta& call) const;
  boost::json::object json_of(const Item& item) const;
  boost::json::object part_of(const Item& item) const;
  JsonWriter begin(EventWriter& events, std::string_view type) const;
  void add_item(JsonWriter& event) const;
  void add_part_place(JsonWriter& event) const;

  const std::string request_id_;
  const OutputRules rules_;
  std::vector<Item> items_;  // the last one may be open
};

}  // namespace hearth::api::responses
