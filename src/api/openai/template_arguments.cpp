// SPDX-License-Identifier: Apache-2.0
#include "api/openai/template_arguments.h"

#include <algorithm>
#include <array>
#include <string>

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

// As clients say it, and as templates know it.
constexpr std::array<std::array<std::string_view, 2>, 6> kEfforts{{{"none", ""},
                                                                   {"minimal", "low"},
                                                                   {"low", "low"},
                                                                   {"medium", "medium"},
                                                                   {"high", "high"},
                                                                   {"xhigh", "high"}}};

void read_effort(const Fields& body, wire::GenerateMessage& message, json::object& arguments) {
  const auto effort = body.text("reasoning_effort");
  if (!effort) return;
  const auto* found =
      std::ranges::find_if(kEfforts, [&](const auto& known) { return known[0] == *effort; });
  if (found == kEfforts.end()) {
    body.fail("reasoning_effort", "must be none, minimal, low, medium, high or xhigh");
  } else if ((*found)[1].empty()) {
    message.thinking = "off";
  } else {
    arguments["reasoning_effort"] = (*found)[1];
  }
}

}  // namespace

void read_template_arguments(const Fields& body, wire::GenerateMessage& message) {
  json::object arguments;
  read_effort(body, message, arguments);
  if (const auto own = body.object("chat_template_kwargs")) {
    for (const auto& member : own->json()) arguments[member.key()] = member.value();
  }
  if (!arguments.empty()) message.template_kwargs = json::serialize(arguments);
}

}  // namespace hearth::api::openai
