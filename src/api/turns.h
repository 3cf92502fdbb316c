// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>

namespace hearth::api {

// A conversation in OpenAI's shape, put together from pieces: neighbours of one role become one
// turn, their texts joined by line feeds.
class Turns {
 public:
  void add_text(std::string_view role, std::string_view text);
  // These two are the assistant's.
  void add_reasoning(std::string_view text);
  void add_call(const std::string& id, const std::string& name, std::string arguments);
  // A turn of its own, with the tool's name where the call has been seen.
  void add_result(const std::string& id, std::string_view text);

  bool has_call(const std::string& id) const { return names_.contains(id); }

  // A turn without any text, if there is none of this role to add to.
  boost::json::object& turn_of(std::string_view role);

  // As JSON text, for the chat template.
  std::string text();

 private:
  boost::json::array turns_;
  std::map<std::string, std::string> names_;  // of the tools, by the ids of their calls
};

// Adds `more` as a line of its own; what is empty is none.
void append_line(std::string& text, std::string_view more);

}  // namespace hearth::api
