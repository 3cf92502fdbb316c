// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/event_loop_asio.h"
#include "base/sync.h"
#include "http/server.h"

namespace hearth::http {

// Counts something that happens on the loop, for a test that waits for it elsewhere.
class Tally {
 public:
  void add() {
    const std::lock_guard lock{mutex_};
    ++count_;
    changed_.notify_all();
  }

  // False when it did not come to `count` within ten seconds.
  bool reaches(int count) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{10}, [&] { return count_ >= count; });
  }

  int count() {
    const std::lock_guard lock{mutex_};
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// A real server with a handler that shows every way to answer, on a loop thread of its own:
//   /echo             method, path, query and body
//   /stream?n=N       N pieces
//   /hang             one piece, then nothing until the client leaves
//   /mute             headers, then nothing until the client leaves
//   /wait             no answer at all until the client leaves
//   /flood            writes until a write fails
//   /big?bytes=N      N bytes in one answer
//   /upload           takes a streamed body; ?pieces=N: no more of it, ?slow: after a while
//   /empty /throw /silent /unfinished
class TestServer {
 public:
  explicit TestServer(ServerConfig config = {}) {
    Result<std::unique_ptr<Server>> server = Server::listen(
        loop_, std::move(config), [this](Exchange& exchange) { return route(exchange, *this); });
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
    port_ = server_->port();
    thread_ = std::thread{[this] { loop_.run(); }};
  }

  ~TestServer() {
    if (!stopped_.valid()) stop(std::chrono::seconds{0});
    EXPECT_EQ(stopped_.wait_for(std::chrono::seconds{10}), std::future_status::ready);
    loop_.post([this] { loop_.stop(); });
    thread_.join();
    server_.reset();
  }

  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::uint16_t port() const { return port_; }
  AsioEventLoop& loop() { return loop_; }

  // Begins to stop; the future is ready when the server has.
  std::shared_future<void> stop(Duration grace) {
    auto promise = std::make_shared<std::promise<void>>();
    stopped_ = promise->get_future().share();
    loop_.post(
        [this, promise, grace] { loop_.spawn(finish(*server_, loop_.now() + grace, promise)); });
    return stopped_;
  }

  // Runs on the loop and returns its result here.
  int connections() {
    std::promise<int> count;
    loop_.post([&] { count.set_value(server_->connections()); });
    return count.get_future().get();
  }

  // False when the server still has connections after ten seconds.
  bool empties() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (connections() > 0) {
      if (std::chrono::steady_clock::now() > give_up) return false;
    }
    return true;
  }

  Tally started;                            // handlers that have begun
  Tally ended;                              // handlers that have ended
  Tally gone;                               // calls of on_client_gone
  Tally wrote;                              // successful writes of /flood
  std::atomic<std::uint64_t> uploaded = 0;  // bytes that /upload has taken
  std::atomic<std::size_t> largest = 0;     // of its pieces
  TimePoint gone_at;                        // of the last one; read it after gone.reaches()
  TimePoint first_byte;                     // of the last request; read it after ended.reaches()

 private:
  static Task<void> finish(Server& server, TimePoint deadline,
                           std::shared_ptr<std::promise<void>> promise) {
    co_await server.stop(deadline);
    promise->set_value();
  }

  static Task<void> route(Exchange& exchange, TestServer& world);
  static Task<void> stream(Exchange& exchange);
  static Task<void> hang(Exchange& exchange, TestServer& world);
  static Task<void> flood(Exchange& exchange, TestServer& world);
  static Task<void> upload(Exchange& exchange, TestServer& world);

  AsioEventLoop loop_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
  std::shared_future<void> stopped_;
};

inline Task<void> TestServer::stream(Exchange& exchange) {
  const int n = std::stoi(exchange.request().parameter("n").value_or("3"));
  Headers none;
  co_await exchange.begin_stream(200, std::move(none));
  for (int i = 0; i < n; ++i) {
    std::string piece = "piece " + std::to_string(i) + "\n";
    const Result<> sent = co_await exchange.write(std::move(piece));
    if (!sent) co_return;
  }
  co_await exchange.end_stream();
}

inline Task<void> TestServer::hang(Exchange& exchange, TestServer& world) {
  Notify left{world.loop_};
  exchange.on_client_gone([&left, &world] {
    world.gone_at = world.loop_.now();
    world.gone.add();
    left.notify_all();
  });
  const std::string path = exchange.request().path;
  Headers none;
  if (path != "/wait") co_await exchange.begin_stream(200, std::move(none));
  if (path == "/hang") {
    std::string hello = "hello\n";
    co_await exchange.write(std::move(hello));
  }
  while (!exchange.client_gone()) co_await left.wait();
  HttpResponse response = HttpResponse::text(200, "too late");
  std::string piece = "too late";
  Task<Result<>> attempt =
      path == "/wait" ? exchange.respond(std::move(response)) : exchange.write(std::move(piece));
  const Result<> late = co_await std::move(attempt);
  EXPECT_EQ(late.error().code(), ErrorCode::kCancelled);
}

inline Task<void> TestServer::flood(Exchange& exchange, TestServer& world) {
  exchange.on_client_gone([&world] { world.gone.add(); });
  Headers none;
  co_await exchange.begin_stream(200, std::move(none));
  while (true) {
    std::string piece(std::size_t{64} << 10, 'x');
    const Result<> sent = co_await exchange.write(std::move(piece));
    if (!sent) {
      EXPECT_EQ(sent.error().code(), ErrorCode::kCancelled);
      break;
    }
    world.wrote.add();
  }
}

inline Task<void> TestServer::upload(Exchange& exchange, TestServer& world) {
  exchange.on_client_gone([&world] { world.gone.add(); });
  const auto most = std::stoul(exchange.request().parameter("pieces").value_or("1000000000"));
  std::string end = "all of it";
  for (std::size_t n = 0; end == "all of it"; ++n) {
    if (n == most) end = "enough";
    if (n == most) break;
    const Result<std::string> piece = co_await exchange.next_body_chunk();
    if (!piece) end = piece.error().code() == ErrorCode::kCancelled ? "gone" : "bad";
    if (!piece || piece->empty()) break;
    world.uploaded += piece->size();
    world.largest = std::max(world.largest.load(), piece->size());
    Notify never{world.loop_};
    const bool slow = exchange.request().parameter("slow").has_value();
    if (slow) (void)co_await never.wait_until(world.loop_.now() + std::chrono::milliseconds{120});
  }
  if (end == "gone" || end == "bad") co_return;
  end = std::to_string(world.uploaded) + ", " + end;
  HttpResponse response = HttpResponse::text(200, std::move(end));
  co_await exchange.respond(std::move(response));
}

inline Task<void> TestServer::route(Exchange& exchange, TestServer& world) {
  const HttpRequest& request = exchange.request();
  world.started.add();
  world.first_byte = request.first_byte;
  if (request.path == "/echo") {
    std::string text =
        request.method + " " + request.path + "?" + request.query + "\n" + request.body;
    HttpResponse response = HttpResponse::text(200, std::move(text));
    co_await exchange.respond(std::move(response));
  } else if (request.path == "/big") {
    const auto bytes = std::stoul(request.parameter("bytes").value_or("0"));
    HttpResponse response = HttpResponse::text(200, std::string(bytes, 'b'));
    co_await exchange.respond(std::move(response));
  } else if (request.path == "/stream") {
    co_await stream(exchange);
  } else if (request.path == "/hang" || request.path == "/mute" || request.path == "/wait") {
    co_await hang(exchange, world);
  } else if (request.path == "/flood") {
    co_await flood(exchange, world);
  } else if (request.path == "/upload") {
    co_await upload(exchange, world);
  } else if (request.path == "/empty") {
    HttpResponse response;
    response.status = 204;
    co_await exchange.respond(std::move(response));
  } else if (request.path == "/throw") {
    throw std::runtime_error{"thrown on purpose"};
  } else if (request.path == "/unfinished") {
    Headers none;
    co_await exchange.begin_stream(200, std::move(none));
    std::string piece = "a piece";
    co_await exchange.write(std::move(piece));
  }
  world.ended.add();
}

}  // namespace hearth::http
