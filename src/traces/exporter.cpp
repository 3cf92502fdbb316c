// SPDX-License-Identifier: Apache-2.0
#include "traces/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "timeline/trace_context.h"
#include "traces/random_id.h"

namespace hearth::traces {
namespace {

constexpr std::chrono::milliseconds kTimeout{5000};
constexpr std::chrono::milliseconds kLastTimeout{1000};

}  // namespace

Exporter::Exporter(World world)
    : world_{std::move(world)},
      random_{world_.seed},
      span_ids_{world_.seed + 1},
      changed_{world_.loop},
      running_{world_.loop} {
  resource_.version = world_.version;
  resource_.instance = hex_of(random_id<TraceId>(random_));
}

void Exporter::set(Settings settings) {
  if (settings == settings_) return;
  settings_ = std::move(settings);
  resource_.service_name = settings_.service_name;
  ++settings_seen_;
  if (!on()) figures_.dropped += std::exchange(waiting_, {}).size();
  changed_.notify_all();
}

void Exporter::start() { world_.loop.spawn(run()); }

void Exporter::add(const RequestReport& report) {
  if (!on() || !report.trace || !report.trace->context.sampled) return;
  if (waiting_.size() >= kMostWaiting) {
    waiting_.pop_front();
    ++figures_.dropped;
  }
  waiting_.push_back(report);
  changed_.notify_all();
}

Task<void> Exporter::stop() {
  give_up_ = now() + kLastWords;
  stopping_ = true;
  changed_.notify_all();
  co_await running_.close();
}

TraceFigures Exporter::figures() const {
  TraceFigures figures = figures_;
  figures.waiting = static_cast<std::int64_t>(waiting_.size() + in_hand_);
  return figures;
}

Task<void> Exporter::run() {
  const auto pass = running_.enter();
  while (pass) {
    while (waiting_.empty() && !stopping_) co_await changed_.wait();
    co_await gather();
    const bool over = stopping_ && (waiting_.empty() || in_trouble_ || now() >= give_up_);
    if (over) break;
    std::shared_ptr<Batch> batch = next_batch();
    if (batch) co_await deliver(std::move(batch));
  }
  if (!waiting_.empty()) log::warn("traces.left_at_stop", {{"requests", waiting_.size()}});
}

Task<void> Exporter::gather() {
  const TimePoint until = now() + kGather;
  bool in_time = true;
  while (in_time && !stopping_ && waiting_.size() < kLargestBatch) {
    in_time = co_await changed_.wait_until(until);
  }
}

std::shared_ptr<Exporter::Batch> Exporter::next_batch() {
  if (waiting_.empty()) return nullptr;
  auto batch = std::make_shared<Batch>();
  while (!waiting_.empty() && batch->reports.size() < kLargestBatch) {
    batch->reports.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  in_hand_ = batch->reports.size();
  return batch;
}

Post Exporter::next_post() const {
  Post post;
  post.endpoint = settings_.endpoint;
  post.headers = settings_.headers;
  post.headers.emplace_back("Content-Type", "application/json");
  post.headers.emplace_back("User-Agent", "hearth/" + world_.version);
  post.timeout = stopping_ ? kLastTimeout : kTimeout;
  return post;
}

Task<void> Exporter::deliver(std::shared_ptr<Batch> batch) {
  for (int failures = 1; on(); ++failures) {
    auto job = [this, batch, resource = resource_, post = next_post()]() mutable {
      if (batch->body.empty()) {
        batch->body = otlp_json(resource, batch->reports, span_ids_);
        batch->reports.clear();
      }
      post.body = batch->body;
      return world_.post(post);
    };
    const Result<PostAnswer> answer = co_await world_.pool.run(world_.loop, std::move(job));
    const Judgement judgement = judge(answer);
    if (judgement.fate != Judgement::Fate::kLater) {
      settle(judgement);
      co_return;
    }
    ++figures_.failures;
    note_trouble(judgement.reason);
    if (!stopping_) co_await pause(judgement.wait.value_or(backoff(failures, random_)));
    if (stopping_) break;
  }
  if (stopping_) log::warn("traces.left_at_stop", {{"requests", in_hand_}});
  figures_.dropped += std::exchange(in_hand_, 0);
}

// New settings may be what was wrong.
Task<void> Exporter::pause(Duration length) {
  const TimePoint until = now() + length;
  const int seen = settings_seen_;
  bool in_time = true;
  while (in_time && !stopping_ && settings_seen_ == seen) {
    in_time = co_await changed_.wait_until(until);
  }
}

void Exporter::settle(const Judgement& judgement) {
  const std::size_t requests = std::exchange(in_hand_, 0);
  if (judgement.fate == Judgement::Fate::kRefused) {
    figures_.refused += requests;
    note_trouble(judgement.reason);
    return;
  }
  figures_.sent += requests;
  figures_.rejected_spans += judgement.rejected_spans;
  note_success();
  const bool rejected = judgement.rejected_spans > 0;
  if (!std::exchange(some_rejected_, rejected) && rejected) {
    log::warn("traces.rejected",
              {{"spans", judgement.rejected_spans}, {"reason", judgement.reason}});
  }
}

void Exporter::note_trouble(const std::string& reason) {
  if (std::exchange(in_trouble_, true)) return;
  log::warn("traces.not_sent", {{"endpoint", settings_.endpoint}, {"reason", reason}});
}

void Exporter::note_success() {
  if (!std::exchange(in_trouble_, false)) return;
  log::info("traces.sent_again", {{"endpoint", settings_.endpoint}});
}

}  // namespace hearth::traces
