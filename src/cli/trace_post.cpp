// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_post.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "http/client.h"

namespace hearth::cli {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::string_view kScheme = "http://";

}  // namespace

Result<traces::PostAnswer> post_traces(const traces::Post& post) {
  const std::string_view endpoint = post.endpoint;
  if (!endpoint.starts_with(kScheme)) {
    return fail(ErrorCode::kInvalid, "traces can only be sent to http:// addresses");
  }
  const std::size_t path = std::min(endpoint.find('/', kScheme.size()), endpoint.size());
  const auto client = http::Client::to(endpoint.substr(0, path), kHttpPort);
  if (!client) return Failed{client.error()};
  http::Client::Call call;
  call.method = "POST";
  call.target = path == endpoint.size() ? "/" : std::string{endpoint.substr(path)};
  for (const auto& [name, value] : post.headers) call.headers.push_back({name, value});
  call.body = post.body;
  call.connect_timeout = post.timeout;
  call.read_timeout = post.timeout;
  auto response = client->call(call);
  if (!response) return Failed{std::move(response).error()};
  traces::PostAnswer answer;
  answer.status = response->status;
  if (const auto header = response->header("Retry-After")) answer.retry_after = *header;
  answer.body = std::move(response->body);
  return answer;
}

}  // namespace hearth::cli
