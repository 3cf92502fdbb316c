// SPDX-License-Identifier: Apache-2.0
#include "engine/chat_format.h"

#include <chat.h>
#include <common.h>
#include <json-schema-to-grammar.h>
#include <llama.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace hearth::engine {
namespace {

// The engine's common library reports everything by exceptions; they end here, as one field's
// error.
template <class Function>
auto guarded(const char* field, Function&& function) -> Result<decltype(function())> {
  try {
    return function();
  } catch (const std::exception& e) {
    return Failed{Error{ErrorCode::kInvalid, e.what()}.at(field)};
  }
}

std::string schema_or_object(const std::string& schema) {
  common_json parsed = common_json::parse(schema);
  if (parsed.is_object() && parsed.empty()) parsed["type"] = "object";
  return parsed.dump();
}

void read_kwargs(const std::string& text, common_chat_templates_inputs& inputs) {
  const common_json kwargs = common_json::parse(text);
  for (const auto& [key, value] : kwargs.items()) {
    if (key == "enable_thinking" && value.is_boolean()) inputs.enable_thinking = value.get<bool>();
    inputs.chat_template_kwargs[key] = value.dump();
  }
}

Result<int> read_messages(const ChatRequest& request, common_chat_templates_inputs& inputs) {
  return guarded("messages", [&] {
    inputs.messages = common_chat_msgs_parse_oaicompat(common_json::parse(request.messages));
    if (!request.template_kwargs.empty()) read_kwargs(request.template_kwargs, inputs);
    return 0;
  });
}

Failed no_reasoning() {
  return Failed{
      Error{ErrorCode::kInvalid, "this model's template has no reasoning; leave think out"}.at(
          "think")};
}

// Templates differ in the name; one they do not know does nothing.
void set_thinking(Thinking thinking, common_chat_templates_inputs& inputs) {
  if (thinking == Thinking::kByItself) return;
  inputs.enable_thinking = thinking == Thinking::kOn;
  for (const char* name : {"enable_thinking", "thinking"}) {
    inputs.chat_template_kwargs[name] = inputs.enable_thinking ? "true" : "false";
  }
}

// Ends the reasoning that `text` has just begun, if it has, without a word of it.
void end_reasoning(const common_chat_params& chat, std::string& text) {
  const std::size_t length = text.find_last_not_of(" \n") + 1;
  if (!std::string_view{text}.substr(0, length).ends_with(chat.thinking_start_tag)) return;
  text.resize(length);
  text += "\n\n" + chat.thinking_end_tags.front() + "\n\n";
}

void leave_reasoning_out(common_chat_params& chat) {
  if (chat.thinking_start_tag.empty() || chat.thinking_end_tags.empty()) return;
  end_reasoning(chat, chat.prompt);
  end_reasoning(chat, chat.generation_prompt);
}

Result<int> read_tools(const ChatRequest& request, common_chat_templates_inputs& inputs) {
  return guarded("tools", [&] {
    if (request.tools.empty()) return 0;
    inputs.tools = common_chat_tools_parse_oaicompat(common_json::parse(request.tools));
    const std::string choice = request.tool_choice.empty() ? "auto" : request.tool_choice;
    inputs.tool_choice = common_chat_tool_choice_parse_oaicompat(choice);
    return 0;
  });
}

std::vector<Token> preserved_tokens(const Vocabulary& vocabulary, const common_chat_params& chat) {
  std::vector<Token> tokens;
  for (const std::string& text : chat.preserved_tokens) {
    const std::vector<Token> ids = vocabulary.tokenize(text, AddSpecial::kNo);
    if (ids.size() == 1) tokens.push_back(ids.front());
  }
  return tokens;
}

GrammarTrigger trigger_of(const Vocabulary& vocabulary, const common_grammar_trigger& trigger) {
  if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_WORD) {
    const std::vector<Token> ids = vocabulary.tokenize(trigger.value, AddSpecial::kNo);
    if (ids.size() == 1) return {COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN, trigger.value, ids.front()};
  }
  return {trigger.type, trigger.value, trigger.token};
}

Constraint constraint_of(const Vocabulary& vocabulary, const common_chat_params& chat) {
  Constraint constraint;
  constraint.preserved = preserved_tokens(vocabulary, chat);
  constraint.generation_prompt = chat.generation_prompt;
  if (chat.grammar.empty()) return constraint;
  constraint.grammar = chat.grammar;
  constraint.lazy = chat.grammar_lazy;
  for (const auto& trigger : chat.grammar_triggers) {
    constraint.triggers.push_back(trigger_of(vocabulary, trigger));
  }
  return constraint;
}

bool knows_reasoning(const common_chat_templates* templates) {
  try {
    return common_chat_templates_support_enable_thinking(templates);
  } catch (const std::exception&) {
    return false;  // it takes no conversation of one message; a request will tell why
  }
}

}  // namespace

void ChatFormat::Free::operator()(common_chat_templates* templates) const {
  common_chat_templates_free(templates);
}

ChatFormat::ChatFormat(const Vocabulary& vocabulary, common_chat_templates* templates)
    : vocabulary_{vocabulary},
      templates_{templates},
      from_model_{common_chat_templates_was_explicit(templates)} {
  auto caps = common_chat_templates_get_caps(templates);
  parallel_calls_ = caps["supports_parallel_tool_calls"];
  has_tools_ = caps["supports_tools"] || caps["supports_tool_calls"];
  thinks_ = knows_reasoning(templates);
}

Result<std::unique_ptr<ChatFormat>> ChatFormat::open(const Vocabulary& vocabulary,
                                                     const std::string& own) {
  try {
    common_chat_templates_ptr templates = common_chat_templates_init(vocabulary.handle(), own);
    return std::unique_ptr<ChatFormat>{new ChatFormat{vocabulary, templates.release()}};
  } catch (const std::exception&) {  // rethrown by value on its way, so that its words are lost
    return fail(ErrorCode::kCorrupt, "the file's chat template is not valid");
  }
}

Result<RenderedChat> ChatFormat::render(const ChatRequest& request) const {
  return request.grammar.empty() ? render_free(request) : render_to_grammar(request);
}

Result<RenderedChat> ChatFormat::render_to_grammar(ChatRequest request) const {
  if (request.thinking == Thinking::kOn) {
    return Failed{
        Error{ErrorCode::kInvalid, "a grammar leaves no room for reasoning; leave one of them out"}
            .at("think")};
  }
  request.thinking = Thinking::kOff;
  auto rendered = render_free(request);
  if (!rendered) return rendered;
  rendered->constraint = constrain_to_grammar(request.grammar);
  rendered->parser.reset();
  return rendered;
}

Result<RenderedChat> ChatFormat::render_free(const ChatRequest& request) const {
  common_chat_templates_inputs inputs;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  inputs.parallel_tool_calls = parallel_calls_;
  if (auto read = read_messages(request, inputs); !read) return Failed{std::move(read).error()};
  if (request.thinking == Thinking::kOn && !thinks_) return no_reasoning();
  set_thinking(request.thinking, inputs);
  if (auto read = read_tools(request, inputs); !read) return Failed{std::move(read).error()};
  // Such a template would leave the tools out without a word.
  if (inputs.tool_choice != COMMON_CHAT_TOOL_CHOICE_NONE && !inputs.tools.empty() && !has_tools_) {
    return Failed{
        Error{ErrorCode::kInvalid, "this model's chat template cannot call tools"}.at("tools")};
  }
  Constraint schema;
  if (!request.response_schema.empty()) {
    auto constraint = constrain_to_schema(request.response_schema);
    if (!constraint) return Failed{std::move(constraint).error()};
    schema = *std::move(constraint);
    inputs.json_schema = schema_or_object(request.response_schema);
  }
  return guarded("messages", [&] {
    common_chat_params chat = common_chat_templates_apply(templates_.get(), inputs);
    if (request.thinking == Thinking::kOff) leave_reasoning_out(chat);
    const bool calls = !inputs.tools.empty() && inputs.tool_choice != COMMON_CHAT_TOOL_CHOICE_NONE;
    RenderedChat rendered;
    rendered.prompt = chat.prompt;
    rendered.stops = chat.additional_stops;
    rendered.constraint = constraint_of(vocabulary_, chat);
    // The template's own grammar lets a fence stand around the JSON. Where there is neither
    // reasoning nor a call to allow for, the answer is the JSON and nothing else.
    const bool only_schema = !schema.grammar.empty() && !calls && !chat.supports_thinking;
    if (only_schema) rendered.constraint = std::move(schema);
    rendered.parser = OutputParser::create(
        {static_cast<int>(chat.format), chat.parser, chat.generation_prompt, calls});
    return rendered;
  });
}

Constraint constrain_to_grammar(const std::string& grammar) {
  Constraint constraint;
  constraint.grammar = grammar;
  constraint.source = Constraint::Source::kRequest;
  return constraint;
}

Result<Constraint> constrain_to_schema(const std::string& schema) {
  return guarded("response_format", [&] {
    Constraint constraint;
    constraint.grammar = json_schema_to_grammar(common_json::parse(schema_or_object(schema)));
    constraint.source = Constraint::Source::kRequest;
    return constraint;
  });
}

}  // namespace hearth::engine
