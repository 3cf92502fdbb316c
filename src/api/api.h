// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "api/router.h"
#include "base/async.h"

namespace hearth::api {

// Answers one request, whatever it asks: the handler for http::Server. Unknown paths, wrong
// methods, foreign origins and exceptions become errors in the dialect of the path. All three
// references outlive the task.
Task<void> handle(front::Service& service, http::Exchange& exchange, const ApiOptions& options);
Task<void> handle(front::Service& service, http::Exchange& exchange);

// Words what the HTTP server answers by itself, in the dialect of the path; OpenAI's when `head` is
// null. For http::ServerConfig::error_writer.
http::HttpResponse http_error(int status, std::string_view message, const http::HttpRequest* head);

// All routes there are, in the order in which they are tried.
std::span<const Route> routes();

}  // namespace hearth::api
