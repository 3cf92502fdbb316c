// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>

#include "api/admin/admin.h"
#include "api/authentication.h"

namespace hearth::api::admin {
namespace {

constexpr std::chrono::seconds kKeepAlive{15};

// Ends the subscription when the client goes; must not outlive either.
class SubscriptionWatch {
 public:
  SubscriptionWatch(http::Exchange& exchange, front::EventBus::Subscription& subscription)
      : exchange_{exchange} {
    exchange.on_client_gone([&subscription] { subscription.close(); });
    if (exchange.client_gone()) subscription.close();
  }
  ~SubscriptionWatch() { exchange_.on_client_gone({}); }
  SubscriptionWatch(const SubscriptionWatch&) = delete;
  SubscriptionWatch& operator=(const SubscriptionWatch&) = delete;

 private:
  http::Exchange& exchange_;
};

std::string event_text(const front::LiveEvent& event) {
  return fmt::format("event: {}\nid: {}\ndata: {}\n\n", event.type, event.id, event.data);
}

Task<void> relay(Call call, front::EventBus::Subscription& subscription) {
  std::string greeting = ": live events of this server\n\n";
  Result<> sent = co_await call.exchange.write(std::move(greeting));
  while (sent && !subscription.closed()) {
    const auto event = co_await subscription.next(call.options.clock->now() + kKeepAlive);
    if (!event && subscription.closed()) break;
    if (!is_current(call.caller, call.service.keys())) break;
    std::string text = event ? event_text(*event) : std::string{": still here\n\n"};
    sent = co_await call.exchange.write(std::move(text));
  }
  if (sent) (void)co_await call.exchange.end_stream();
}

}  // namespace

Task<void> events(Call call) {
  http::Headers headers{{"Content-Type", "text/event-stream; charset=utf-8"},
                        {"Cache-Control", "no-cache"}};
  if (call.request().method == "HEAD") {
    http::HttpResponse response{200, std::move(headers), {}};
    (void)co_await call.exchange.respond(std::move(response));
    co_return;
  }
  front::EventBus::Subscription subscription{call.service.events()};
  const SubscriptionWatch watch{call.exchange, subscription};
  const Result<> begun = co_await call.exchange.begin_stream(200, std::move(headers));
  if (begun) co_await relay(call, subscription);
}

}  // namespace hearth::api::admin
