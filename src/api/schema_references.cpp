// SPDX-License-Identifier: Apache-2.0
#include "api/schema_references.h"

#include <set>
#include <string>
#include <vector>

namespace hearth::api {
namespace json = boost::json;
namespace {

using References = std::vector<std::string_view>;

// Null for other documents, and for what is not there.
const json::value* definition(const json::object& root, std::string_view reference) {
  for (const std::string_view place : {"$defs", "definitions"}) {
    const std::string beginning = "#/" + std::string{place} + "/";
    if (!reference.starts_with(beginning)) continue;
    const json::value* all = root.if_contains(place);
    const json::object* named = all == nullptr ? nullptr : all->if_object();
    return named == nullptr ? nullptr : named->if_contains(reference.substr(beginning.size()));
  }
  return nullptr;
}

// Those that stand where a text for `schema` begins.
void add_first(const json::value& schema, References& out) {
  const json::object* object = schema.if_object();
  if (object == nullptr) return;
  const json::value* reference = object->if_contains("$ref");
  if (reference != nullptr && reference->is_string()) out.push_back(reference->get_string());
  for (const std::string_view word : {"anyOf", "oneOf", "allOf"}) {
    const json::value* choices = object->if_contains(word);
    if (choices == nullptr || !choices->is_array()) continue;
    for (const json::value& choice : choices->get_array()) add_first(choice, out);
  }
}

}  // namespace

bool leads_back(const json::object& root, std::string_view reference) {
  References todo{reference};
  std::set<std::string_view> seen;
  while (!todo.empty()) {
    const json::value* target = definition(root, todo.back());
    todo.pop_back();
    References next;
    if (target != nullptr) add_first(*target, next);
    for (const std::string_view one : next) {
      if (one == reference) return true;
      if (seen.insert(one).second) todo.push_back(one);
    }
  }
  return false;
}

}  // namespace hearth::api
