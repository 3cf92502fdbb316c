// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "http/message.h"

namespace hearth::api {

// Keeps web pages from using a server on their visitor's machine. A page that rebinds its own DNS
// name to this address still sends that name as Host, and any page of another site sends its
// Origin; so both must be names that nobody can register: single labels, localhost, *.localhost,
// *.local, *.internal, and `extra`. A Host may also be any address, an Origin only a loopback one
// or the Host's own.
//
// Returns what is wrong, or nothing.
std::optional<std::string> refusal_of(const http::HttpRequest& request,
                                      std::span<const std::string> extra);

}  // namespace hearth::api
