// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/modelfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"
#include "layers/artifact/source/model_parameters.h"
#include "layers/artifact/source/modelfile_lines.h"
#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxSize = 8 << 20;
constexpr std::size_t kShownWord = 32;
constexpr std::array<std::string_view, 7> kInstructions{
    "FROM", "PARAMETER", "TEMPLATE", "SYSTEM", "ADAPTER", "LICENSE", "MESSAGE"};

struct Ignored {
  std::string_view word;
  std::string_view why;
};
constexpr std::array kIgnored{
    Ignored{"renderer", "the chat template does its work here"},
    Ignored{"parser", "the chat template tells how replies are read"},
    Ignored{"requires", "it names a version of Ollama"},
    Ignored{"draft", "nothing is drafted here"},
};

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_{text} {}

  Result<Modelfile> run() {
    while (lines_.skip_blank()) {
      Result<> read = read_instruction();
      if (!read) return Failed{std::move(read).error()};
    }
    if (file_.from.empty()) {
      return fail(ErrorCode::kInvalid,
                  "the Modelfile has no FROM line, which names the model or file it is made of");
    }
    if (!parameters_.empty()) file_.settings.parameters = json::serialize(parameters_);
    if (!messages_.empty()) file_.settings.messages = json::serialize(messages_);
    return std::move(file_);
  }

 private:
  Failed wrong(std::string_view what) const {
    return fail(ErrorCode::kInvalid,
                fmt::format("line {} of the Modelfile: {}", lines_.began(), what));
  }

  Result<> read_instruction() {
    const std::string word{lines_.take_word()};
    const std::string name = lower_case(word);
    if (name == "parameter") return read_parameter();
    if (name == "message") return read_message();
    const auto* ignored = std::ranges::find(kIgnored, name, &Ignored::word);
    const bool known = std::ranges::any_of(
        kInstructions, [&](std::string_view one) { return lower_case(one) == name; });
    if (!known && ignored == kIgnored.end()) return unknown(word);
    Result<std::string> value = lines_.take_value();
    if (!value) return wrong(value.error().message());
    if (!known) {
      note(fmt::format("{} has no effect: {}", word, ignored->why));
      return {};
    }
    return keep(name, std::move(*value));
  }

  Result<> unknown(std::string_view word) const {
    const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    if (!plain || word.size() > kShownWord) {
      return wrong("it does not begin with an instruction such as " + one_of(kInstructions));
    }
    return wrong(
        fmt::format("there is no instruction \"{}\"{}", word, did_you_mean(word, kInstructions)));
  }

  Result<> keep(std::string_view name, std::string value) {
    ModelSettings& settings = file_.settings;
    if (name == "from") return keep_from(std::move(value));
    if (name == "adapter") return keep_adapter(std::move(value));
    if (name == "template") settings.chat_template = std::move(value);
    if (name == "system") settings.system = std::move(value);
    if (name == "license") {
      if (!settings.license.empty()) settings.license += "\n\n";
      settings.license += value;
    }
    return {};
  }

  Result<> keep_from(std::string value) {
    if (value.empty()) return wrong("FROM names nothing");
    if (!file_.from.empty()) {
      return wrong(
          "there is a second FROM; a model is made of one other, and projectors for "
          "images are not supported yet");
    }
    file_.from = std::move(value);
    return {};
  }

  Result<> keep_adapter(std::string value) {
    if (value.empty()) return wrong("ADAPTER names nothing");
    file_.adapters.push_back(std::move(value));
    return {};
  }

  Result<> read_parameter() {
    const std::string name = lower_case(lines_.take_word());
    const bool fit =
        !name.empty() && name.size() <= kShownWord && std::ranges::all_of(name, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        });
    if (!fit) return wrong("PARAMETER must go on with a name and a value");
    const Result<std::string> value = lines_.take_value();
    if (!value) return wrong(value.error().message());
    if (value->empty()) return wrong(name + " has no value");
    if (Result<> added = add_model_parameter(parameters_, name, *value); !added) {
      return wrong(added.error().message());
    }
    if (!is_model_parameter(name)) {
      note(fmt::format("PARAMETER {} has no effect here{}", name, nearest_model_parameter(name)));
    }
    return {};
  }

  Result<> read_message() {
    const std::string role = lower_case(lines_.take_word());
    if (role != "system" && role != "user" && role != "assistant") {
      return wrong("MESSAGE must go on with system, user or assistant");
    }
    Result<std::string> content = lines_.take_value();
    if (!content) return wrong(content.error().message());
    messages_.push_back(json::object{{"role", role}, {"content", *content}});
    return {};
  }

  void note(std::string_view what) {
    file_.notes.push_back(fmt::format("line {} of the Modelfile: {}", lines_.began(), what));
  }

  ModelfileLines lines_;
  Modelfile file_;
  json::object parameters_;
  json::array messages_;
};

// ---- the other way ----

std::string text_of(const json::value& value) {
  if (value.is_string()) return std::string{std::string_view{value.get_string()}};
  if (value.is_double()) return fmt::format("{}", value.get_double());
  return json::serialize(value);
}

class Writer {
 public:
  // What is empty was not said.
  void add(std::string_view instruction, std::string_view value) {
    if (value.empty()) return;
    const std::optional<std::string> quoted = ModelfileLines::quoted(value);
    if (quoted) {
      text_ += fmt::format("{} {}\n", instruction, *quoted);
    } else {
      text_ += fmt::format("# {} is left out: a Modelfile cannot hold its quotation marks\n",
                           instruction);
    }
  }

  void add_parameters(std::string_view parameters) {
    const Result<json::value> value = parse_json(parameters);
    if (!value || !value->is_object()) return;
    for (const auto& member : value->get_object()) {
      const std::string instruction = fmt::format("PARAMETER {}", std::string{member.key()});
      const json::array* list = member.value().if_array();
      if (list == nullptr) add(instruction, text_of(member.value()));
      if (list == nullptr) continue;
      for (const json::value& one : *list) add(instruction, text_of(one));
    }
  }

  void add_messages(std::string_view messages) {
    const Result<json::value> value = parse_json(messages);
    if (!value || !value->is_array()) return;
    for (const json::value& message : value->get_array()) {
      const json::object* object = message.if_object();
      const json::value* role = object != nullptr ? object->if_contains("role") : nullptr;
      const json::value* content = object != nullptr ? object->if_contains("content") : nullptr;
      if (role == nullptr || content == nullptr) continue;
      add("MESSAGE " + text_of(*role), text_of(*content));
    }
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

Result<Modelfile> parse_modelfile(std::string_view text) {
  if (text.size() > kMaxSize) {
    return fail(ErrorCode::kInvalid, "the Modelfile is larger than 8 MiB");
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kInvalid, "the Modelfile is no text in UTF-8");
  }
  return Reader{text}.run();
}

std::string to_modelfile(const Modelfile& file) {
  Writer writer;
  writer.add("FROM", file.from);
  for (const std::string& adapter : file.adapters) writer.add("ADAPTER", adapter);
  writer.add("TEMPLATE", file.settings.chat_template);
  writer.add("SYSTEM", file.settings.system);
  writer.add_parameters(file.settings.parameters);
  writer.add_messages(file.settings.messages);
  writer.add("LICENSE", file.settings.license);
  return writer.take();
}

}  // namespace hearth
