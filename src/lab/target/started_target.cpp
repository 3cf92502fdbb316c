// SPDX-License-Identifier: Apache-2.0
#include "lab/target/started_target.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "lab/machine/processes.h"
#include "lab/target/json_look.h"
#include "lab/target/process_view.h"
#include "lab/target/stoppable_call.h"

namespace hearth::lab {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kReadingPatience{600};  // at least
constexpr seconds kMoments{30};
constexpr seconds kStopGrace{20};
constexpr milliseconds kReadyLook{2};
constexpr milliseconds kLook{10};

ErrorCode code_of(int status) {
  switch (status) {
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 501:
      return ErrorCode::kUnsupported;
    default:
      return ErrorCode::kUnavailable;
  }
}

bool is_healthy(const http::Client& client, const std::string& path,
                const std::function<bool()>& stop) {
  http::Client::Call call;
  call.target = path;
  call.read_timeout = seconds{10};
  const Result<http::HttpResponse> answer = call_until_stopped(client, call, stop);
  return answer && answer->status == 200;
}

}  // namespace

StartedTarget::StartedTarget(const TargetOptions& options)
    : options_{options}, name_{options.name.empty() ? options.server : options.name} {}

std::vector<pid_t> StartedTarget::processes() const {
  return process_ == nullptr ? std::vector<pid_t>{} : process_->tree();
}

Target::Paths StartedTarget::paths() const {
  Paths paths;
  paths.model = {options_.model};
  paths.programs.assign(programs_.begin(), programs_.end());
  return paths;
}

Result<> StartedTarget::take(Step step) {
  // One that died is found out here, not by a connection that is refused.
  if (process_ != nullptr && !process_->is_running()) stop();
  if (step == Step::kStart) return start();
  if (step != Step::kStop) return bring(step);
  stop();
  return {};
}

Answer StartedTarget::ask(const Question& question) {
  if (!client_) {
    Answer nobody;
    nobody.ending = Answer::Ending::kBroken;
    nobody.problem = name_ + " does not run";
    return nobody;
  }
  const Asking how = asking();
  Answer answer = ask_server(*client_, how, with_patience(question, options_));
  answer.goes_on_at_end = how.dialect == Dialect::kCompletion;
  // Once is enough, and whoever measures the request waits for it.
  if (!std::exchange(saw_a_request_, true)) look_at_programs();
  if (process_ != nullptr && !process_->is_running() && answer.ending != Answer::Ending::kDone) {
    answer.problem += "; the server ended: " + process_->last_words();
  }
  return answer;
}

std::optional<http::Client> StartedTarget::address_of(ServerProcess& process) {
  const std::vector<std::uint16_t> ports = listening_ports(process.pid());
  if (ports.empty()) return std::nullopt;
  const auto client = http::Client::to("127.0.0.1", ports.front());
  return client ? std::optional{*client} : std::nullopt;
}

Result<> StartedTarget::start() {
  if (process_ != nullptr) return {};
  if (Result<> made = make_folders(); !made) return made;
  const Launch plan = launch();
  const auto begun = steady_clock::now();
  Result<std::unique_ptr<ServerProcess>> process = ServerProcess::run(plan);
  if (!process) return Failed{std::move(process).error().during("start " + name_)};
  process_ = std::move(*process);
  if (Result<> ready = wait_until_ready(begun); !ready) {
    stop();
    return Failed{std::move(ready).error().during("start " + name_)};
  }
  look_at_programs();
  return {};
}

Result<> StartedTarget::wait_until_ready(steady_clock::time_point begun) {
  while (true) {
    if (!client_) client_ = address_of(*process_);
    if (client_ && is_healthy(*client_, health_path(), options_.stop)) break;
    if (!process_->is_running()) return fail(ErrorCode::kUnavailable, process_->last_words());
    if (options_.stop && options_.stop()) return fail(ErrorCode::kCancelled, "interrupted");
    if (steady_clock::now() - begun > reading_patience()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("it is not ready after {} s: {}", reading_patience().count(),
                              process_->last_words()));
    }
    std::this_thread::sleep_for(kReadyLook);
  }
  last_start_ms_ = milliseconds_of(steady_clock::now() - begun);
  return {};
}

void StartedTarget::stop() {
  if (process_ != nullptr) process_->stop(kStopGrace);
  process_.reset();
  client_.reset();
  saw_a_request_ = false;
}

Result<> StartedTarget::make_folders() const {
  return Files::real().make_directories(options_.folder, 0700);
}

std::vector<std::string> StartedTarget::command(std::vector<std::string> arguments) const {
  std::vector<std::string> argv = options_.within;
  argv.push_back(program_);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  argv.insert(argv.end(), options_.arguments.begin(), options_.arguments.end());
  return argv;
}

void StartedTarget::look_at_programs() {
  for (const pid_t pid : processes()) {
    for (std::string& path : mapped_files(pid, Mapped::kPrograms)) {
      programs_.insert(std::move(path));
    }
  }
}

Result<boost::json::value> StartedTarget::call(const std::string& method, const std::string& target,
                                               const std::string& body, Takes takes) const {
  if (!client_) return fail(ErrorCode::kUnavailable, name_ + " does not run");
  http::Client::Call call;
  call.method = method;
  call.target = target;
  call.body = body;
  if (!body.empty()) call.headers = {{"Content-Type", "application/json"}};
  call.read_timeout = takes == Takes::kMoments ? kMoments : reading_patience();
  Result<http::HttpResponse> answer = call_until_stopped(*client_, call, options_.stop);
  if (!answer) return Failed{std::move(answer).error().during(target)};
  if (answer->status >= 300) {
    return fail(code_of(answer->status), fmt::format("{}: status {}: {}", target, answer->status,
                                                     repair_utf8(answer->body.substr(0, 300))));
  }
  Result<boost::json::value> parsed = parse_json(answer->body);
  return parsed ? std::move(parsed) : boost::json::value{answer->body};
}

seconds StartedTarget::reading_patience() const {
  const auto patience = std::chrono::ceil<seconds>(options_.patience.value_or(milliseconds{0}));
  return std::max(kReadingPatience, patience);
}

Result<> StartedTarget::wait_until(const std::string& what, seconds patience,
                                   const std::function<bool()>& holds) const {
  const auto deadline = steady_clock::now() + patience;
  while (!holds()) {
    if (options_.stop && options_.stop()) return fail(ErrorCode::kCancelled, "interrupted");
    if (steady_clock::now() > deadline) {
      return fail(ErrorCode::kUnavailable, fmt::format("{}: it did not come about that {} within "
                                                       "{} s",
                                                       name_, what, patience.count()));
    }
    std::this_thread::sleep_for(kLook);
  }
  return {};
}

Result<> StartedTarget::end(pid_t pid) const {
  const std::string started = start_time_of(pid);
  if (started.empty()) return {};
  ::kill(pid, SIGKILL);
  return wait_until(fmt::format("process {} is gone", pid), seconds{20},
                    [&] { return start_time_of(pid) != started; });
}

Failed StartedTarget::unsupported(Step step, const std::string& why) const {
  return fail(ErrorCode::kUnsupported, fmt::format("{}: {}: {}", name_, name_of(step), why));
}

}  // namespace hearth::lab
