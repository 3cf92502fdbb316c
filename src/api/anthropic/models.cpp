// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/model_json.h"
#include "base/time_text.h"
#include "timeline/json_writer.h"

namespace hearth::api::anthropic {
namespace {

constexpr std::size_t kDefaultLimit = 20;
constexpr std::size_t kMaxLimit = 1000;

Result<std::size_t> limit_of(const http::HttpRequest& request) {
  const auto text = request.parameter("limit");
  if (!text) return kDefaultLimit;
  std::size_t limit = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, limit);
  if (error == std::errc{} && stop == end && limit >= 1 && limit <= kMaxLimit) return limit;
  return Failed{
      Error{ErrorCode::kInvalid, "limit: a number from 1 to 1000 is expected"}.at("limit")};
}

// Where the model that a cursor names stands; `absent` when there is no such cursor.
Result<std::size_t> place_of(std::span<const front::ModelStatus> models,
                             const http::HttpRequest& request, const char* name,
                             std::size_t absent) {
  const auto id = request.parameter(name);
  if (!id) return absent;
  const auto found = std::ranges::find(models, *id, &front::ModelStatus::name);
  if (found != models.end()) return static_cast<std::size_t>(found - models.begin());
  return Failed{
      Error{ErrorCode::kInvalid, fmt::format("{}: there is no model {}", name, *id)}.at(name)};
}

std::string page_json(std::span<const front::ModelStatus> page, std::string_view has_more) {
  std::string data = "[";
  for (const front::ModelStatus& model : page) {
    if (data.size() > 1) data += ',';
    data += model_entry(model);
  }
  JsonWriter out;
  out.raw("data", data + ']').raw("has_more", has_more);
  if (page.empty()) return out.null("first_id").null("last_id").object();
  out.string("first_id", page.front().name).string("last_id", page.back().name);
  return out.object();
}

}  // namespace

std::string model_entry(const front::ModelStatus& model) {
  JsonWriter out;
  out.string("type", "model").string("id", model.name).string("display_name", model.name);
  out.string("created_at", rfc3339(model.imported_at_us, Fraction::kNone))
      .string("lifecycle", "active");
  return out.raw("hearth", model_json(model, Audience::kClients)).object();
}

Result<std::string> model_page(std::span<const front::ModelStatus> models,
                               const http::HttpRequest& request) {
  const auto limit = limit_of(request);
  if (!limit) return Failed{limit.error()};
  const auto before = place_of(models, request, "before_id", models.size());
  if (!before) return Failed{before.error()};
  const auto after = place_of(models, request, "after_id", models.size());
  if (!after) return Failed{after.error()};

  const bool backwards = *before < models.size();
  const std::size_t first = *after < models.size() ? *after + 1 : 0;
  const auto rest = models.subspan(0, *before).subspan(std::min(first, *before));
  const std::size_t count = std::min(*limit, rest.size());
  const auto page = backwards ? rest.last(count) : rest.first(count);
  return page_json(page, count < rest.size() ? "true" : "false");
}

}  // namespace hearth::api::anthropic
