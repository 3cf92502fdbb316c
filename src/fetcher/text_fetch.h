// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "fetcher/connections.h"
#include "wire/fetch_messages.h"

namespace hearth::fetcher {

// Fetches a small text; blocks until it is there. Connections that fail are begun anew a few times,
// an answer of any status is an answer.
// Errors: kInvalid (a refused URL, host or redirect), kUnsupported (too long, or encoded),
// kUnavailable.
Result<wire::FetchedText> fetch_text(Connections& connections, const wire::FetchText& what,
                                     const wire::FetchRules& rules);

}  // namespace hearth::fetcher
