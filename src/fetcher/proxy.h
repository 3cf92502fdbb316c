// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "fetcher/url.h"

namespace hearth::fetcher {

// The value of an environment variable; empty when it is not set.
using Environment = std::function<std::string(const char* name)>;

// The process's own.
std::string environment_variable(const char* name);

// The proxy through which `url` is asked, empty for none: http_proxy or HTTP_PROXY, https_proxy or
// HTTPS_PROXY, else all_proxy or ALL_PROXY. Not for what no_proxy or NO_PROXY lists: "*", hosts
// with all below them, addresses, networks ("10.0.0.0/8"), each with a port or without.
std::string proxy_for(const Url& url, const Environment& environment);

// Whether `list`, as of no_proxy, holds it.
bool goes_direct(const Url& url, std::string_view list);

}  // namespace hearth::fetcher
