// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "base/bytes.h"
#include "base/event_loop_asio.h"
#include "base/result.h"
#include "http/message.h"

namespace hearth::http {

// How one request is answered: either one respond(), or begin_stream(), write() any number of
// times, end_stream(). Belongs to the loop; lives until its handler's task has ended. One call at a
// time: await each before the next.
//
// Calls out of that order fail with kInternal and send nothing. A handler that ends without an
// answer gets a 500 sent for it, one that leaves its stream open has the connection cut, so that
// the client can tell; both are logged as errors.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const HttpRequest& request() const = 0;

  // What has come of a body that is streamed (ServerConfig::body_choice), in order, at most some
  // 128 KiB; empty after its last byte, and for all other requests. The client is invited to send
  // it (100 Continue) by the first call, and held up while nobody calls. A body that is not read to
  // its end costs the connection. Errors: kCancelled, when the client has gone; kInvalid, when the
  // body came too slowly or is no proper HTTP: a handler that then ends without an answer leaves it
  // to the server (408, 400).
  virtual Task<Result<std::string>> next_body_chunk() = 0;

  // Sends the whole answer; Content-Length, Connection and Date are added. A HEAD gets the headers
  // only. Errors: kCancelled when the client has gone.
  virtual Task<Result<>> respond(HttpResponse response) = 0;

  // Status and headers of an answer whose length is not known yet: chunked, or up to the end of the
  // connection for HTTP/1.0. They share a packet with the first write() if that comes in the same
  // turn of the loop, and else go out by themselves. Errors: kCancelled when the client has gone.
  virtual Task<Result<>> begin_stream(int status, Headers headers) = 0;

  // Sends `bytes` as they are, as one chunk; returns when the socket took them, so a slow client
  // slows its producer and nobody else. Empty `bytes` send nothing. Errors: kCancelled (gone, or
  // slower than the write time-out).
  virtual Task<Result<>> write(std::string bytes) = 0;
  virtual Task<Result<>> end_stream() = 0;

  // True once the client closed its connection (also when it closed only its sending half: nobody
  // who still wants an answer does that to an HTTP/1.1 server) or it was cut off.
  virtual bool client_gone() const = 0;

  // Called on the loop, at most once, when client_gone() becomes true before the answer was
  // complete; replaces an earlier callback. An empty function takes it back. With a client that has
  // gone already it is called in the loop's next turn. Leaving is noticed at once, unless the
  // client has sent more than 64 KiB ahead: then when it next matters to a write().
  virtual void on_client_gone(std::function<void()> callback) = 0;
};

// Words what the server answers by itself. `head` is what could be read of the request (method,
// path, query, and the header fields that have come), null when that is nothing. The status stays
// as given; Retry-After is added to a 503 that has none.
using ErrorWriter =
    std::function<HttpResponse(int status, std::string_view message, const HttpRequest* head)>;

// Looks at a request whose body is still to come, before it is invited (100 Continue) or read.
// `head` is all but the body. What it returns is the answer: the handler never sees the request,
// and the connection ends. Nothing: the body is read, and the handler is called.
using HeadCheck = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;

// How the body of this request is to come; head_check has the say before it. Must not throw.
using BodyChoice = std::function<BodyDelivery(const HttpRequest& head)>;

struct ServerConfig {
  std::string host = "127.0.0.1";      // an address or a name; "0.0.0.0" and "::" for all
  std::uint16_t port = 0;              // 0: any free one
  Bytes max_header = Bytes{64 << 10};  // for the request line, and again for the header fields
  Bytes max_body = Bytes{std::uint64_t{64} << 20};  // of one that comes whole

  // For all bodies in memory at once, less the first 64 KiB of each; at least max_body. One that
  // does not fit gets a 503.
  Bytes max_bodies = Bytes{std::uint64_t{512} << 20};

  // When all places are taken, a connection that has been idle for yield_after or longer is closed
  // for the next one, which gets a 503 if there is none.
  int max_connections = 4096;
  int max_connections_per_address = 256;  // of IPv6, per /64. 0: no limit. Never for loopback
  std::chrono::milliseconds yield_after = std::chrono::seconds{1};

  std::chrono::milliseconds header_timeout = std::chrono::seconds{30};  // from its first byte on
  std::chrono::milliseconds idle_timeout = std::chrono::seconds{75};    // between two requests
  std::chrono::milliseconds write_timeout = std::chrono::seconds{60};   // without any progress

  // A body may pause for body_timeout at most, and take that long in all, plus the time that what
  // has come needs at min_body_rate bytes per second. Of one that is streamed only the time counts
  // in which its handler waits for it.
  std::chrono::milliseconds body_timeout = std::chrono::seconds{30};
  Bytes min_body_rate = Bytes{16 << 10};

  ErrorWriter error_writer;  // none: {"error":{"message":…,"type":…}}
  HeadCheck head_check;      // none: every body is read that keeps within the limits
  BodyChoice body_choice;    // none: every body comes whole
};

// An HTTP/1.1 server on the event loop: keep-alive, chunked answers, limits, prompt notice of
// clients that leave. What it cannot parse or has no room for it answers itself (400, 408, 413,
// 414, 431, 501, 503, 505), worded by error_writer, and closes; a connection that never sends a
// byte is closed without an answer after header_timeout. Everything else goes to the handler, also
// unknown paths and methods, but for bodies that head_check does not want.
//
// Belongs to the loop, listen() and the destructor included.
class Server {
 public:
  // Runs once per request; an exception that escapes it becomes a 500 and a log line. The exchange
  // outlives the task, also when the client leaves; the task is never destroyed in the middle.
  using Handler = std::function<Task<void>(Exchange&)>;

  virtual ~Server() = default;

  // The address in use: "127.0.0.1:11435".
  virtual std::string address() const = 0;
  virtual std::uint16_t port() const = 0;
  virtual int connections() const = 0;  // open ones, with those that are just being refused

  // Stops accepting and closes idle connections; exchanges in flight may end until `deadline`, then
  // their connections are cut (which on_client_gone() tells their handlers). Returns when no
  // connection is left. Once, and awaited before the server is destroyed.
  virtual Task<void> stop(TimePoint deadline) = 0;

  // Errors: kConflict when the address is in use, kInvalid when it cannot be parsed or resolved,
  // kUnavailable otherwise.
  static Result<std::unique_ptr<Server>> listen(AsioEventLoop& loop, ServerConfig config,
                                                Handler handler);
};

}  // namespace hearth::http
