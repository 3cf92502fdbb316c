// SPDX-License-Identifier: Apache-2.0
#include "api/openai/foreign_fields.h"

#include <array>
#include <charconv>
#include <string>

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

constexpr std::string_view kSamplers =
    "this way of sampling is not there; use temperature, top_k, top_p, min_p or typical_p";
constexpr std::string_view kGuided = "use response_format with a JSON schema";
constexpr std::string_view kTemplate =
    "the model's own template is used; send a finished prompt to /v1/completions for another one";
constexpr std::string_view kReasoning =
    "use reasoning_effort, or chat_template_kwargs as the model's template has them";

constexpr std::array kForeign{
    ForeignField{"mirostat", "0", kSamplers},
    ForeignField{"dynatemp_range", "0", kSamplers},
    ForeignField{"xtc_probability", "0", kSamplers},
    ForeignField{"dry_multiplier", "0", kSamplers},
    ForeignField{"top_n_sigma", "-1", kSamplers},
    ForeignField{"tfs_z", "1", kSamplers},
    ForeignField{"top_a", "0", kSamplers},
    ForeignField{"samplers", "", kSamplers},
    ForeignField{"use_beam_search", "false", kSamplers},
    ForeignField{"length_penalty", "1", kSamplers},
    ForeignField{"guided_json", "", kGuided},
    ForeignField{"guided_regex", "", kGuided},
    ForeignField{"guided_choice", "", kGuided},
    ForeignField{"guided_grammar", "", kGuided},
    ForeignField{"structured_outputs", "", kGuided},
    ForeignField{"stop_token_ids", "[]", "use stop with texts, or logit_bias"},
    ForeignField{"bad_words", "[]", "use logit_bias"},
    ForeignField{"chat_template", "\"\"", kTemplate},
    ForeignField{"add_generation_prompt", "true", kTemplate},
    ForeignField{"continue_final_message", "false", kTemplate},
    ForeignField{"think", "", kReasoning},
    ForeignField{"reasoning", "", kReasoning},
    ForeignField{"enable_thinking", "", kReasoning},
    ForeignField{"options", "{}", "options of Ollama's belong to /api; say them one by one here"},
    ForeignField{"web_search_options", "", "this server searches nothing"},
    ForeignField{"documents", "[]", "put documents into the messages"},
};

bool is_neutral(const json::value& value, std::string_view neutral) {
  if (neutral.empty()) return false;
  if (!value.is_number()) return json::serialize(value) == neutral;
  double number = 0;
  const auto [end, error] =
      std::from_chars(neutral.data(), neutral.data() + neutral.size(), number);
  return error == std::errc{} && end == neutral.data() + neutral.size() &&
         value.to_number<double>() == number;
}

}  // namespace

std::span<const ForeignField> foreign_fields() { return kForeign; }

void refuse_foreign(const Fields& body) {
  for (const ForeignField& field : kForeign) {
    const json::value* value = body.find(field.name);
    if (value == nullptr || is_neutral(*value, field.neutral)) continue;
    body.fail(field.name, std::string{field.reason});
  }
}

}  // namespace hearth::api::openai
