// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::engine {

// A part of a tool call: id and name come with its first part.
struct ToolCallPart {
  int index = 0;
  std::string id;
  std::string name;
  std::string arguments;  // a piece of JSON text
};

// What one piece of the model's text added to its answer.
struct OutputDelta {
  std::string text;
  std::string reasoning;
  std::vector<ToolCallPart> tool_calls;

  bool empty() const { return text.empty() && reasoning.empty() && tool_calls.empty(); }
};

// Splits what a model writes into text, reasoning and tool calls, by the grammar of its template.
// Each feed() parses the answer from its beginning. Not thread-safe.
class OutputParser {
 public:
  // All from the engine's rendering of the template.
  struct Spec {
    int format = 0;
    std::string grammar;
    std::string generation_prompt;
    bool tool_calls = false;
  };

  // Null when the template's answers are nothing but text, so that nothing is parsed at all.
  static std::unique_ptr<OutputParser> create(const Spec& spec);
  ~OutputParser();

  OutputDelta feed(std::string_view text);

  // The rest, when no more text will come. An answer that does not fit the template's format at all
  // is given as text.
  OutputDelta finish();

  bool called_tools() const;

 private:
  struct State;
  explicit OutputParser(std::unique_ptr<State> state);
  enum class Part { kFirst, kWhole };  // of the answer
  OutputDelta advance(std::string_view text, Part part);

  std::unique_ptr<State> state_;
};

}  // namespace hearth::engine
