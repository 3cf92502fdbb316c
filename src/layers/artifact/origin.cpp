// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/origin.h"

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

bool read_file(const json::value& value, Origin::File& file) {
  const json::object* object = value.if_object();
  if (object == nullptr) return false;
  const json::value* size = object->if_contains("size");
  boost::system::error_code error;
  if (size == nullptr) return false;
  file.size = Bytes{size->to_number<std::uint64_t>(error)};
  return !error && read_text(*object, "name", file.name) && read_text(*object, "url", file.url) &&
         read_text(*object, "sha256", file.sha256) && read_text(*object, "etag", file.etag);
}

bool read_origin(const json::object& object, Origin& origin) {
  const json::value* files = object.if_contains("files");
  if (files == nullptr || !files->is_array()) return false;
  origin.files.resize(files->get_array().size());
  for (std::size_t i = 0; i < origin.files.size(); ++i) {
    if (!read_file(files->get_array()[i], origin.files[i])) return false;
  }
  return read_text(object, "source", origin.source) &&
         read_text(object, "revision", origin.revision);
}

}  // namespace

std::string json_of(const Origin& origin) {
  json::array files;
  for (const Origin::File& file : origin.files) {
    files.push_back(json::object{{"name", file.name},
                                 {"url", file.url},
                                 {"sha256", file.sha256},
                                 {"etag", file.etag},
                                 {"size", file.size.count()}});
  }
  return json::serialize(json::object{
      {"source", origin.source}, {"revision", origin.revision}, {"files", std::move(files)}});
}

Result<Origin> origin_of(std::string_view text) {
  const Result<json::value> value = parse_json(text);
  const json::object* object = value ? value->if_object() : nullptr;
  Origin origin;
  if (object == nullptr || !read_origin(*object, origin)) {
    return fail(ErrorCode::kCorrupt, "where a model came from cannot be read");
  }
  return origin;
}

}  // namespace hearth
