// SPDX-License-Identifier: Apache-2.0
#include "engine/output_parser.h"

#include <chat.h>

#include <exception>
#include <utility>

#include "base/log.h"
#include "base/random.h"

namespace hearth::engine {
namespace {

// The serialised parser names what it captures. One that captures content only leaves the text as
// it is.
bool is_content_only(const OutputParser::Spec& spec) {
  if (spec.format == COMMON_CHAT_FORMAT_CONTENT_ONLY || spec.grammar.empty()) return true;
  if (spec.format != COMMON_CHAT_FORMAT_PEG_NATIVE &&
      spec.format != COMMON_CHAT_FORMAT_PEG_SIMPLE) {
    return false;
  }
  return spec.grammar.find("\"reasoning") == std::string::npos &&
         spec.grammar.find("\"tool") == std::string::npos;
}

void add_to(OutputDelta& out, const common_chat_msg_diff& diff) {
  out.text += diff.content_delta;
  out.reasoning += diff.reasoning_content_delta;
  if (diff.tool_call_index == std::string::npos) return;
  const common_chat_tool_call& call = diff.tool_call_delta;
  out.tool_calls.push_back(
      {static_cast<int>(diff.tool_call_index), call.id, call.name, call.arguments});
}

}  // namespace

struct OutputParser::State {
  common_chat_parser_params params;
  std::string text;
  common_chat_msg message;
  std::vector<std::string> ids;
  Random random = Random::from_entropy();
  bool emitted = false;
};

OutputParser::OutputParser(std::unique_ptr<State> state) : state_{std::move(state)} {}
OutputParser::~OutputParser() = default;

std::unique_ptr<OutputParser> OutputParser::create(const Spec& spec) {
  if (is_content_only(spec)) return nullptr;
  auto state = std::make_unique<State>();
  state->params.format = static_cast<common_chat_format>(spec.format);
  state->params.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  state->params.generation_prompt = spec.generation_prompt;
  state->params.parse_tool_calls = spec.tool_calls;
  state->params.parser.load(spec.grammar);
  return std::unique_ptr<OutputParser>{new OutputParser{std::move(state)}};
}

OutputDelta OutputParser::advance(std::string_view text, Part part) {
  state_->text += text;
  OutputDelta out;
  common_chat_msg next = common_chat_parse(state_->text, part == Part::kFirst, state_->params);
  if (next.empty()) return out;
  next.set_tool_call_ids(state_->ids, [this] { return "call_" + state_->random.id(24); });
  for (const auto& diff : common_chat_msg_diff::compute_diffs(state_->message, next)) {
    add_to(out, diff);
  }
  state_->message = std::move(next);
  state_->emitted = state_->emitted || !out.empty();
  return out;
}

OutputDelta OutputParser::feed(std::string_view text) {
  try {
    return advance(text, Part::kFirst);
  } catch (const std::exception&) {
    return {};  // half of something; the next piece or finish() decides
  }
}

OutputDelta OutputParser::finish() {
  OutputDelta out;
  try {
    out = advance({}, Part::kWhole);
  } catch (const std::exception& e) {
    log::warn("answer_not_in_format", {{"reason", std::string_view{e.what()}}});
  }
  if (!state_->emitted) out.text = std::move(state_->text);
  return out;
}

bool OutputParser::called_tools() const { return !state_->message.tool_calls.empty(); }

}  // namespace hearth::engine
