// SPDX-License-Identifier: Apache-2.0
#include "lab/target/dialect.h"

#include <boost/json.hpp>

#include "lab/target/reply_reader.h"
#include "lab/target/stream_client.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;

const char* path_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::kCompletion:
    case Dialect::kPlainCompletion:
      return "/v1/completions";
    case Dialect::kChat:
      return "/v1/chat/completions";
    case Dialect::kOllama:
      return "/api/generate";
  }
  return "/";
}

json::object ollama_body(const Asking& asking, const Question& question) {
  json::object options{{"temperature", 0}, {"seed", 1}, {"num_predict", question.new_tokens}};
  for (const auto& [name, value] : asking.ollama_options) options[name] = value;
  return {{"prompt", question.prompt}, {"raw", true}, {"options", std::move(options)}};
}

json::object openai_body(Dialect dialect, const Question& question) {
  json::object body{{"temperature", 0}, {"seed", 1}, {"max_tokens", question.new_tokens}};
  body["stream_options"] = json::object{{"include_usage", true}};
  if (dialect == Dialect::kChat) {
    body["messages"] = json::array{json::object{{"role", "user"}, {"content", question.prompt}}};
  } else {
    body["prompt"] = question.prompt;
  }
  if (dialect == Dialect::kCompletion) {
    body["ignore_eos"] = true;
    body["cache_prompt"] = true;
  }
  return body;
}

std::string body_of(const Asking& asking, const Question& question) {
  json::object body = asking.dialect == Dialect::kOllama ? ollama_body(asking, question)
                                                         : openai_body(asking.dialect, question);
  body["model"] = question.model.empty() ? asking.model : question.model;
  body["stream"] = true;
  return json::serialize(body);
}

}  // namespace

Answer ask_server(const http::Client& server, const Asking& asking, const Question& question) {
  const std::unique_ptr<ReplyReader> reader = ReplyReader::of(asking.dialect);
  const StreamRequest request{path_of(asking.dialect), body_of(asking, question), question.patience,
                              asking.stop, asking.key};
  const auto on_line = [&reader](std::string_view line, double ms) {
    return reader->line(line, ms);
  };
  return reader->finish(stream_lines(server, request, on_line));
}

bool is_unknown_dialect(const Answer& answer) {
  if (answer.ending != Answer::Ending::kRefused) return false;
  for (const char* status : {"400", "404", "405", "422", "501"}) {
    if (answer.problem.starts_with(std::string{"status "} + status)) return true;
  }
  return false;
}

}  // namespace hearth::lab
