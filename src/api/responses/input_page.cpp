// SPDX-License-Identifier: Apache-2.0
#include "api/responses/input_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/json.h"

namespace hearth::api::responses {
namespace json = boost::json;
namespace {

constexpr std::size_t kDefaultLimit = 20;
constexpr std::size_t kMostItems = 100;

Failed wrong(const char* name, std::string message) {
  return Failed{Error{ErrorCode::kInvalid, std::string{name} + ": " + std::move(message)}.at(name)};
}

Result<std::size_t> limit_of(const http::HttpRequest& request) {
  const auto text = request.parameter("limit");
  if (!text) return kDefaultLimit;
  std::size_t limit = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, limit);
  if (error == std::errc{} && stop == end && limit >= 1 && limit <= kMostItems) return limit;
  return wrong("limit", "a number from 1 to 100 is expected");
}

Result<> put_in_order(json::array& items, const http::HttpRequest& request) {
  const std::string order = request.parameter("order").value_or("desc");
  if (order != "asc" && order != "desc") return wrong("order", "must be asc or desc");
  if (order == "desc") std::ranges::reverse(items);
  return {};
}

Result<std::size_t> start_of(const json::array& items, const http::HttpRequest& request) {
  const auto after = request.parameter("after");
  if (!after) return std::size_t{0};
  const auto* found = std::ranges::find_if(
      items, [&](const json::value& item) { return item.at("id") == json::value(*after); });
  if (found == items.end()) return wrong("after", "there is no item " + *after);
  return static_cast<std::size_t>(found - items.begin()) + 1;
}

}  // namespace

Result<std::string> input_page(const std::string& input, const http::HttpRequest& request) {
  auto parsed = parse_json(input);
  if (!parsed || !parsed->is_array()) return fail(ErrorCode::kCorrupt, "it cannot be read");
  json::array& items = parsed->get_array();
  const auto limit = limit_of(request);
  if (!limit) return Failed{limit.error()};
  if (auto ordered = put_in_order(items, request); !ordered) return Failed{ordered.error()};
  const auto start = start_of(items, request);
  if (!start) return Failed{start.error()};
  const std::size_t end = std::min(items.size(), *start + *limit);
  json::array data{};
  for (std::size_t i = *start; i < end; ++i) data.push_back(items[i]);
  json::object page;
  page["object"] = "list";
  page["first_id"] = data.empty() ? json::value{} : data.front().at("id");
  page["last_id"] = data.empty() ? json::value{} : data.back().at("id");
  page["has_more"] = end < items.size();
  page["data"] = std::move(data);
  return json::serialize(page);
}

}  // namespace hearth::api::responses
