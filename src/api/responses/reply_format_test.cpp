// SPDX-License-Identifier: Apache-2.0
#include "api/responses/reply_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hearth::api::responses {
namespace {

namespace json = boost::json;

ReplyIdentity identity() { return {"r1", "smol:latest", "smol", "x", 1'700'000'000'000'000}; }

front::Delta text(std::string text) { return {std::move(text), "", {}}; }
front::Delta thought(std::string text) { return {"", std::move(text), {}}; }
front::Delta call(int index, std::string name, std::string arguments) {
  return {"", "", {{index, name.empty() ? "" : "c" + std::to_string(index), name, arguments}}};
}

front::Finished finished(std::string reason = "stop") {
  front::Finished end;
  end.reason = std::move(reason);
  end.prompt_tokens = 10;
  end.cached_tokens = 4;
  end.generated = 6;
  return end;
}

using Events = std::vector<json::object>;

Events events_of(std::string_view stream) {
  Events events;
  while (!stream.empty()) {
    const std::size_t end = stream.find("\n\n");
    const std::string_view event = stream.substr(0, end);
    const std::size_t data = event.find("\ndata: ");
    events.push_back(json::parse(event.substr(data + 7)).as_object());
    EXPECT_EQ("event: " + std::string{std::string_view{events.back().at("type").as_string()}},
              event.substr(0, data));
    stream.remove_prefix(end + 2);
  }
  return events;
}

Events streamed(const std::vector<front::Delta>& deltas, const front::Finished& end,
                ReplyRules rules = {}) {
  const auto format = response_format(identity(), std::move(rules));
  std::string out;
  format->append_first(out, {});
  for (const front::Delta& delta : deltas) format->append_delta(out, delta);
  format->append_end(out, end);
  return events_of(out);
}

std::string types_of(const Events& events) {
  std::string out;
  for (const json::object& event : events) {
    std::string type{std::string_view{event.at("type").as_string()}};
    out += type.substr(type.find('.') + 1) + "\n";
  }
  return out;
}

TEST(ResponseStream, OfAText) {
  const Events events = streamed({text("Hel"), text("lo")}, finished());
  EXPECT_EQ(types_of(events),
            "created\nin_progress\noutput_item.added\ncontent_part.added\noutput_text.delta\n"
            "output_text.delta\noutput_text.done\ncontent_part.done\noutput_item.done\n"
            "completed\n");
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].at("sequence_number").as_int64(), static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(events[0].at("response").at("status"), json::value("in_progress"));
  EXPECT_EQ(json::serialize(events[2]),
            R"({"type":"response.output_item.added","sequence_number":2,"output_index":0,)"
            R"("item":{"id":"msg_r1_0","type":"message","status":"in_progress",)"
            R"("role":"assistant","content":[]}})");
  EXPECT_EQ(json::serialize(events[4]),
            R"({"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_r1_0",)"
            R"("output_index":0,"content_index":0,"delta":"Hel","logprobs":[]})");
  EXPECT_EQ(events[6].at("text"), json::value("Hello"));
  const json::object& response = events.back().at("response").as_object();
  EXPECT_EQ(response.at("id"), json::value("resp_r1"));
  EXPECT_EQ(response.at("status"), json::value("completed"));
  EXPECT_EQ(response.at("output").at(0), events[8].at("item"));
  EXPECT_EQ(json::serialize(response.at("usage")),
            R"({"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":6,)"
            R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":16})");
}

TEST(ResponseStream, OfReasoningTextAndCalls) {
  const Events events =
      streamed({thought("hm"), text("ok"), call(0, "f", ""), call(0, "", "{}"), call(1, "g", "{}")},
               finished("tool_calls"));
  EXPECT_EQ(types_of(events),
            "created\nin_progress\n"
            "output_item.added\ncontent_part.added\nreasoning_text.delta\nreasoning_text.done\n"
            "content_part.done\noutput_item.done\n"
            "output_item.added\ncontent_part.added\noutput_text.delta\noutput_text.done\n"
            "content_part.done\noutput_item.done\n"
            "output_item.added\nfunction_call_arguments.delta\nfunction_call_arguments.done\n"
            "output_item.done\n"
            "output_item.added\nfunction_call_arguments.delta\nfunction_call_arguments.done\n"
            "output_item.done\ncompleted\n");
  const json::array& output = events.back().at("response").at("output").as_array();
  ASSERT_EQ(output.size(), 4U);
  EXPECT_EQ(json::serialize(output[0]),
            R"({"id":"rs_r1_0","type":"reasoning","status":"completed","summary":[],)"
            R"("content":[{"type":"reasoning_text","text":"hm"}]})");
  EXPECT_EQ(json::serialize(output[2]),
            R"({"id":"fc_r1_2","type":"function_call","status":"completed","call_id":"c0",)"
            R"("name":"f","arguments":"{}"})");
}

TEST(ResponseStream, ReasoningMayBeASummary) {
  ReplyRules rules;
  rules.output.reasoning = ReasoningAs::kSummary;
  const Events events = streamed({thought("hm"), text("okay")}, finished(), rules);
  EXPECT_NE(types_of(events).find("reasoning_summary_part.added\nreasoning_summary_text.delta\n"
                                  "reasoning_summary_text.done\nreasoning_summary_part.done\n"),
            std::string::npos);
  EXPECT_EQ(events[4].at("summary_index"), json::value(0));
  const json::object& response = events.back().at("response").as_object();
  EXPECT_EQ(response.at("output").at(0).at("summary").at(0).at("text"), json::value("hm"));
  EXPECT_EQ(response.at("usage").at("output_tokens_details").at("reasoning_tokens"),
            json::value(2));  // a third of six
}

TEST(ResponseStream, CutShortIsIncomplete) {
  const Events events = streamed({text("Hel")}, finished("length"));
  const json::object& last = events.back();
  EXPECT_EQ(last.at("type"), json::value("response.incomplete"));
  EXPECT_EQ(last.at("response").at("incomplete_details").at("reason"),
            json::value("max_output_tokens"));
  EXPECT_EQ(last.at("response").at("output").at(0).at("status"), json::value("incomplete"));
}

TEST(ResponseStream, EndsWithAFailure) {
  const auto format = response_format(identity(), {});
  std::string out;
  format->append_first(out, {});
  format->append_delta(out, text("Hel"));
  format->append_error(out, {Error{ErrorCode::kUnavailable, "died"}, {}, {}, {}});
  const json::object last = events_of(out).back();
  EXPECT_EQ(last.at("type"), json::value("response.failed"));
  EXPECT_EQ(last.at("response").at("status"), json::value("failed"));
  EXPECT_EQ(last.at("response").at("error").at("message"), json::value("died"));
}

TEST(ResponseStream, OnlyOneCallWhereParallelOnesAreForbidden) {
  ReplyRules rules;
  rules.output.parallel_calls = ParallelCalls::kForbidden;
  const Events events =
      streamed({call(0, "f", "{}"), call(1, "g", "{}")}, finished("tool_calls"), rules);
  EXPECT_EQ(events.back().at("response").at("output").as_array().size(), 1U);
}

TEST(Response, WholeIsWhatTheStreamEndsWith) {
  ReplyRules rules;
  std::vector<json::object> kept;
  rules.keep = [&kept](const json::object& response) { kept.push_back(response); };
  rules.echoed["temperature"] = 0.5;
  const auto format = response_format(identity(), rules);
  const Collected collected{"ok", "hm", {}};
  const json::value whole = json::parse(format->whole(collected, finished()));
  const Events events = streamed({thought("hm"), text("ok")}, finished(), rules);
  EXPECT_EQ(whole, events.back().at("response"));
  EXPECT_EQ(whole.at("temperature"), json::value(0.5));
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0], kept[1]);
  EXPECT_EQ(kept[0].at("output"), whole.at("output"));
}

TEST(Response, WithoutATextHasAMessageAllTheSame) {
  const auto format = response_format(identity(), {});
  const json::value whole = json::parse(format->whole({}, finished()));
  EXPECT_EQ(whole.at("output").at(0).at("content").at(0).at("text"), json::value(""));
}

}  // namespace
}  // namespace hearth::api::responses
