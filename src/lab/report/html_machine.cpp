// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>

#include "base/json.h"
#include "lab/report/html_parts.h"
#include "lab/report/html_text.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;

constexpr int kDeepest = 6;
constexpr const char* kNotObservable = "not_observable";

std::string words(std::string_view name) {
  std::string text{name};
  for (char& c : text) c = c == '_' ? ' ' : c;
  return text;
}

std::string html_of(const json::value& value, int depth);

std::string list_of(const json::object& object, int depth) {
  std::string list = "<dl>";
  for (const auto& [key, value] : object) {
    if (depth == 0 && key == kNotObservable) continue;
    list += "<dt>" + escaped(words(key)) + "</dt><dd>" + html_of(value, depth + 1) + "</dd>\n";
  }
  return list + "</dl>";
}

std::string html_of(const json::value& value, int depth) {
  if (value.is_string()) return escaped(std::string_view{value.as_string()});
  const bool too_deep = depth > kDeepest;
  if (value.is_object() && !too_deep) return list_of(value.as_object(), depth);
  if (!value.is_array() || too_deep) return escaped(json::serialize(value));
  std::string items;
  for (const json::value& each : value.as_array()) {
    items += (items.empty() ? "" : "<br>") + html_of(each, depth + 1);
  }
  return items;
}

// What the description of the machine says of itself; null where it says nothing.
json::value described(const RunInfo& info, std::string_view member) {
  const auto machine = parse_json(info.machine);
  if (!machine || !machine->is_object()) return nullptr;
  const json::value* found = machine->as_object().if_contains(member);
  return found == nullptr ? json::value(nullptr) : *found;
}

}  // namespace

std::string not_observable_section(const PageContent& page) {
  std::string items;
  for (const std::string& what : page.info.not_observable) {
    items += "<li>" + escaped(what) + "</li>\n";
  }
  const json::value machine = described(page.info, kNotObservable);
  if (machine.is_object()) {
    for (const auto& [what, why] : machine.as_object()) {
      items += "<li>" + escaped(words(what)) + ": " + html_of(why, 1) + "</li>\n";
    }
  } else if (machine.is_array()) {
    for (const json::value& each : machine.as_array())
      items += "<li>" + html_of(each, 1) + "</li>\n";
  }
  if (items.empty()) return {};
  return section("not-observable", "What could not be observed", "<ul>" + items + "</ul>\n");
}

std::string machine_section(const PageContent& page) {
  std::string content;
  const auto machine = parse_json(page.info.machine);
  if (machine && machine->is_object()) content = list_of(machine->as_object(), 0);
  if (content.empty()) content = "<p>" + escaped(page.info.machine) + "</p>";
  const auto options = parse_json(page.info.options);
  if (options && options->is_object() && !options->as_object().empty()) {
    content += "<h3>Asked for</h3>" + list_of(options->as_object(), 0);
  }
  return section("machine", "The machine", "<article>" + content + "</article>\n");
}

}  // namespace hearth::lab
