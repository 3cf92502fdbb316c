// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/fields.h"

namespace hearth::api {

// Whether a reply may call several tools; forbidden: only its first call is told.
enum class ParallelCalls { kAllowed, kForbidden };

// How a dialect writes one tool, in the shape that chat templates understand; fails at a name that
// is in `names` already, and adds it.
using ReadTool = boost::json::object (*)(const Fields& tool, std::set<std::string>& names);

// `tools` of a request; empty without any.
inline boost::json::array read_tool_list(const Fields& body, ReadTool read_tool) {
  boost::json::array out;
  const boost::json::array* tools = body.list("tools");
  if (tools == nullptr) return out;
  std::set<std::string> names;
  for (std::size_t i = 0; i < tools->size() && !body.failed(); ++i) {
    const std::optional<Fields> tool = body.element("tools", *tools, i);
    if (tool) out.push_back(read_tool(*tool, names));
  }
  return out;
}

// How a dialect writes one call.
using ReadCall = boost::json::object (*)(const Fields& call);

// `tool_calls` of a message, which only the assistant may have; empty without any.
inline boost::json::array read_tool_calls(const Fields& message, std::string_view role,
                                          ReadCall read_call) {
  boost::json::array out;
  const boost::json::array* calls = message.list("tool_calls");
  if (calls == nullptr || calls->empty()) return out;
  if (role != "assistant") {
    message.fail("tool_calls", "only messages of the assistant may call tools");
    return out;
  }
  for (std::size_t i = 0; i < calls->size() && !message.failed(); ++i) {
    const std::optional<Fields> call = message.element("tool_calls", *calls, i);
    if (call) out.push_back(read_call(*call));
  }
  return out;
}

}  // namespace hearth::api
