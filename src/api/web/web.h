// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/call.h"
#include "base/async.h"

// The dashboard as files: nothing here knows what it shows.
namespace hearth::api::web {

// Whether a request for "/" comes from somebody who looks at pages; others get a line of text.
bool wants_page(const http::HttpRequest& request);

// The file at `path`, for a route or in place of one. 404 where there is none, 304 where the client
// has it, 406 where it takes no gzip: files are kept in that form alone.
http::HttpResponse file_answer(const http::HttpRequest& request, std::string_view path);

// GET /ui/{rest}
Task<void> file(Call call);

}  // namespace hearth::api::web
