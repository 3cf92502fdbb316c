// SPDX-License-Identifier: Apache-2.0
#include "api/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "api/sampling.h"

namespace hearth::api {
namespace json = boost::json;
namespace {

constexpr std::size_t kMostNamed = 16;

void read_names(const Fields& hearth, std::vector<std::string>& names) {
  const json::array* list = hearth.list("modules");
  if (list == nullptr) return;
  if (list->size() > kMostNamed) {
    hearth.fail("modules", fmt::format("at most {} modules are possible", kMostNamed));
  }
  for (std::size_t i = 0; i < list->size() && !hearth.failed(); ++i) {
    const json::value& value = (*list)[i];
    const std::string path = fmt::format("{}[{}]", hearth.path_of("modules"), i);
    if (!value.is_string() || value.get_string().empty()) {
      hearth.fail_at(path, "the name of a module is expected");
      return;
    }
    std::string name{std::string_view{value.get_string()}};
    if (std::ranges::find(names, name) != names.end()) {
      hearth.fail_at(path, "this module is named twice");
    }
    names.push_back(std::move(name));
  }
}

}  // namespace

void read_modules(const Fields& body, RequestOptions& options) {
  const std::optional<Fields> hearth = body.object("hearth");
  if (!hearth) return;
  for (const auto& member : hearth->json()) {
    const bool known = member.key() == "modules" || member.key() == "approximate";
    if (!known) {
      hearth->fail(member.key(), "there is no such member; there are modules and approximate");
    }
  }
  read_names(*hearth, options.modules);
  keep(options.approximate, hearth->flag("approximate"));
}

void check_modules(const Fields& body, const GenerateCall& call) {
  if (call.options.modules.empty() || !call.message.messages.empty()) return;
  body.fail_at("hearth.modules",
               "modules stand in the system text of messages, and there are none here");
}

}  // namespace hearth::api
