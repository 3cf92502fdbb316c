// SPDX-License-Identifier: Apache-2.0
#include "cli/serve.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "api/api.h"
#include "api/responses/kept_responses.h"
#include "base/event_loop_asio.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/random.h"
#include "base/sync.h"
#include "base/version.h"
#include "cli/data_directory.h"
#include "cli/privileges.h"
#include "cli/service_manager.h"
#include "cli/session.h"
#include "cli/trace_post.h"
#include "front/config.h"
#include "front/config/describe.h"
#include "front/front_service.h"
#include "front/worker_environment.h"
#include "http/server.h"

namespace hearth::cli {
namespace {

constexpr std::chrono::seconds kLastWords{2};

int refuse(const Error& error) {
  std::cerr << "hearth serve: " << error.message() << '\n';
  return error.code() == ErrorCode::kInvalid ? kExitUsage : kExitFailed;
}

Result<front::ConfigSources> sources_of(const ServeOptions& options) {
  front::ConfigSources sources;
  sources.file = options.config;
  for (const std::string& option : options.options) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) {
      return fail(ErrorCode::kInvalid, "--option wants NAME=VALUE, not \"" + option + "\"");
    }
    sources.arguments.push_back({option.substr(0, equals), option.substr(equals + 1), "--option"});
  }
  if (!options.listen.empty()) sources.arguments.push_back({"listen", options.listen, "--listen"});
  if (!options.data.empty()) sources.arguments.push_back({"data", options.data, "--data"});
  return sources;
}

// What its writer did not expect; the values themselves are right.
void tell(const front::Notice& notice) {
  using Kind = front::Notice::Kind;
  switch (notice.kind) {
    case Kind::kFromOllama:
      return log::info(
          "config.from_ollama",
          {{"name", notice.variable}, {"value", notice.value}, {"option", notice.option}});
    case Kind::kOllamaInPart:
      return log::warn(
          "config.ollama_in_part",
          {{"name", notice.variable}, {"option", notice.option}, {"reason", notice.reason}});
    case Kind::kOllamaIgnored:
      return log::info("config.ollama_ignored", {{"name", notice.variable}});
    case Kind::kFromOtel:
      return log::info(
          "config.from_otel",
          {{"name", notice.variable}, {"value", notice.value}, {"option", notice.option}});
    case Kind::kOtelIgnored:
      return log::warn(
          "config.otel_ignored",
          {{"name", notice.variable}, {"option", notice.option}, {"reason", notice.reason}});
    case Kind::kUnknownVariable:
      return log::warn("config.unknown_variable",
                       {{"name", notice.variable}, {"nearest", notice.option}});
  }
}

void tell_what_is_not_allowed() {
  for (const Restriction& one : restrictions_of(own_privileges())) {
    log::info("server.may_not",
              {{"what", one.what}, {"instead", one.instead}, {"allowed_by", one.allowed_by}});
  }
}

void prepare_process() {
  ::signal(SIGPIPE, SIG_IGN);
  // Until the server has its own handler: a reload that is asked for too early ends nothing.
  ::signal(SIGHUP, SIG_IGN);
  // Each of many streams is a descriptor; the soft limit of most shells is 1024.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  // Pools allocate little: arenas of their own would only keep memory that the front has given
  // back.
  ::mallopt(M_ARENA_MAX, 2);
}

// A FIFO would hold up the thread that reads it until somebody writes, and the server's end with
// it. At the start that is the user's own affair.
Result<front::Config> read_again(const front::ConfigSources& sources) {
  const std::string file = front::config_file(sources);
  std::error_code unknown_kind;
  const bool reads_at_once = file.empty() || !std::filesystem::exists(file, unknown_kind) ||
                             std::filesystem::is_regular_file(file, unknown_kind);
  if (!reads_at_once) return fail(ErrorCode::kInvalid, file + ": is no regular file");
  return front::load_config(sources);
}

// The running server: the loop, the service and the listener, in the order in which they depend on
// each other, and the order of their end.
class Running {
 public:
  using Kept = api::responses::KeptResponses;

  Running(front::Config config, std::unique_ptr<front::FrontService> service,
          std::unique_ptr<Kept> responses, AsioEventLoop& loop)
      : config_{std::move(config)},
        service_{std::move(service)},
        responses_{std::move(responses)},
        loop_{loop} {}

  Result<> listen() {
    Result<front::ListenAddress> address = front::parse_listen(config_.listen);
    if (!address) return Failed{std::move(address).error()};
    http::ServerConfig http;
    http.host = address->host;
    http.port = address->port;
    http.max_header = Bytes{static_cast<std::uint64_t>(config_.max_header_kib) << 10};
    http.max_body = Bytes{static_cast<std::uint64_t>(config_.max_body_mib) << 20};
    http.max_bodies = Bytes{
        static_cast<std::uint64_t>(std::max(config_.max_bodies_mib, config_.max_body_mib)) << 20};
    http.max_connections = static_cast<int>(config_.max_connections);
    http.max_connections_per_address = static_cast<int>(config_.max_connections_per_address);
    http.head_check = [this](const http::HttpRequest& head) {
      return api::answer_to_head(*service_, head);
    };
    http.body_choice = api::body_delivery;
    http.error_writer = [this](int status, std::string_view message,
                               const http::HttpRequest* head) {
      return api::refused(*service_, status, message, head);
    };
    http.header_timeout = std::chrono::seconds{config_.header_timeout_seconds};
    http.body_timeout = std::chrono::seconds{config_.body_timeout_seconds};
    http.idle_timeout = std::chrono::seconds{config_.idle_timeout_seconds};
    http.write_timeout = std::chrono::seconds{config_.write_timeout_seconds};
    auto server = http::Server::listen(loop_, http, [this](http::Exchange& exchange) {
      return api::handle(*service_, exchange, api_);
    });
    if (!server) return Failed{std::move(server).error()};
    server_ = std::move(*server);
    return {};
  }

  void run() {
    loop_.on_signals({SIGTERM, SIGINT, SIGHUP}, [this](int signal) { on_signal(signal); });
    service_->start();
    service_->warn_when_open();
    std::cout << "Hearth " << version() << " listens on http://" << server_->address() << std::endl;
    log::info("server.started", {{"address", server_->address()}, {"data", config_.data}});
    tell_what_is_not_allowed();
    loop_.post([this] { manager_.ready("on http://" + server_->address()); });
    loop_.run();
  }

 private:
  void on_signal(int signal) {
    if (signal == SIGHUP) return loop_.spawn(reload(this));
    if (stopping_) {
      log::warn("server.stopped_at_once", {{"signal", signal}});
      std::_Exit(kExitFailed);
    }
    stopping_ = true;
    manager_.stopping();
    log::info("server.stopping", {{"signal", signal}});
    loop_.spawn(stop(this));
  }

  // The log has what came of it.
  static Task<void> reload(Running* running) {
    (void)co_await running->service_->reload_configuration();
  }

  static Task<void> stop_service(Running* running, TimePoint deadline) {
    const auto part = running->stopping_parts_.enter();
    co_await running->service_->stop(deadline);
  }

  // Side by side: the listener waits for exchanges to end, and the service ends them. It gets
  // longer, so that what the service says to those whose time is up still goes out.
  static Task<void> stop(Running* running) {
    const TimePoint deadline =
        running->loop_.now() + std::chrono::seconds{running->service_->config().drain_seconds};
    running->loop_.spawn(stop_service(running, deadline));
    co_await running->server_->stop(deadline + kLastWords);
    co_await running->stopping_parts_.close();
    log::info("server.stopped");
    running->loop_.stop();
  }

  front::Config config_;
  std::unique_ptr<front::FrontService> service_;
  std::unique_ptr<Kept> responses_;
  AsioEventLoop& loop_;
  const api::ApiOptions api_{&Clock::real(), responses_.get(), &loop_};
  std::unique_ptr<http::Server> server_;
  ServiceManager manager_{loop_, front::process_environment()};
  Gate stopping_parts_{loop_};
  bool stopping_ = false;
};

}  // namespace

int serve(const ServeOptions& options) {
  prepare_process();
  Result<front::ConfigSources> sources = sources_of(options);
  if (!sources) return refuse(sources.error());
  Result<front::Config> config = front::load_config(*sources);
  if (!config) return refuse(config.error());
  log::set_level(config->level());
  for (const front::Notice& notice : config->notices) tell(notice);
  Result<Fd> lock = claim_data_directory(config->data);
  if (!lock) return refuse(lock.error());
  AsioEventLoop loop;
  front::FrontService::World world{loop,
                                   Clock::real(),
                                   Files::real(),
                                   Processes::real(),
                                   front::worker_program(),
                                   Random::from_entropy().next(),
                                   [again = *sources] { return read_again(again); },
                                   front::keeper_program(),
                                   front::process_environment(),
                                   front::fetcher_program(),
                                   post_traces};
  auto service = front::FrontService::open(std::move(world), *config);
  if (!service) return refuse(service.error());
  auto responses =
      api::responses::KeptResponses::open(loop, Clock::real(), config->data + "/responses.db");
  if (!responses) return refuse(responses.error());
  Running running{std::move(*config), std::move(*service), std::move(*responses), loop};
  if (auto listening = running.listen(); !listening) return refuse(listening.error());
  running.run();
  return kExitOk;
}

void add_serve(CLI::App& app) {
  // Owned by the callback below, which lives as long as `app`.
  auto options = std::make_shared<ServeOptions>();
  CLI::App* verb = app.add_subcommand("serve", "Run the server");
  verb->add_option("--listen", options->listen,
                   "HOST:PORT; port 0 picks a free one (HEARTH_LISTEN)");
  verb->add_option("--data", options->data, "Directory for catalogue and history (HEARTH_DATA)")
      ->type_name("DIR");
  verb->add_option("--config", options->config, "TOML file")->type_name("FILE");
  verb->add_option("--option,-o", options->options, "NAME=VALUE, any option of the file");
  verb->footer(
      "\nExample: hearth serve --config hearth.toml\n\nOptions, each also as HEARTH_<NAME>:\n" +
      front::options_help());
  verb->callback([options] { throw CLI::RuntimeError{serve(*options)}; });
}

}  // namespace hearth::cli
