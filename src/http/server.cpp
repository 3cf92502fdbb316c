// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <utility>
#include <vector>

#include "http/listener.h"
#include "http/session.h"

namespace hearth::http {
namespace {

// Connections beyond the limit that are told so at the same time; further ones are just closed.
constexpr int kMaxRefusing = 128;

void on_accept(const std::shared_ptr<ServerCore>& core, Fd socket, const Address& peer) {
  auto connection = std::make_shared<Connection>(core->loop, std::move(socket), peer.text(),
                                                 std::span<char>{core->scratch});
  auto place = core->admission.admit(*connection, peer, core->loop.now());
  if (!place && core->refusing >= kMaxRefusing) return;
  Task<void> session = place ? serve(core, std::move(connection), std::move(place))
                             : refuse(core, std::move(connection));
  core->loop.spawn(std::move(session));
}

class HttpServer final : public Server {
 public:
  HttpServer(std::shared_ptr<ServerCore> core, std::shared_ptr<Listener> listener)
      : core_{std::move(core)}, listener_{std::move(listener)} {
    listener_->start([core = core_](Fd socket, const Address& peer) {
      on_accept(core, std::move(socket), peer);
    });
  }

  ~HttpServer() override {
    listener_->close();
    core_->stopping = true;
    cut_connections();
  }

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string address() const override { return listener_->address().text(); }
  std::uint16_t port() const override { return listener_->address().port(); }
  int connections() const override { return static_cast<int>(core_->connections.size()); }

  Task<void> stop(TimePoint deadline) override {
    listener_->close();
    core_->stopping = true;
    for (const auto& connection : snapshot()) {
      if (connection->idle()) connection->cut();
    }
    bool in_time = true;
    while (!core_->connections.empty() && in_time) {
      in_time = co_await core_->changed.wait_until(deadline);
    }
    cut_connections();
    while (!core_->connections.empty()) co_await core_->changed.wait();
  }

 private:
  // Cutting a connection runs its handler's callback, which may end it.
  std::vector<std::shared_ptr<Connection>> snapshot() const {
    return {core_->connections.begin(), core_->connections.end()};
  }

  void cut_connections() {
    for (const auto& connection : snapshot()) connection->cut();
  }

  std::shared_ptr<ServerCore> core_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(AsioEventLoop& loop, ServerConfig config,
                                               Handler handler) {
  Result<std::shared_ptr<Listener>> listener = Listener::bind(loop, config.host, config.port);
  if (!listener) return Failed{std::move(listener).error()};
  auto core = std::make_shared<ServerCore>(loop, std::move(config), std::move(handler));
  std::unique_ptr<Server> server =
      std::make_unique<HttpServer>(std::move(core), *std::move(listener));
  return server;
}

}  // namespace hearth::http
