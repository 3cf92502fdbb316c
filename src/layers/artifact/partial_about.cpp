// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/partial_about.h"

#include <boost/json.hpp>

#include "base/json.h"

namespace hearth {
namespace {

namespace json = boost::json;

bool read_text(const json::object& object, std::string_view key, std::string& into) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return false;
  into = std::string{std::string_view{value->get_string()}};
  return true;
}

}  // namespace

std::string json_of(const PartialAbout& about) {
  return json::serialize(json::object{{"source", about.source},
                                      {"file", about.file},
                                      {"url", about.url},
                                      {"sha256", about.sha256},
                                      {"size", about.size.count()}});
}

Result<PartialAbout> partial_about_of(std::string_view text) {
  const Result<json::value> value = parse_json(text);
  const json::object* object = value ? value->if_object() : nullptr;
  PartialAbout about;
  const json::value* size = object == nullptr ? nullptr : object->if_contains("size");
  boost::system::error_code error;
  if (size != nullptr) about.size = Bytes{size->to_number<std::uint64_t>(error)};
  const bool whole = size != nullptr && !error && read_text(*object, "source", about.source) &&
                     read_text(*object, "file", about.file) &&
                     read_text(*object, "url", about.url) &&
                     read_text(*object, "sha256", about.sha256);
  if (!whole) return fail(ErrorCode::kCorrupt, "what a download is for cannot be read any more");
  return about;
}

}  // namespace hearth
