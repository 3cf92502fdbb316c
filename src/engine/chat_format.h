// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/constraint.h"
#include "engine/output_parser.h"
#include "engine/vocabulary.h"

struct common_chat_templates;

namespace hearth::engine {

// Whether the model is to reason before it answers. kByItself: as its template has it.
enum class Thinking { kByItself, kOn, kOff };

// A conversation in OpenAI's shape, as JSON texts; the optional ones may be empty.
struct ChatRequest {
  std::string messages;
  std::string tools;
  std::string tool_choice;
  std::string response_schema;
  std::string template_kwargs;
  Thinking thinking = Thinking::kByItself;  // stands above what the kwargs say
  // GBNF that the whole answer follows, so that there is no reasoning and no call; empty: none.
  std::string grammar = {};
};

// What the model is to see, and how its answer is to be steered and read.
struct RenderedChat {
  std::string prompt;
  Constraint constraint;
  std::vector<std::string> stops;        // beside the client's own
  std::unique_ptr<OutputParser> parser;  // null: the answer is plain text
};

// The chat template of a model. A model without one gets ChatML. Thread-safe.
class ChatFormat {
 public:
  // `own`: a template in place of the model's; empty: the model's.
  // Errors: kCorrupt when the template cannot be parsed.
  static Result<std::unique_ptr<ChatFormat>> open(const Vocabulary& vocabulary,
                                                  const std::string& own = "");

  bool is_from_model() const { return from_model_; }
  bool calls_tools() const { return has_tools_; }
  // The template knows of reasoning, and the parser takes it out of the answer.
  bool thinks() const { return thinks_; }

  // With Thinking::kOff, a template that begins the reasoning whatever it is told has it end at
  // once. Without tools to offer, a choice of none is fine with any template.
  // Errors: kInvalid with the request field at fault ("messages", "tools", "response_format",
  // "think"): "tools" for a template that cannot call, "think" for kOn and one that cannot reason,
  // or a grammar.
  Result<RenderedChat> render(const ChatRequest& request) const;

 private:
  struct Free {
    void operator()(common_chat_templates* templates) const;
  };
  ChatFormat(const Vocabulary& vocabulary, common_chat_templates* templates);

  Result<RenderedChat> render_free(const ChatRequest& request) const;
  Result<RenderedChat> render_to_grammar(ChatRequest request) const;

  const Vocabulary& vocabulary_;
  std::unique_ptr<common_chat_templates, Free> templates_;
  bool from_model_;
  bool parallel_calls_ = false;
  bool has_tools_ = false;
  bool thinks_ = false;
};

// One that is followed as it stands. Whether it can be is known by Sampler::create().
Constraint constrain_to_grammar(const std::string& grammar);

// A constraint that makes the answer to a raw prompt follow a JSON schema.
// Errors: kInvalid at "response_format".
Result<Constraint> constrain_to_schema(const std::string& schema);

}  // namespace hearth::engine
