// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/source_index.h"

#include <algorithm>

#include "layers/artifact/source/huggingface.h"
#include "layers/artifact/source/ollama_registry.h"
#include "layers/artifact/source/url_source.h"

namespace hearth {

namespace {
constexpr std::size_t kMaxToken = 16 << 10;
}  // namespace

std::string_view IndexAnswer::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &HeaderField::name);
  return found == headers.end() ? std::string_view{} : std::string_view{found->value};
}

std::optional<IndexRequest> index_request(const ModelSource& source) {
  switch (source.kind) {
    case SourceKind::kHuggingFace:
      return huggingface::index_request(source);
    case SourceKind::kRegistry:
      return registry::index_request(source);
    case SourceKind::kUrl:
      return std::nullopt;
  }
  return std::nullopt;
}

Result<FetchPlan> plan_of(const ModelSource& source, const IndexAnswer& answer) {
  switch (source.kind) {
    case SourceKind::kHuggingFace:
      return huggingface::plan_of(source, answer);
    case SourceKind::kRegistry:
      return registry::plan_of(source, answer);
    case SourceKind::kUrl:
      return url_plan(source);
  }
  return fail(ErrorCode::kInternal, "a source of no kind");
}

Result<HeaderField> bearer(std::string_view token) {
  const auto fit = [](char c) { return c > 0x20 && c < 0x7F; };
  if (token.empty() || token.size() > kMaxToken || !std::ranges::all_of(token, fit)) {
    return fail(ErrorCode::kInvalid,
                "the token is empty, too long, or has a character that no token has");
  }
  return HeaderField{"Authorization", "Bearer " + std::string{token}};
}

}  // namespace hearth
