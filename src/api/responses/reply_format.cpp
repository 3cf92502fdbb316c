// SPDX-License-Identifier: Apache-2.0
#include "api/responses/reply_format.h"

#include "api/errors.h"
#include "api/openai/reply_format.h"
#include "base/json.h"
#include "timeline/report.h"

namespace hearth::api::responses {
namespace json = boost::json;
namespace {

json::object usage_of(const Output& output, const front::Finished& end) {
  json::object cached;
  cached["cached_tokens"] = end.cached_tokens;
  json::object reasoning;
  reasoning["reasoning_tokens"] = output.reasoning_tokens(end.generated);
  json::object usage;
  usage["input_tokens"] = end.prompt_tokens;
  usage["input_tokens_details"] = std::move(cached);
  usage["output_tokens"] = end.generated;
  usage["output_tokens_details"] = std::move(reasoning);
  usage["total_tokens"] = end.prompt_tokens + end.generated;
  return usage;
}

// As the stream's clients know it: a code of OpenAI's, and the text that any client would get.
json::object error_of(const front::Refused& refused) {
  const auto body = parse_json(error_body(Dialect::kResponses, Audience::kClients, refused));
  json::object error;
  error["code"] = "server_error";
  error["message"] = body ? body->at("error").at("message") : json::value("something went wrong");
  return error;
}

class ResponseFormat : public ReplyFormat {
 public:
  ResponseFormat(ReplyIdentity identity, ReplyRules rules)
      : identity_{std::move(identity)},
        rules_{std::move(rules)},
        output_{identity_.request_id, rules_.output} {}

  std::string whole(const Collected& reply, const front::Finished& end) override {
    std::string unread;
    output_.add(unread, events_, {reply.text, reply.reasoning, reply.tool_calls});
    return json::serialize(ended(unread, end));
  }

  void append_first(std::string& out, const front::Started&) override {
    const json::object begun = response("in_progress");
    append(out, "response.created", begun);
    append(out, "response.in_progress", begun);
  }

  void append_delta(std::string& out, const front::Delta& delta) override {
    output_.add(out, events_, delta);
  }

  void append_end(std::string& out, const front::Finished& end) override {
    const json::object done = ended(out, end);
    append(out, is_cut(end) ? "response.incomplete" : "response.completed", done);
  }

  void append_error(std::string& out, const front::Refused& refused) override {
    json::object failed = response("failed");
    failed["error"] = error_of(refused);
    failed["output"] = output_.items();
    append(out, "response.failed", failed);
  }

 private:
  static bool is_cut(const front::Finished& end) { return end.reason == "length"; }

  void append(std::string& out, std::string_view type, const json::object& response) {
    JsonWriter event = events_.begin(type);
    event.raw("response", json::serialize(response));
    EventWriter::append(out, type, event);
  }

  json::object response(std::string_view status) const {
    json::object out;
    out["id"] = response_id(identity_.request_id);
    out["object"] = "response";
    out["created_at"] = identity_.created_us / 1'000'000;
    out["status"] = status;
    out["background"] = false;
    out["error"] = nullptr;
    out["incomplete_details"] = nullptr;
    out["model"] = identity_.model;
    out["output"] = json::array{};
    out["usage"] = nullptr;
    for (const auto& member : rules_.echoed) out[member.key()] = member.value();
    return out;
  }

  // Ends the last item, too.
  json::object ended(std::string& out, const front::Finished& end) {
    output_.finish(out, events_,
                   is_cut(end) ? Output::Ending::kIncomplete : Output::Ending::kComplete);
    json::object done = response(is_cut(end) ? "incomplete" : "completed");
    if (is_cut(end)) {
      json::object why;
      why["reason"] = "max_output_tokens";
      done["incomplete_details"] = std::move(why);
    }
    done["output"] = output_.items();
    done["usage"] = usage_of(output_, end);
    if (rules_.keep) rules_.keep(done);
    done["timings"] = raw(openai::timings_json(end));
    done["hearth"] = raw(to_json(end.report));
    return done;
  }

  static json::value raw(const std::string& text) {
    auto value = parse_json(text);
    return value ? std::move(*value) : json::value{};
  }

  const ReplyIdentity identity_;
  const ReplyRules rules_;
  EventWriter events_;
  Output output_;
};

}  // namespace

std::string response_id(std::string_view request_id) { return "resp_" + std::string{request_id}; }

std::unique_ptr<ReplyFormat> response_format(ReplyIdentity identity, ReplyRules rules) {
  return std::make_unique<ResponseFormat>(std::move(identity), std::move(rules));
}

}  // namespace hearth::api::responses
