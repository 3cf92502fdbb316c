// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "http/message.h"

// What lets pages of an allowed origin read answers
// (https://fetch.spec.whatwg.org/#http-cors-protocol). There are no cookies here, so credentials
// are never allowed: keys travel in headers.
namespace hearth::api {

// For every answer, errors and streams too; `origin` is such a page's, else empty. Who asks without
// one is told by Vary that others get another answer: a cache between them has to know.
http::Headers cors_headers(const std::string& origin);

// The question that a browser asks before a request that no plain form could send.
bool is_preflight(const http::HttpRequest& request);

// What `request` wants to send is what may be sent: the real request is looked at when it comes.
http::HttpResponse preflight_answer(const http::HttpRequest& request);

}  // namespace hearth::api
