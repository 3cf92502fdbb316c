// SPDX-License-Identifier: Apache-2.0
#include "api/openai/requests.h"

#include <fmt/format.h>

#include <limits>

#include "api/fields.h"
#include "api/logprob_json.h"
#include "api/modules.h"
#include "api/openai/chat_messages.h"
#include "api/openai/common.h"
#include "api/openai/foreign_fields.h"
#include "api/openai/template_arguments.h"
#include "api/openai/tools.h"
#include "api/sampling.h"

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

constexpr std::size_t kMaxInputs = 2048;

template <class T>
Result<T> outcome(T call, Fields::FirstError error) {
  if (error) return Failed{std::move(*error)};
  return call;
}

void refuse_modalities(const Fields& body) {
  const json::array* modalities = body.list("modalities");
  if (modalities == nullptr) return;
  for (std::size_t i = 0; i < modalities->size(); ++i) {
    if ((*modalities)[i] == json::value("text")) continue;
    body.fail_at(fmt::format("modalities[{}]", i), "only text is supported");
  }
}

// Two members: whether, and of how many others.
void read_chat_logprobs(const Fields& body, wire::GenerateMessage& message) {
  const bool wanted = body.flag("logprobs").value_or(false);
  const auto others = body.integer("top_logprobs", {0, kMostAlternatives});
  if (wanted) message.logprobs = static_cast<int>(others.value_or(0));
  if (!wanted && others.value_or(0) > 0) {
    body.fail("top_logprobs", "needs logprobs to be true");
  }
}

// One number. `false` is what clients send that know chats only.
void read_completion_logprobs(const Fields& body, wire::GenerateMessage& message) {
  const json::value* wanted = body.find("logprobs");
  if (wanted != nullptr && *wanted != json::value(false)) {
    const auto others = body.integer("logprobs", {0, kMostAlternatives});
    message.logprobs = static_cast<int>(others.value_or(0));
  }
  if (body.integer("top_logprobs", {0, kMostAlternatives}).value_or(0) > 0) {
    body.fail("top_logprobs", "is of chats; here logprobs says how many");
  }
  if (message.logprobs && message.echo) {
    body.fail("echo", "log probabilities are told of the reply alone, not of a prompt");
  }
}

// The best of several replies are those that the model held likeliest.
void read_best_of(const Fields& body, ChatCall& call) {
  ChoiceCount& count = call.choices;
  const auto written = body.integer("best_of", {1, kMostChoices});
  if (!written || body.failed()) return;
  count.written = static_cast<int>(*written);
  if (count.written < count.asked) {
    body.fail("best_of", "must be n or more: so many replies are written, and n of them sent");
  }
  if (count.written == count.asked) return;
  if (call.generate.delivery == front::Delivery::kStreamed) {
    body.fail("best_of", "which replies are best is known at their end; leave stream out");
  }
  std::optional<int>& logprobs = call.generate.message.logprobs;
  count.tells_logprobs = logprobs.has_value();
  if (!logprobs) logprobs = 0;
}

void read_suffix(const Fields& body, wire::GenerateMessage& message) {
  message.suffix = body.text("suffix").value_or("");
  if (!message.suffix.empty() && !message.prompt_tokens.empty()) {
    body.fail("suffix", "needs a prompt of text, as the marks around a gap are put between");
  }
}

void read_token_prompt(const Fields& body, const json::array& tokens,
                       wire::GenerateMessage& message) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto token = integer_of(tokens[i]);
    if (!token || *token < 0 || *token > std::numeric_limits<int>::max()) {
      body.fail_at(fmt::format("prompt[{}]", i), "a token id is expected");
      return;
    }
    message.prompt_tokens.push_back(static_cast<int>(*token));
  }
}

// A list is one prompt of token ids, or holds one prompt.
void read_prompt_list(const Fields& body, const json::array& list, wire::GenerateMessage& message) {
  if (list.empty()) {
    body.fail("prompt", "the list is empty");
  } else if (list[0].is_number()) {
    read_token_prompt(body, list, message);
  } else if (list.size() > 1) {
    body.fail("prompt", "one prompt for each request is supported");
  } else if (list[0].is_string()) {
    message.prompt = std::string_view{list[0].get_string()};
  } else if (list[0].is_array() && !list[0].get_array().empty()) {
    read_token_prompt(body, list[0].get_array(), message);
  } else {
    body.fail("prompt[0]", "a string or a list of token ids is expected");
  }
}

void read_prompt(const Fields& body, wire::GenerateMessage& message) {
  const json::value* prompt = body.find("prompt");
  if (prompt == nullptr) {
    body.fail("prompt", "a string or a list of token ids is required here");
  } else if (prompt->is_string()) {
    message.prompt = std::string_view{prompt->get_string()};
  } else if (prompt->is_array()) {
    read_prompt_list(body, prompt->get_array(), message);
  } else {
    body.fail("prompt", fmt::format("a string or a list of token ids is expected, not {}",
                                    kind_name(*prompt)));
  }
}

void add_input(const Fields& body, const json::value& value, std::string path, EmbedCall& call) {
  if (value.is_number() || value.is_array()) {
    body.fail_at(std::move(path), "token ids are not supported here; send text");
  } else if (!value.is_string()) {
    body.fail_at(std::move(path), fmt::format("a string is expected, not {}", kind_name(value)));
  } else if (value.get_string().empty()) {
    body.fail_at(std::move(path), "the text is empty");
  } else {
    call.message.inputs.emplace_back(std::string_view{value.get_string()});
  }
}

void read_input(const Fields& body, EmbedCall& call) {
  const json::value* input = body.find("input");
  if (input == nullptr) {
    body.fail("input", "a string or a list of strings is required here");
    return;
  }
  if (!input->is_array()) {
    add_input(body, *input, "input", call);
    return;
  }
  const json::array& list = input->get_array();
  if (list.empty()) body.fail("input", "the list is empty");
  if (list.size() > kMaxInputs) {
    body.fail("input", fmt::format("at most {} texts are possible", kMaxInputs));
  }
  for (std::size_t i = 0; i < list.size() && !body.failed(); ++i) {
    add_input(body, list[i], fmt::format("input[{}]", i), call);
  }
}

}  // namespace

Result<ChatCall> parse_chat(const json::object& object, const ModelDefaults& defaults) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  ChatCall call;
  const ModelSettings settings = defaults.of(body);
  apply_parameters(settings, call.generate.message);
  read_common(body, call);
  refuse_foreign(body);
  refuse_modalities(body);
  if (body.integer("best_of", {1, kMostChoices}).value_or(1) != 1) {
    body.fail("best_of", "only completions have it; ask for several replies with n");
  }
  wire::GenerateMessage& message = call.generate.message;
  read_chat_logprobs(body, message);
  message.messages = read_messages(body);
  begin_conversation(settings, message);
  call.parallel_calls = read_tools(body, message);
  read_response_format(body, message);
  read_template_arguments(body, message);
  read_grammar(body, message);
  read_min_tokens(body, message);
  if (!body.text("suffix").value_or("").empty()) {
    body.fail("suffix", "only completions have a gap to fill in; use /v1/completions");
  }
  return outcome(std::move(call), std::move(error));
}

Result<ChatCall> parse_completion(const json::object& object, const ModelDefaults& defaults) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  ChatCall call;
  apply_parameters(defaults.of(body), call.generate.message);
  read_common(body, call);
  refuse_foreign(body);
  read_prompt(body, call.generate.message);
  check_modules(body, call.generate);
  read_response_format(body, call.generate.message);
  read_grammar(body, call.generate.message);
  read_min_tokens(body, call.generate.message);
  read_suffix(body, call.generate.message);
  call.generate.message.echo = body.flag("echo").value_or(false);
  read_completion_logprobs(body, call.generate.message);
  read_best_of(body, call);
  return outcome(std::move(call), std::move(error));
}

Result<EmbedCall> parse_embedding(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  EmbedCall call;
  read_options(body, call.options);
  call.options.return_progress = read_progress(body, front::Delivery::kWhole);
  read_input(body, call);
  const std::string format = body.text("encoding_format").value_or("float");
  if (format != "float" && format != "base64") {
    body.fail("encoding_format", "must be float or base64");
  }
  call.base64 = format == "base64";
  call.dimensions = static_cast<int>(body.integer("dimensions", {1, 1 << 20}).value_or(0));
  return outcome(std::move(call), std::move(error));
}

}  // namespace hearth::api::openai
