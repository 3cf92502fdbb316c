// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "api/create_request.h"
#include "api/fields.h"
#include "api/logprob_json.h"
#include "api/modules.h"
#include "api/ollama/messages.h"
#include "api/ollama/option_rules.h"
#include "api/sampling.h"
#include "api/schema_check.h"

namespace hearth::api::ollama {
namespace json = boost::json;
namespace {

constexpr std::size_t kMaxInputs = 2048;
constexpr std::array<std::string_view, 4> kEfforts{"low", "medium", "high", "max"};

template <class T>
Result<T> outcome(T call, Fields::FirstError error) {
  if (error) return Failed{std::move(*error)};
  return call;
}

void read_request_options(const Fields& body, RequestOptions& options) {
  options.model = body.required_text("model");
  options.keep_alive = read_keep_alive(body);
}

front::Delivery read_delivery(const Fields& body) {
  const bool streamed = body.flag("stream").value_or(true);
  return streamed ? front::Delivery::kStreamed : front::Delivery::kWhole;
}

// `model`, or `name` as older clients call it.
std::string read_name(const Fields& body) {
  std::string name = body.text("model").value_or("");
  if (name.empty()) name = body.text("name").value_or("");
  if (name.empty()) body.fail("model", "a string is required here");
  return name;
}

Purpose purpose_without_prompt(const RequestOptions& options) {
  const bool at_once = options.keep_alive == front::KeepAlive::after(Duration::zero());
  return at_once ? Purpose::kUnload : Purpose::kLoad;
}

void read_logprobs(const Fields& body, wire::GenerateMessage& message) {
  const bool wanted = body.flag("logprobs").value_or(false);
  const auto others = body.integer("top_logprobs", {0, kMostAlternatives});
  if (wanted) message.logprobs = static_cast<int>(others.value_or(0));
  if (!wanted && others.value_or(0) > 0) {
    body.fail("top_logprobs", "needs logprobs to be true");
  }
}

void refuse_unsupported(const Fields& body) {
  if (body.flag("shift").value_or(false)) {
    body.fail("shift",
              "the context is not shifted; a reply that fills it ends with done_reason length");
  }
  if (body.flag("_debug_render_only").value_or(false)) {
    body.fail("_debug_render_only", "prompts are not shown");
  }
}

void read_format(const Fields& body, wire::GenerateMessage& message) {
  const json::value* format = body.find("format");
  if (format == nullptr || *format == json::value("")) return;
  if (*format == json::value("json")) {
    message.response_schema = "{}";
  } else if (const auto schema = body.object("format")) {
    check_schema(*schema, SchemaUse::kReply);
    message.response_schema = json::serialize(*format);
  } else {
    body.fail("format", "must be \"json\" or a JSON schema as an object");
  }
}

void read_think(const Fields& body, wire::GenerateMessage& message) {
  const json::value* think = body.find("think");
  if (think == nullptr) return;
  if (think->is_bool()) {
    message.thinking = think->get_bool() ? "on" : "off";
    return;
  }
  const std::string effort =
      think->is_string() ? std::string{std::string_view{think->get_string()}} : std::string{};
  if (std::ranges::find(kEfforts, effort) == kEfforts.end()) {
    body.fail("think", "must be true, false, \"low\", \"medium\", \"high\" or \"max\"");
    return;
  }
  message.thinking = "on";
  // Templates know three levels.
  message.template_kwargs = json::serialize(
      json::object{{"reasoning_effort", effort == "max" ? std::string{"high"} : effort}});
}

// What /api/chat and /api/generate have in common.
TextCall read_common(const Fields& body, const ModelSettings& settings) {
  TextCall call;
  wire::GenerateMessage& message = call.generate.message;
  read_request_options(body, call.generate.options);
  call.generate.delivery = read_delivery(body);
  call.generate.options.return_progress = read_progress(body, call.generate.delivery);
  message.sampling = default_sampling();
  message.keep = kDefaultKeep;
  apply_parameters(settings, message);
  read_options(body, message);
  read_format(body, message);
  read_think(body, message);
  message.truncate = body.flag("truncate").value_or(true);
  read_logprobs(body, message);
  refuse_unsupported(body);
  read_modules(body, call.generate.options);
  return call;
}

void read_context(const Fields& body, wire::GenerateMessage& message) {
  const json::array* tokens = body.list("context");
  if (tokens == nullptr) return;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const auto token = integer_of((*tokens)[i]);
    if (!token || *token < 0 || *token > std::numeric_limits<int>::max()) {
      body.fail_at(fmt::format("context[{}]", i), "a token id is expected");
      return;
    }
    message.prompt_tokens.push_back(static_cast<int>(*token));
  }
}

// `what` stands for itself.
void refuse_beside(std::string_view what, const Fields& body,
                   const wire::GenerateMessage& message) {
  for (std::string_view name : {"system", "context"}) {
    const json::value* value = body.find(name);
    const bool empty = value == nullptr || *value == json::value("") ||
                       (value->is_array() && value->get_array().empty());
    if (!empty) {
      body.fail(name, fmt::format("a prompt with {} stands for itself; leave this out, or {}", what,
                                  what));
    }
  }
  if (message.thinking == "on") {
    body.fail("think",
              fmt::format("a prompt with {} has no template that could ask for reasoning", what));
  }
}

void read_prompt(const Fields& body, const ModelSettings& settings, TextCall& call) {
  wire::GenerateMessage& message = call.generate.message;
  const std::string prompt = body.text("prompt").value_or("");
  const std::string system = body.text("system").value_or("");
  read_context(body, message);
  if (prompt.empty()) call.purpose = purpose_without_prompt(call.generate.options);
  message.suffix = body.text("suffix").value_or("");
  const bool raw = body.flag("raw").value_or(false);
  if (raw || !message.suffix.empty()) {
    refuse_beside(raw ? "raw" : "suffix", body, message);
    message.thinking.clear();
    message.prompt = prompt;
    return;
  }
  message.messages = messages_of(system, prompt);
  // With a context they stand in it already.
  if (message.prompt_tokens.empty()) begin_conversation(settings, message);
  message.return_tokens = true;
}

void add_input(const Fields& body, const json::value& value, std::string path, EmbedCall& call) {
  if (!value.is_string()) {
    body.fail_at(std::move(path), fmt::format("a string is expected, not {}", kind_name(value)));
  } else if (value.get_string().empty()) {
    body.fail_at(std::move(path), "the text is empty");
  } else {
    call.message.inputs.emplace_back(std::string_view{value.get_string()});
  }
}

void read_input(const Fields& body, EmbedCall& call) {
  const json::value* input = body.find("input");
  if (input == nullptr || *input == json::value("")) return;
  if (!input->is_array()) {
    add_input(body, *input, "input", call);
    return;
  }
  const json::array& list = input->get_array();
  if (list.size() > kMaxInputs) {
    body.fail("input", fmt::format("at most {} texts are possible", kMaxInputs));
  }
  for (std::size_t i = 0; i < list.size() && !body.failed(); ++i) {
    add_input(body, list[i], fmt::format("input[{}]", i), call);
  }
}

EmbedCall read_embed_common(const Fields& body) {
  EmbedCall call;
  read_request_options(body, call.options);
  call.options.return_progress = read_progress(body, front::Delivery::kWhole);
  check_options(body);
  call.message.truncate = body.flag("truncate").value_or(true);
  return call;
}

}  // namespace

Result<TextCall> parse_chat(const json::object& object, const ModelDefaults& defaults) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  const ModelSettings settings = defaults.of(body);
  TextCall call = read_common(body, settings);
  call.generate.message.messages = read_messages(body);
  begin_conversation(settings, call.generate.message);
  if (call.generate.message.messages.empty()) {
    call.purpose = purpose_without_prompt(call.generate.options);
  }
  read_tools(body, call.generate.message);
  check_modules(body, call.generate);
  return outcome(std::move(call), std::move(error));
}

Result<TextCall> parse_generate(const json::object& object, const ModelDefaults& defaults) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  const ModelSettings settings = defaults.of(body);
  TextCall call = read_common(body, settings);
  read_prompt(body, settings, call);
  check_modules(body, call.generate);
  refuse_images(body);
  if (!body.text("template").value_or("").empty()) {
    body.fail("template",
              "the model's own template is used; for another one, send the finished prompt with "
              "raw");
  }
  return outcome(std::move(call), std::move(error));
}

Result<EmbedCall> parse_embed(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  EmbedCall call = read_embed_common(body);
  read_input(body, call);
  call.dimensions = static_cast<int>(body.integer("dimensions", {0, 1 << 20}).value_or(0));
  if (call.message.inputs.empty()) call.purpose = purpose_without_prompt(call.options);
  return outcome(std::move(call), std::move(error));
}

Result<EmbedCall> parse_embeddings(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  EmbedCall call = read_embed_common(body);
  std::string prompt = body.text("prompt").value_or("");
  if (prompt.empty()) {
    call.purpose = purpose_without_prompt(call.options);
  } else {
    call.message.inputs.push_back(std::move(prompt));
  }
  return outcome(std::move(call), std::move(error));
}

Result<PullCall> parse_pull(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  PullCall call;
  call.pull.source = read_name(body);
  call.pull.insecure = body.flag("insecure").value_or(false);
  call.options.delivery = read_delivery(body);
  return outcome(std::move(call), std::move(error));
}

Result<CreateCall> parse_create(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  CreateCall call;
  call.delivery = read_delivery(body);
  call.create = read_create(body, Paths::kRefused);
  return outcome(std::move(call), std::move(error));
}

Result<std::string> parse_model(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  std::string model = read_name(body);
  return outcome(std::move(model), std::move(error));
}

Result<CopyCall> parse_copy(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  CopyCall call{body.required_text("source"), body.required_text("destination")};
  return outcome(std::move(call), std::move(error));
}

}  // namespace hearth::api::ollama
