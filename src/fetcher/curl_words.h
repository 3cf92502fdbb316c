// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <string>

#include "base/bytes.h"
#include "fetcher/trouble.h"
#include "fetcher/url.h"

namespace hearth::fetcher {

// How a failed transfer stood.
struct Circumstances {
  const Url& url;
  std::string words;  // the library's, perhaps empty
  int os_error = 0;
  Bytes body;  // that came
};

// What a failure means, in words that hold no more of the URL than its host.
Trouble describe(CURLcode code, const Circumstances& at);

}  // namespace hearth::fetcher
