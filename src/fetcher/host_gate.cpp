// SPDX-License-Identifier: Apache-2.0
#include "fetcher/host_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "fetcher/address.h"

namespace hearth::fetcher {
namespace {

// Behind a proxy we do not see addresses, so names that stand for near machines are refused too.
bool is_local_name(std::string_view host) {
  constexpr std::array<std::string_view, 5> kSuffixes{"localhost", "local", "internal", "lan",
                                                      "home.arpa"};
  if (host.ends_with('.')) host.remove_suffix(1);
  return std::ranges::any_of(kSuffixes, [&host](std::string_view suffix) {
    std::string_view rest = host;
    if (!rest.ends_with(suffix)) return false;
    rest.remove_suffix(suffix.size());
    return rest.empty() || rest.ends_with('.');
  });
}

Result<Reach> public_only(const Url& url) {
  const std::optional<Address> address = Address::parse(url.host());
  if (address && !address->is_public()) return refuse_private(url, address->text());
  if (is_local_name(url.host())) return refuse_private(url, "");
  return Reach::kPublic;
}

// How a rule would name this host.
std::string as_rule(const Url& url) {
  return url.scheme() == "http" ? "http://" + url.server() : url.server();
}

}  // namespace

Result<HostGate> HostGate::of(const std::vector<std::string>& rules) {
  HostGate gate;
  for (const std::string& text : rules) {
    Result<HostRule> rule = HostRule::parse(text);
    if (!rule) return Failed{std::move(rule).error().during("pull_hosts")};
    gate.rules_.push_back(*std::move(rule));
  }
  return gate;
}

HostGate::Match HostGate::match(const Url& url) const {
  Match best = Match::kNone;
  for (const HostRule& rule : rules_) {
    if (!rule.matches(url.scheme(), url.host(), url.port())) continue;
    best = std::max(best, rule.names_one_host() ? Match::kNamed : Match::kSome);
  }
  return best;
}

Result<Reach> HostGate::first(const Url& url) const {
  switch (match(url)) {
    case Match::kNamed:
      return Reach::kAnywhere;
    case Match::kSome:
      return public_only(url);
    case Match::kNone:
      break;
  }
  return fail(ErrorCode::kInvalid,
              fmt::format("{} is not among the hosts that models may come from; add \"{}\" to "
                          "`pull_hosts` if it should be",
                          url.server(), as_rule(url)));
}

Result<Reach> HostGate::redirect(const Url& from, const Url& to) const {
  if (from.scheme() == "https" && to.scheme() == "http") {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} sent us on to {} without encryption, which is refused",
                            from.server(), to.server()));
  }
  const Match found = match(to);
  if (found == Match::kNamed) return Reach::kAnywhere;
  if (found == Match::kSome || to.scheme() == "https") {
    Result<Reach> reach = public_only(to);
    if (reach) return reach;
    return Failed{std::move(reach).error().during(fmt::format("{} sent us on", from.server()))};
  }
  return fail(
      ErrorCode::kInvalid,
      fmt::format("{} sent us on to {}, which has no encryption; add \"{}\" to `pull_hosts` "
                  "if that is meant",
                  from.server(), to.server(), as_rule(to)));
}

Failed refuse_private(const Url& url, const std::string& address) {
  const std::string where =
      address.empty() || address == url.host() ? "" : fmt::format(" ({})", address);
  return fail(ErrorCode::kInvalid,
              fmt::format("{}{} is not on the internet but in a private network, which only a rule "
                          "that names it allows; add \"{}\" to `pull_hosts` if that is meant",
                          url.server(), where, as_rule(url)));
}

}  // namespace hearth::fetcher
