// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "fetcher/response_head.h"
#include "fetcher/trouble.h"
#include "fetcher/url.h"

namespace hearth::fetcher {

enum class Verdict {
  kGoOn,
  kHold,  // of bytes only: they were not taken, and come again after Exchange::resume()
  kStop,  // nothing more is wanted
};

// Who asked a server something. Called from within Connections::start() and step() and
// Exchange::resume(), and must not destroy an exchange there.
class Listener {
 public:
  virtual ~Listener() = default;

  // Of each redirect before it is followed; kGoOn or kStop.
  virtual Verdict on_redirect(const ResponseHead&) { return Verdict::kGoOn; }
  // Of the answer at the end of all redirects, which came from `url`; kGoOn or kStop.
  virtual Verdict on_head(const ResponseHead& head, const Url& url) = 0;
  virtual Verdict on_bytes(std::span<const std::byte> bytes) = 0;

  struct Ended {
    bool whole = false;              // all that the server had announced
    std::optional<Trouble> trouble;  // nothing: whole, or stopped by a verdict
  };
  // The last call.
  virtual void on_end(Ended ended) = 0;
};

}  // namespace hearth::fetcher
