// SPDX-License-Identifier: Apache-2.0
#include "http/session.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "base/log.h"
#include "http/exchange.h"
#include "http/request_head.h"
#include "http/request_parser.h"
#include "http/response_head.h"

namespace hearth::http {
namespace {

using std::chrono::milliseconds;

// How long an answer that closes the connection waits for the client to close its side. Closing
// while bytes of the client are still under way would reset the connection and could destroy the
// answer.
constexpr milliseconds kLinger{1000};

// How long a connection that is one too many is listened to, so that it is refused in its own
// dialect and to its own origin.
constexpr milliseconds kFirstWords{250};

constexpr const char* kRetryAfterS = "1";

enum class Next { kAgain, kClose };

// A connection and its place among those served.
struct Guest {
  ServerCore& core;
  Connection& connection;
  Admission::Place& place;

  void become_idle() {
    connection.become_idle();
    place.become_idle(core.loop.now());
  }
  void become_busy() {
    connection.become_busy();
    place.become_busy();
  }
};

// What came of reading a request: the request, or an answer that ends the connection, or neither
// because nobody is there any more.
struct Incoming {
  std::optional<HttpRequest> request;  // beside an answer: what is known of it
  std::optional<HttpResponse> last_answer;
  Framing framing;
  std::unique_ptr<BodyStream> body;  // where it is streamed
};

// Empty lines between requests are tolerated, as HTTP/1.1 asks.
void skip_empty_lines(Connection& connection) {
  const std::string_view input = connection.input();
  const std::size_t blank = std::min(input.find_first_not_of("\r\n"), input.size());
  if (blank > 0) connection.consume(blank);
}

// False when the client left, stayed silent for too long, or the server stops.
Task<bool> await_request(Guest& guest, milliseconds patience) {
  ServerCore& core = guest.core;
  Connection& connection = guest.connection;
  const TimePoint deadline = core.loop.now() + patience;
  if (connection.gone()) co_return false;
  skip_empty_lines(connection);
  guest.become_idle();
  while (connection.input().empty()) {
    if (core.stopping) co_return false;
    const Connection::Arrival arrival = co_await connection.more_input(deadline);
    if (arrival != Connection::Arrival::kBytes) co_return false;
    skip_empty_lines(connection);
  }
  guest.become_busy();
  co_return true;
}

constexpr const char* kNoRoom = "Too many large requests at once.";
constexpr const char* kFailed = "The server failed to answer this request.";

HttpResponse worded(const ServerCore& core, const Refusal& refusal, const HttpRequest* head) {
  const ErrorWriter& writer = core.config.error_writer;
  HttpResponse response = writer ? writer(refusal.status, refusal.message, head)
                                 : error_response(refusal.status, refusal.message);
  response.status = refusal.status;
  if (refusal.status == 503 && !response.header("Retry-After")) {
    response.headers.push_back({"Retry-After", kRetryAfterS});
  }
  return response;
}

// What the head alone is answered with; nothing where the body is wanted.
std::optional<HttpResponse> answer_to_head(const ServerCore& core, const HttpRequest& head) {
  if (!core.config.head_check) return std::nullopt;
  try {
    return core.config.head_check(head);
  } catch (const std::exception& escaped) {
    log::error("http.head_check_failed",
               {{"method", head.method}, {"path", head.path}, {"problem", escaped.what()}});
  }
  return worded(core, {500, kFailed}, &head);
}

// Reads one request. What its body takes is charged to `share` all the while.
class Reading {
 public:
  Reading(ServerCore& core, Connection& connection, BodyBudget::Share& share)
      : core_{core},
        connection_{connection},
        share_{share},
        parser_{std::make_unique<RequestParser>(core.config.max_header, core.config.max_body,
                                                core.config.body_choice)},
        begun_{core.loop.now()},
        first_byte_{connection.arrival()} {}

  Task<Incoming> run() {
    auto phase = RequestParser::Phase::kHeader;
    while (true) {
      const auto progress = parser_->feed(connection_.input());
      if (!progress) co_return refused(progress.error());
      connection_.consume(progress->used);
      if (!share_.grow_to(parser_->body_held())) co_return refused({503, kNoRoom});
      if (phase == RequestParser::Phase::kHeader && progress->phase != phase) note_origin();
      if (progress->phase == RequestParser::Phase::kComplete) break;
      if (std::exchange(phase, progress->phase) != progress->phase) {
        auto answer = answer_to_head(core_, parser_->request());
        if (answer) co_return answered(*std::move(answer));
        if (parser_->streamed()) co_return announced();
        co_await invite_body();
        if (!connection_.input().empty()) continue;
      }
      const Connection::Arrival arrival = co_await connection_.more_input(deadline(phase));
      if (arrival == Connection::Arrival::kClosed) co_return Incoming{};
      if (arrival == Connection::Arrival::kTimedOut) co_return refused({408, kLateBody});
    }
    co_return received();
  }

 private:
  Task<void> invite_body() {
    begun_ = core_.loop.now();
    if (!parser_->expects_continue() || !connection_.input().empty()) co_return;
    std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await connection_.send(std::move(go_on), core_.config.write_timeout);
  }

  TimePoint deadline(RequestParser::Phase phase) const {
    if (phase == RequestParser::Phase::kHeader) return begun_ + core_.config.header_timeout;
    return body_deadline(core_.config, begun_, core_.loop.now(), parser_->body_received());
  }

  void note_origin() {
    parser_->request().peer = connection_.peer();
    parser_->request().first_byte = first_byte_;
  }

  Incoming answered(HttpResponse response) const {
    Incoming incoming;
    incoming.request = parser_->head(connection_.input());
    incoming.last_answer = std::move(response);
    return incoming;
  }

  Incoming refused(const Refusal& refusal) const {
    const std::optional<HttpRequest> head = parser_->head(connection_.input());
    return answered(worded(core_, refusal, head ? &*head : nullptr));
  }

  // With its body still to come.
  Incoming announced() {
    Incoming incoming;
    incoming.framing = parser_->framing();
    incoming.request = parser_->take_head();
    incoming.body =
        std::make_unique<BodyStream>(core_.loop, core_.config, connection_, std::move(parser_));
    return incoming;
  }

  Incoming received() {
    Incoming incoming;
    incoming.framing = parser_->framing();
    incoming.request = parser_->take();
    return incoming;
  }

  ServerCore& core_;
  Connection& connection_;
  BodyBudget::Share& share_;
  std::unique_ptr<RequestParser> parser_;
  TimePoint begun_;  // the header, then the body
  TimePoint first_byte_;
};

Task<Incoming> read_request(ServerCore& core, Connection& connection, BodyBudget::Share& share) {
  Reading reading{core, connection, share};
  co_return co_await reading.run();
}

// The last that is said on this connection. `request` is what it answers, if that is known.
Task<void> answer_last(ServerCore& core, Connection& connection, HttpResponse response,
                       std::optional<HttpRequest> request) {
  const bool bodyless = is_bodyless(response.status);
  const ResponseHead head{response.status, response.headers,
                          bodyless ? BodyFraming::kNone : BodyFraming::kLength,
                          response.body.size(), After::kClose};
  std::string bytes = to_bytes(head);
  if (!bodyless && (!request || request->method != "HEAD")) bytes += response.body;
  co_await connection.send(std::move(bytes), core.config.write_timeout);
}

// Runs the handler and keeps what escapes from it. The message, or nothing when it ended well.
Task<std::optional<std::string>> run_handler(const Server::Handler& handler,
                                             HttpExchange& exchange) {
  std::optional<std::string> problem;
  try {
    Task<void> answer = handler(exchange);
    co_await std::move(answer);
  } catch (const std::exception& escaped) {
    problem = escaped.what();
  } catch (...) {
    problem = "an exception of an unknown type";
  }
  co_return problem;
}

// Finishes what a handler left unfinished.
Task<void> settle(const ServerCore& core, HttpExchange& exchange, Connection& connection,
                  std::optional<std::string> problem) {
  if (!problem && (exchange.client_gone() || exchange.state() == HttpExchange::State::kComplete)) {
    co_return;
  }
  const std::optional<Refusal> refusal = exchange.body_refusal();
  if (!problem && refusal && exchange.state() == HttpExchange::State::kFresh) {
    HttpResponse response = worded(core, *refusal, &exchange.request());
    co_await exchange.respond(std::move(response));
    co_return;
  }
  log::error("http.handler_failed", {{"method", exchange.request().method},
                                     {"path", exchange.request().path},
                                     {"problem", problem.value_or("no complete answer")}});
  if (exchange.state() == HttpExchange::State::kFresh) {
    const Refusal failure{500, kFailed};
    HttpResponse response = worded(core, failure, &exchange.request());
    co_await exchange.respond(std::move(response));
  } else if (exchange.state() == HttpExchange::State::kStreaming) {
    connection.cut();
  }
}

Task<Next> answer(ServerCore& core, Connection& connection, Incoming incoming) {
  HttpExchange::Rules rules;
  rules.body = std::move(incoming.body);
  rules.write_timeout = core.config.write_timeout;
  rules.may_keep_alive = [&core] { return !core.stopping; };
  HttpExchange exchange{connection, *std::move(incoming.request), incoming.framing,
                        std::move(rules)};
  std::optional<std::string> problem = co_await run_handler(core.handler, exchange);
  co_await settle(core, exchange, connection, std::move(problem));
  if (exchange.state() != HttpExchange::State::kComplete) co_return Next::kClose;
  co_return exchange.after() == After::kKeepAlive ? Next::kAgain : Next::kClose;
}

Task<Next> serve_one(Guest& guest, milliseconds patience) {
  ServerCore& core = guest.core;
  Connection& connection = guest.connection;
  const bool somebody = co_await await_request(guest, patience);
  if (!somebody) co_return Next::kClose;
  BodyBudget::Share share{core.bodies};
  Incoming incoming = co_await read_request(core, connection, share);
  if (incoming.last_answer) {
    HttpResponse response = *std::move(incoming.last_answer);
    co_await answer_last(core, connection, std::move(response), std::move(incoming.request));
    co_return Next::kClose;
  }
  if (!incoming.request) co_return Next::kClose;
  co_return co_await answer(core, connection, std::move(incoming));
}

Task<void> linger(ServerCore& core, Connection& connection) {
  connection.become_idle();
  if (core.stopping && connection.input().empty()) co_return;
  connection.finish_sending();
  const TimePoint deadline = core.loop.now() + kLinger;
  auto arrival = Connection::Arrival::kBytes;
  while (arrival == Connection::Arrival::kBytes) {
    connection.consume(connection.input().size());
    arrival = co_await connection.more_input(deadline);
  }
}

// What the answer depends on may stand in the header's last line.
Task<std::optional<HttpRequest>> hear_out(ServerCore& core, Connection& connection) {
  const TimePoint deadline = core.loop.now() + kFirstWords;
  auto arrival = Connection::Arrival::kBytes;
  while (arrival == Connection::Arrival::kBytes &&
         connection.input().find("\r\n\r\n") == std::string_view::npos &&
         connection.input().size() < core.config.max_header.count()) {
    arrival = co_await connection.more_input(deadline);
  }
  co_return peek_head(connection.input());
}

}  // namespace

Task<void> serve(std::shared_ptr<ServerCore> core, std::shared_ptr<Connection> connection,
                 std::unique_ptr<Admission::Place> place) {
  core->connections.insert(connection);
  connection->start();
  Guest guest{*core, *connection, *place};
  Next next = co_await serve_one(guest, core->config.header_timeout);
  while (next == Next::kAgain) next = co_await serve_one(guest, core->config.idle_timeout);
  co_await linger(*core, *connection);
  place.reset();
  connection->close();
  core->connections.erase(connection);
  core->changed.notify_all();
}

Task<void> refuse(std::shared_ptr<ServerCore> core, std::shared_ptr<Connection> connection) {
  core->connections.insert(connection);
  ++core->refusing;
  connection->start();
  std::optional<HttpRequest> request = co_await hear_out(*core, *connection);
  const Refusal full{503, "Too many connections."};
  HttpResponse response = worded(*core, full, request ? &*request : nullptr);
  co_await answer_last(*core, *connection, std::move(response), std::move(request));
  co_await linger(*core, *connection);
  connection->close();
  --core->refusing;
  core->connections.erase(connection);
  core->changed.notify_all();
}

}  // namespace hearth::http
