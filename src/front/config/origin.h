// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hearth::front {

// Where values may come from, weakest first.
enum class Source { kDefault, kOllama, kFile, kEnvironment, kArgument };

std::string_view name_of(Source source);  // "default", "ollama", "file", "environment", "argument"

// Where a value came from: "/etc/hearth/hearth.toml:3:9", "HEARTH_LISTEN", "--listen".
struct Origin {
  Source source = Source::kDefault;
  std::string place;
};

// By option; an option of a model's section is "models.<key>.<option>".
using Origins = std::map<std::string, Origin>;

// A value as text, from the command line.
struct Setting {
  std::string name;
  std::string value;
  std::string place;  // "--listen"
};

using Environment = std::map<std::string, std::string>;
Environment process_environment();

// Something about the configuration that is no error, but that its writer should be told.
struct Notice {
  enum class Kind {
    kFromOllama,       // the option has its value from this variable
    kOllamaInPart,     // something in this variable could not be taken over
    kOllamaIgnored,    // this variable means nothing here
    kFromOtel,         // the option has its value from this variable of OpenTelemetry
    kOtelIgnored,      // this variable of OpenTelemetry cannot be followed
    kUnknownVariable,  // it looks like one of ours
  };
  Kind kind;
  std::string variable;
  std::string value;     // of kFromOllama, and of kFromOtel where it is no secret
  std::string option;    // of kFromOllama and kOllamaInPart; of kUnknownVariable: the nearest
                         // variable there is
  std::string reason{};  // of kOllamaInPart and kOtelIgnored, a sentence
};

}  // namespace hearth::front
