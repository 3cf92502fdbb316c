// SPDX-License-Identifier: Apache-2.0
#include "front/protected/protected_service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "timeline/json_writer.h"

namespace hearth::front {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The wait before each of so many turns on a processor, in the mean, is one latency.
constexpr std::uint64_t kTurns = 4;
constexpr seconds kLongCount{5};

// The kernel brings its pressure counters up to date every two seconds.
constexpr milliseconds kPressurePeriod{2500};
// Longer between two readings is a machine that slept, or a reader that was held up.
constexpr seconds kLongPeriod{10};

// Questions in a row without an answer.
constexpr int kGoneAfter = 5;

HarmJudge::Limits limits_of(const ProtectedOptions& options) {
  HarmJudge::Limits limits;
  limits.p99 = static_cast<double>(options.p99_percent) / 100;
  if (options.psi_limit > 0) limits.waits = static_cast<double>(options.psi_limit) / 100;
  if (!options.process.empty()) limits.noise = std::chrono::microseconds{100};
  return limits;
}

GiveWayLadder::Limits ladder_of(const ProtectedOptions& options, int threads) {
  using Pins = GiveWayLadder::Pins;
  return {threads, options.release_pins ? Pins::kRelease : Pins::kKeep};
}

const char* text_of(ProtectedService::State state) {
  switch (state) {
    case ProtectedService::State::kUnknown:
      return "unknown";
    case ProtectedService::State::kWell:
      return "well";
    case ProtectedService::State::kHarmed:
      return "harmed";
    case ProtectedService::State::kGone:
      return "gone";
  }
  return "unknown";
}

std::optional<double> share(std::optional<Duration> from, std::optional<Duration> to,
                            Duration over) {
  if (!from || !to) return std::nullopt;
  const double part =
      static_cast<double>((*to - *from).count()) / static_cast<double>(over.count());
  return std::clamp(part, 0.0, 1.0);
}

bool same_waits(const ServiceCounts& a, const ServiceCounts& b) {
  return a.cpu == b.cpu && a.memory == b.memory && a.io == b.io;
}

std::string list_text(const GiveWay& given) {
  std::vector<std::string> parts;
  if (given.compute.threads > 0) {
    parts.push_back(fmt::format("at most {} evaluation {}", given.compute.threads,
                                given.compute.threads == 1 ? "thread" : "threads"));
  }
  if (given.compute.percent < 100) {
    parts.push_back(fmt::format("{} % of the time", given.compute.percent));
  }
  if (!given.prewarm) parts.emplace_back("no prewarming");
  if (given.memory) parts.emplace_back("memory given back");
  if (given.pins) parts.emplace_back("pins released");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

const char* kind_of(const ProtectedOptions& options) {
  if (!options.process.empty()) return "process";
  return options.cgroup.empty() ? "url" : "cgroup";
}

ProtectedService::ProtectedService(std::string name, ProtectedOptions options, Means means,
                                   int threads)
    : name_{std::move(name)},
      options_{std::move(options)},
      means_{std::move(means)},
      judge_{limits_of(options_)},
      ladder_{ladder_of(options_, threads)} {}

void ProtectedService::take(TimePoint at, const ServiceSource::Reading& reading, Hearth hearth) {
  using Source = ServiceSource::State;
  if (reading.state == Source::kGone) return gone({});
  there_ = true;
  const Counted now{at, reading.counts};
  if (!last_ || at - last_->at > kLongPeriod) {
    runs_from_ = waits_from_ = now;
    runs_hearth_.reset();
  } else {
    take_runs(now, hearth);
    take_waits(now, hearth);
  }
  last_ = now;
}

// A latency is of use only where Hearth did the same all the while.
void ProtectedService::take_runs(const Counted& now, Hearth hearth) {
  if (!now.counts.runs) return;
  const bool changed = runs_hearth_ && *runs_hearth_ != hearth;
  if (changed || !runs_from_->counts.runs || now.at - runs_from_->at > kLongCount) {
    runs_from_ = last_;
  }
  runs_hearth_ = hearth;
  if (!runs_from_->counts.runs) return;
  const std::uint64_t turns = now.counts.runs->times - runs_from_->counts.runs->times;
  if (turns < kTurns) return;
  const Duration waited = now.counts.runs->waited - runs_from_->counts.runs->waited;
  judge_.add_latency(now.at, waited / static_cast<Duration::rep>(turns), hearth);
  runs_from_ = now;
}

void ProtectedService::take_waits(const Counted& now, Hearth hearth) {
  waits_busy_ = waits_busy_ || hearth == Hearth::kBusy;
  const Duration over = now.at - waits_from_->at;
  if (same_waits(now.counts, waits_from_->counts) && over < kPressurePeriod) return;
  const ServiceCounts& from = waits_from_->counts;
  const Waits waits{share(from.cpu, now.counts.cpu, over),
                    share(from.memory, now.counts.memory, over),
                    share(from.io, now.counts.io, over)};
  judge_.add_waits(waits, over, waits_busy_ ? Hearth::kBusy : Hearth::kIdle);
  waits_from_ = now;
  waits_busy_ = false;
}

void ProtectedService::take(TimePoint at, const Result<Probe::Answer>& answer,
                            std::optional<Hearth> hearth) {
  const bool in_time = answer && answer->in_time;
  if (in_time) {
    failures_ = 0;
    there_ = true;
  } else if (++failures_ >= kGoneAfter) {
    return gone(answer ? "it does not answer in time" : answer.error().message());
  }
  // One that does not answer while Hearth works may be one that Hearth holds up.
  const bool slow = answer && !in_time && there_ && hearth == Hearth::kBusy;
  if (hearth && (in_time || slow)) judge_.add_latency(at, answer->took, *hearth);
}

void ProtectedService::gone(std::string why) {
  means_.trouble = std::move(why);
  there_ = false;
  last_.reset();
  judge_.leave();
  ladder_.leave();
}

bool ProtectedService::in_a_hurry() const {
  return judge_.suspects() || harm_.latency || ladder_.gives();
}

ProtectedService::State ProtectedService::judged(const Harm& harm) const {
  const bool seen = last_ || failures_ > 0 || !means_.trouble.empty();
  if (!there_) return seen || state_ != State::kUnknown ? State::kGone : State::kUnknown;
  if (harm.any()) return State::kHarmed;
  return judge_.knows() ? State::kWell : State::kUnknown;
}

void ProtectedService::look(TimePoint now, std::int64_t wall_us, const GiveWay& all) {
  if (ended_) return;
  harm_ = judge_.judge(now);
  // While more is given to others, that all is well says nothing of what is given here.
  harm_.telling = harm_.telling && both(given(), all) == given();
  const State state = judged(harm_);
  if (there_ && ladder_.look(now, harm_) != GiveWayLadder::Move::kNone) {
    judge_.begin_anew();
    log::info("protected.give_way", {{"service", name_}, {"gives", list_text(given())}});
  }
  if (std::exchange(state_, state) == state && since_us_ != 0) return;
  since_us_ = wall_us;
  log::info("protected.state",
            {{"service", name_}, {"state", text_of(state)}, {"why", harm_text()}});
}

void ProtectedService::end() {
  ended_ = true;
  ladder_.leave();
  if (means_.probe) means_.probe->cancel();
}

std::string ProtectedService::harm_text() const {
  if (!there_) return means_.trouble;
  if (harm_.latency) {
    return fmt::format("99 % of its {} took up to {:.1f} ms of late, {:.1f} ms are usual",
                       options_.url.empty() ? "turns" : "answers",
                       milliseconds_of(judge_.slowest()),
                       milliseconds_of(judge_.usual().value_or(Duration{})));
  }
  const char* waits = harm_.memory ? "memory" : harm_.cpu ? "processors" : "disks";
  if (!harm_.any()) return {};
  return fmt::format("it waits for {} {:.0f} % of the time", waits,
                     100 * judge_.worst_wait().value_or(0.0));
}

std::string ProtectedService::reason() const {
  std::string text = harm_text();
  if (!ladder_.gives()) return text;
  if (text.empty()) text = "it was harmed a while ago";
  return fmt::format("{}; for it: {}", text, list_text(given()));
}

std::string ProtectedService::json() const {
  const auto number = [](JsonWriter& out, const char* key, std::optional<double> value) {
    value ? out.number(key, *value) : out.null(key);
  };
  const auto in_ms = [](std::optional<Duration> time) {
    return time ? std::optional<double>{milliseconds_of(*time)} : std::nullopt;
  };
  const auto waits = judge_.worst_wait();
  JsonWriter out;
  out.string("name", name_).string("kind", kind_of(options_)).string("state", text_of(state_));
  number(out, "baseline_ms", in_ms(judge_.usual()));
  number(out, "p99_ms", in_ms(judge_.current()));
  number(out, "psi", waits ? std::optional<double>{100 * *waits} : std::nullopt);
  out.integer("limit_percent", options_.p99_percent).integer("since_us", since_us_);
  std::string names;
  for (const std::string& each : names_of(given())) {
    names += (names.empty() ? "\"" : ",\"") + each + "\"";
  }
  return out.raw("gave_way", "[" + names + "]").string("reason", reason()).object();
}

}  // namespace hearth::front
