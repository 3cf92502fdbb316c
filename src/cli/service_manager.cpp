// SPDX-License-Identifier: Apache-2.0
#include "cli/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/fd.h"

namespace hearth::cli {
namespace {

using Environment = std::map<std::string, std::string>;

std::string value_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string{} : found->second;
}

std::optional<std::int64_t> number_of(const Environment& environment, const std::string& name) {
  const std::string text = value_of(environment, name);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// WATCHDOG_PID names the process that is meant, in case the variables were inherited from it.
std::optional<Duration> watchdog_of(const Environment& environment) {
  const auto microseconds = number_of(environment, "WATCHDOG_USEC");
  if (!microseconds || *microseconds <= 0) return std::nullopt;
  const bool is_for_any = !environment.contains("WATCHDOG_PID");
  if (!is_for_any && number_of(environment, "WATCHDOG_PID") != ::getpid()) return std::nullopt;
  return std::chrono::microseconds{*microseconds};
}

}  // namespace

ServiceManager::ServiceManager(EventLoop& loop, const Environment& environment)
    : loop_{loop}, socket_{value_of(environment, "NOTIFY_SOCKET")} {
  if (!socket_.empty()) watchdog_ = watchdog_of(environment);
}

ServiceManager::~ServiceManager() {
  if (next_feed_) loop_.cancel(*next_feed_);
}

void ServiceManager::ready(const std::string& status) {
  say("READY=1\nSTATUS=" + status);
  if (watchdog_) feed();
}

void ServiceManager::stopping() { say("STOPPING=1\nSTATUS=Replies under way may end"); }

void ServiceManager::feed() {
  say("WATCHDOG=1");
  next_feed_ = loop_.call_at(loop_.now() + *watchdog_ / 2, [this] { feed(); });
}

void ServiceManager::say(const std::string& message) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  // A name in the abstract namespace is written with @ and sent with a zero byte.
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const Fd sender{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!sender) return;
  (void)::sendto(sender.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace hearth::cli
