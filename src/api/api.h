// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "api/call.h"
#include "api/router.h"
#include "base/async.h"
#include "front/access_rules.h"
#include "http/message.h"

namespace hearth::api {

// Answers one request, whatever it asks: the handler for http::Server. Unknown paths, wrong
// methods, foreign origins and exceptions become errors in the dialect of the path. All three
// references outlive the task.
Task<void> handle(front::Service& service, http::Exchange& exchange, const ApiOptions& options);
Task<void> handle(front::Service& service, http::Exchange& exchange);

// What a request is answered with for what stands in its head: where it comes from, what it asks
// for and whose key it shows. Nothing where handle() would call a route, so that its body is worth
// reading. For http::ServerConfig::head_check; handle() looks again, as all this may have changed
// while the body came.
std::optional<http::HttpResponse> answer_to_head(front::Service& service,
                                                 const http::HttpRequest& head);

// How a request's body reaches its route. For http::ServerConfig::body_choice.
http::BodyDelivery body_delivery(const http::HttpRequest& head);

// Words what the HTTP server answers by itself, in the dialect of the path, and so that pages that
// may use this server can read it; OpenAI's and for no page when `head` is null.
http::HttpResponse http_error(const front::AccessRules& rules, int status, std::string_view message,
                              const http::HttpRequest* head);

// The same, and counts it. For http::ServerConfig::error_writer.
http::HttpResponse refused(front::Service& service, int status, std::string_view message,
                           const http::HttpRequest* head);

// All routes there are, in the order in which they are tried.
std::span<const Route> routes();

}  // namespace hearth::api
