// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "base/result.h"
#include "base/stage.h"

namespace hearth::wire {

template <class T>
struct Range {
  T low;
  T high;
};

inline constexpr Range<int> kAnyInt{std::numeric_limits<int>::min(),
                                    std::numeric_limits<int>::max()};
inline constexpr Range<int> kCount{0, std::numeric_limits<int>::max()};
inline constexpr Range<double> kAnyNumber{-1e9, 1e9};

// Reads the members of one JSON object that may come from an enemy. A missing member gives nullopt
// (or an empty string or list), so that the caller keeps its default; one of the wrong type or out
// of range does too, and is remembered. Only the first error is kept: ask for it at the end.
// Members that nobody asks for are ignored. Not thread-safe; must not outlive the document or
// `error`.
class ObjectReader {
 public:
  ObjectReader(const boost::json::object& object, std::string path, std::optional<Error>& error)
      : object_{object}, path_{std::move(path)}, error_{error} {}

  // Makes it an error when one of `names` is missing.
  void require(std::initializer_list<std::string_view> names);

  std::optional<int> integer(std::string_view name, Range<int> range);
  std::optional<std::int64_t> integer64(std::string_view name, Range<std::int64_t> range);
  std::optional<std::uint64_t> natural(std::string_view name);
  std::optional<double> number(std::string_view name, Range<double> range);
  std::optional<bool> truth(std::string_view name);
  Bytes bytes(std::string_view name) { return Bytes{natural(name).value_or(0)}; }
  std::string text(std::string_view name);
  std::vector<std::string> texts(std::string_view name);
  std::vector<int> integers(std::string_view name, Range<int> range);
  std::vector<Stage> stages(std::string_view name);

  // Each element of a list, with its path ("vectors[2]"): read(value, path). Stops at the first
  // error.
  template <class Read>
  void each(std::string_view name, Read read) {
    const boost::json::value* found = member(name);
    if (found == nullptr) return;
    const boost::json::array* list = found->if_array();
    if (list == nullptr) return wrong(path_of(name), "a list");
    std::size_t index = 0;
    for (const boost::json::value& item : *list) {
      if (error_) return;
      read(item, path_of(name) + '[' + std::to_string(index++) + ']');
    }
  }

  // The same for a list of objects: read(ObjectReader&).
  template <class Read>
  void each_object(std::string_view name, Read read) {
    each(name, [&](const boost::json::value& item, std::string path) {
      const boost::json::object* object = item.if_object();
      if (object == nullptr) return wrong(path, "an object");
      ObjectReader reader{*object, std::move(path), error_};
      read(reader);
    });
  }

  // read(ObjectReader&), when the member is there.
  template <class Read>
  void object(std::string_view name, Read read) {
    const boost::json::value* found = member(name);
    if (found == nullptr) return;
    const boost::json::object* inner = found->if_object();
    if (inner == nullptr) return wrong(path_of(name), "an object");
    ObjectReader reader{*inner, path_of(name), error_};
    read(reader);
  }

  // Remembers "<path>: <expected> was expected".
  void wrong(const std::string& path, std::string_view expected);
  std::string path_of(std::string_view name) const;

 private:
  const boost::json::value* member(std::string_view name) const;

  const boost::json::object& object_;
  const std::string path_;
  std::optional<Error>& error_;
};

// A payload, which is one JSON object, read by `read`. Errors: kCorrupt.
template <class Message>
Result<Message> read_message(std::string_view payload, Message (*read)(ObjectReader&)) {
  const Result<boost::json::value> document = parse_json(payload);
  if (!document) return fail(ErrorCode::kCorrupt, document.error().message());
  const boost::json::object* object = document->if_object();
  if (object == nullptr) return fail(ErrorCode::kCorrupt, "a JSON object was expected");
  std::optional<Error> error;
  ObjectReader in{*object, "", error};
  Message message = read(in);
  if (error) return Failed{*std::move(error)};
  return message;
}

// nullopt when `value` is no number or not finite. The message of an error is the caller's.
std::optional<double> finite_number(const boost::json::value& value);
std::optional<std::int64_t> whole_number(const boost::json::value& value);

}  // namespace hearth::wire
