// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/fetcher.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "wire/failure.h"

namespace hearth::front {
namespace {

using wire::Frame;
using wire::FrameType;

Failed ended() { return fail(ErrorCode::kCancelled, "the pull was stopped"); }

}  // namespace

Fetcher::Fetcher(World world, wire::FetchRules rules)
    : world_{std::move(world)},
      rules_{std::move(rules)},
      changed_{world_.loop},
      tasks_{world_.loop} {}

Fetcher::~Fetcher() = default;

// ---- the process ----

Task<Result<>> Fetcher::ensure_process() {
  if (ended_) co_return ended();
  if (process_) co_return Result<>{};
  if (world_.program.empty()) {
    co_return fail(ErrorCode::kUnsupported, "this server has no fetcher and cannot pull models");
  }
  const ProcessSpec spec{{world_.program}, world_.environment};
  auto job = [this, spec] { return world_.processes.spawn(spec); };
  Result<std::unique_ptr<Process>> spawned = co_await world_.pool.run(world_.loop, std::move(job));
  if (!spawned) co_return Failed{std::move(spawned).error()};
  if (ended_) {
    Process* unwanted = spawned->get();
    auto reap = [unwanted] { return unwanted->stop(std::chrono::milliseconds{0}); };
    (void)co_await world_.pool.run(world_.loop, std::move(reap));
    co_return ended();
  }
  process_ = std::make_unique<Worker>(world_.loop, world_.pool, std::move(*spawned),
                                      [this](Frame frame) { on_frame(std::move(frame)); });
  log::info("fetcher.started", {{"pid", process_->pid()}});
  world_.loop.spawn(supervise(process_.get()));
  process_->send(wire::make_frame(FrameType::kFetchRules, 0, wire::encode(rules_)));
  co_return Result<>{};
}

Task<void> Fetcher::supervise(Worker* process) {
  const auto pass = tasks_.enter();
  const ExitStatus status = co_await process->run();
  on_lost(status);
}

void Fetcher::on_lost(const ExitStatus& status) {
  if (!ended_) {
    ++deaths_;
    log::warn("fetcher.died", {{"how", describe(status)}});
  }
  process_.reset();
  settle(ended_ ? Result<Frame>{ended()}
                : Result<Frame>{fail(ErrorCode::kUnavailable, "the fetcher died")});
}

void Fetcher::settle(Result<Frame> answer) {
  if (asked_ != nullptr) std::exchange(asked_, nullptr)->answer.emplace(std::move(answer));
  changed_.notify_all();
}

void Fetcher::on_frame(Frame frame) {
  if (asked_ == nullptr || frame.request != asked_->id) return;  // nobody waits for it any more
  if (frame.type == FrameType::kFetching) {
    const Result<wire::Fetching> fetching = wire::decode_fetching(frame.payload);
    if (!fetching) return on_nonsense(fetching.error());
    asked_->done = std::max(asked_->done, fetching->done);
    if (*asked_->on_fetching) (*asked_->on_fetching)(*fetching);
    return;
  }
  if (frame.type != FrameType::kFailed) return settle(std::move(frame));
  const Result<wire::FailedMessage> failed = wire::decode_failed(frame.payload);
  if (!failed) return on_nonsense(failed.error());
  settle(Failed{wire::error_of(*failed)});
}

void Fetcher::on_nonsense(const Error& error) {
  process_->kill("a frame could not be read: " + error.message());
}

// ---- questions ----

Fd Fetcher::again(const Fd& file) { return Fd{::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)}; }

Task<Result<>> Fetcher::ask_once(const Question* question, Asked* asked) {
  Result<> running = co_await ensure_process();
  if (!running) co_return running;
  Frame frame = wire::make_frame(question->type, next_id_++, question->payload);
  if (question->target) {
    frame.descriptors.push_back(again(question->target->data));
    frame.descriptors.push_back(again(question->target->journal));
  }
  asked->id = frame.request;
  asked->on_fetching = &question->on_fetching;
  asked_ = asked;
  process_->send(std::move(frame));
  while (!asked->answer) co_await changed_.wait();
  co_return Result<>{};
}

Task<Result<Frame>> Fetcher::ask(Question question) {
  Bytes done;
  for (int tries = 1;; ++tries) {
    const int deaths = deaths_;
    Asked asked;
    Result<> put = co_await ask_once(&question, &asked);
    if (!put) co_return Failed{std::move(put).error()};
    const bool died = deaths_ > deaths && !asked.answer->has_value();
    // What is fetched again and again, and thrown away, is no progress.
    if (asked.done > done) tries = 1;
    done = std::max(done, asked.done);
    if (!died || ended_ || tries >= kTries) co_return std::move(*asked.answer);
    const TimePoint again_at = world_.loop.now() + kBetweenTries;
    while (!ended_ && world_.loop.now() < again_at) (void)co_await changed_.wait_until(again_at);
  }
}

Task<Result<wire::FetchedText>> Fetcher::text(wire::FetchText what) {
  const auto pass = tasks_.enter();
  if (!pass) co_return ended();
  Question question{FrameType::kFetchText, wire::encode(what), std::nullopt, {}};
  const Result<Frame> answer = co_await ask(std::move(question));
  if (!answer) co_return Failed{answer.error()};
  co_return wire::decode_fetched_text(answer->payload);
}

Task<Result<wire::Fetched>> Fetcher::file(wire::FetchFile what, Target target,
                                          OnFetching on_fetching) {
  const auto pass = tasks_.enter();
  if (!pass) co_return ended();
  Question question{FrameType::kFetchFile, wire::encode(what), std::move(target),
                    std::move(on_fetching)};
  const Result<Frame> answer = co_await ask(std::move(question));
  if (!answer) co_return Failed{answer.error()};
  co_return wire::decode_fetched(answer->payload);
}

void Fetcher::end() {
  ended_ = true;
  changed_.notify_all();
  if (process_) process_->end();
}

Task<void> Fetcher::stop() {
  end();
  co_await tasks_.close();
}

}  // namespace hearth::front
