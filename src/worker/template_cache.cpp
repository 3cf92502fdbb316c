// SPDX-License-Identifier: Apache-2.0
#include "worker/template_cache.h"

#include <algorithm>
#include <utility>

namespace hearth::worker {
namespace {

constexpr std::size_t kKept = 8;

}  // namespace

Result<const engine::ChatFormat*> TemplateCache::get(const std::string& text) {
  const auto found = std::ranges::find(entries_, text, &Entry::text);
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().format.get();
  }
  auto format = engine::ChatFormat::open(vocabulary_, text);
  if (!format) {
    return Failed{Error{ErrorCode::kInvalid,
                        "the template that this name has in place of the model's own is not valid"}
                      .at("template")};
  }
  entries_.push_front(Entry{text, std::move(*format)});
  if (entries_.size() > kKept) entries_.pop_back();
  return entries_.front().format.get();
}

}  // namespace hearth::worker
