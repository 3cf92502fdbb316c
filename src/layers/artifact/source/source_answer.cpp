// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/source_answer.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace hearth {

std::string server_of(const ModelSource& source) {
  return source.host.origin().substr(source.host.scheme.size() + 3);
}

Failed unexpected_status(const ModelSource& source, int status) {
  const std::string server = server_of(source);
  if (status == 429) {
    return fail(ErrorCode::kUnavailable, server + " wants fewer requests (429); try again later");
  }
  const std::string_view remedy =
      status >= 500 ? "it has a problem; try again later" : "this is no answer that is understood";
  return fail(ErrorCode::kUnavailable, fmt::format("{} answered {}: {}", server, status, remedy));
}

Failed senseless(const ModelSource& source, std::string_view what) {
  return fail(ErrorCode::kCorrupt,
              fmt::format("{} gave an answer that makes no sense: {}", server_of(source), what));
}

std::string text_member(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  return std::string{std::string_view{value->get_string()}};
}

std::optional<Bytes> size_member(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const Bytes size{value->to_number<std::uint64_t>(error)};
  if (error || size > kMaxPlannedFile) return std::nullopt;
  return size;
}

}  // namespace hearth
