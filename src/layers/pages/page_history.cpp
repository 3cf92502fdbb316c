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
  const bool shrunk = now.resident + slack(now.total) < most_;
  most_ = std::max(most_, now.resident);
  if (dropped_) return PagesCause::kDropped;
  if (shrunk || now.evicted > Bytes{}) return PagesCause::kEvicted;
  return replaced_ ? PagesCause::kReplaced : PagesCause::kNeverRead;
}

}  // namespace hearth
