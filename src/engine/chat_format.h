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

// A conversation in OpenAI's shape, as JSON texts; the optional ones may be empty.
struct ChatRequest {
  std::string messages;
  std::string tools;
  std::string tool_choice;
  std::string response_schema;
  std::string template_kwargs;
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
  // Errors: kCorrupt when the model's template cannot be parsed.
  static Result<std::unique_ptr<ChatFormat>> open(const Vocabulary& vocabulary);

  bool is_from_model() const { return from_model_; }

  // Tools that the template does not know are left out, unless a call is required.
  // Errors: kInvalid with the request field at fault ("messages", "tools", "response_format");
  // kUnsupported, when a call is required of a template that has none.
  Result<RenderedChat> render(const ChatRequest& request) const;

 private:
  struct Free {
    void operator()(common_chat_templates* templates) const;
  };
  ChatFormat(const Vocabulary& vocabulary, common_chat_templates* templates);

  const Vocabulary& vocabulary_;
  std::unique_ptr<common_chat_templates, Free> templates_;
  bool from_model_;
  bool parallel_calls_ = false;
  bool has_tools_ = false;
};

// A constraint that makes the answer to a raw prompt follow a JSON schema.
// Errors: kInvalid at "response_format".
Result<Constraint> constrain_to_schema(const std::string& schema);

}  // namespace hearth::engine
