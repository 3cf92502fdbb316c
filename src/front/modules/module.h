// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hearth::front {

// A beginning of prompts that has a name: house rules, a tool list, a document. Requests name it
// instead of sending its text.
struct Module {
  enum class Source { kConfiguration, kApi };

  std::string name;
  std::string text;    // empty while it is broken
  int version = 0;     // grows with each change of the text, also over a removal
  std::string digest;  // SHA-256 of the text in hexadecimal
  Source source = Source::kApi;
  std::string file;                 // that has the text; empty: the declaration itself has it
  std::vector<std::string> models;  // for which it is kept warm; canonical
  std::string broken;               // why there is no text; empty: there is

  // "3-1f2e3d4c": what people see, and what is remembered with its prompt state.
  std::string version_name() const;
};

}  // namespace hearth::front
