// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/page_history.h"

#include <algorithm>
#include <array>

namespace hearth {
namespace {

// A few pages more or less are no event.
Bytes slack(Bytes total) { return std::max(Bytes{64 << 10}, Bytes{total.count() / 1000}); }

}  // namespace

std::string_view code_of(PagesCause cause) {
  constexpr std::array<std::string_view, 5> kCodes{"", "pages.never_read", "pages.dropped",
                                                   "pages.evicted", "pages.replaced"};
  return kCodes[static_cast<std::size_t>(cause)];
}

PagesCause PageHistory::note(const Residency& now) {
  if (now.method == ResidencyMethod::kUnknown) return PagesCause::kNone;
  if (now.missing() == Bytes{}) {
    *this = PageHistory{};
    most_ = now.resident;
    return PagesCause::kNone;
  }
  const Bytes lost = most_ - now.resident;
  const bool shrunk = lost > slack(now.total);
  const bool marked =
      marks_lost_ || now.method != ResidencyMethod::kCachestat || now.evicted + now.evicted >= lost;
  most_ = std::max(most_, now.resident);
  if (shrunk && marked) dropped_ = false;  // what came back after the drop has gone by itself
  if (dropped_ || (shrunk && !marked)) return PagesCause::kDropped;
  if (shrunk || now.evicted > Bytes{}) return PagesCause::kEvicted;
  return replaced_ ? PagesCause::kReplaced : PagesCause::kNeverRead;
}

}  // namespace hearth
