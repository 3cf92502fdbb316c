// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/pull_rules.h"

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "base/version.h"
#include "layers/artifact/source/http_url.h"

namespace hearth::front {
namespace {

std::string value_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string{} : found->second;
}

std::string token_file(const Environment& environment) {
  if (std::string path = value_of(environment, "HF_TOKEN_PATH"); !path.empty()) return path;
  if (std::string home = value_of(environment, "HF_HOME"); !home.empty()) return home + "/token";
  if (std::string cache = value_of(environment, "XDG_CACHE_HOME"); !cache.empty()) {
    return cache + "/huggingface/token";
  }
  const std::string home = value_of(environment, "HOME");
  return home.empty() ? std::string{} : home + "/.cache/huggingface/token";
}

}  // namespace

Result<> PullRules::check(const ModelSource& source) const {
  if (source.configured) return {};
  const HttpUrl& server = source.host;
  const bool allowed = std::ranges::any_of(hosts, [&server](const HostRule& rule) {
    return rule.matches(server.scheme, server.host, server.port);
  });
  if (allowed) return {};
  return Failed{Error{ErrorCode::kInvalid, "models are not pulled from \"" + server.origin() +
                                               "\"; the option pull_hosts says from where they are"}
                    .at("source")};
}

PullRules pull_rules(const Config& config) {
  PullRules rules;
  rules.servers = {config.huggingface_endpoint, config.ollama_registry};
  wire::FetchRules& fetch = rules.fetch;
  fetch.hosts = config.pull_hosts;
  for (const std::string& endpoint : {config.huggingface_endpoint, config.ollama_registry}) {
    if (const Result<HttpUrl> url = HttpUrl::parse(endpoint)) fetch.hosts.push_back(url->origin());
  }
  for (const std::string& host : fetch.hosts) {
    if (const Result<HostRule> rule = HostRule::parse(host)) rules.hosts.push_back(*rule);
  }
  fetch.user_agent = "hearth/" + std::string{version()};
  fetch.connections = static_cast<int>(config.pull_connections);
  fetch.bytes_per_second = Bytes{static_cast<std::uint64_t>(config.pull_rate_mib) << 20};
  constexpr std::int64_t kLongestStall = 86'400;
  fetch.stall_ms = static_cast<int>(std::min(config.pull_stall_seconds, kLongestStall) * 1000);
  return rules;
}

std::string hugging_face_token(const Environment& environment) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (std::string token = value_of(environment, name); !token.empty()) return token;
  }
  const std::string path = token_file(environment);
  return path.empty() ? path : std::string{trimmed(read_small_file(path), " \t\r\n")};
}

}  // namespace hearth::front
