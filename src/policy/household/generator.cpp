// SPDX-License-Identifier: Apache-2.0
#include "policy/household/generator.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/random.h"

namespace hearth::household {
namespace {

constexpr double kDay = 86400;
constexpr double kHour = 3600;

// Own arithmetic instead of <random>'s distributions, which differ between libraries.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_{seed} {}

  double uniform(double low, double high) {
    constexpr double kSteps = 9007199254740992.0;  // 2^53
    return low + (high - low) * static_cast<double>(random_.next() >> 11) / kSteps;
  }
  double exponential(double mean) { return -mean * std::log1p(-uniform(0, 1)); }
  bool happens(double probability) { return uniform(0, 1) < probability; }
  // Near enough to a normal one, and never beyond three deviations.
  double bell(double mean, double deviation) {
    double sum = 0;
    for (int i = 0; i < 6; ++i) sum += uniform(-1, 1);
    return mean + deviation * std::clamp(sum / std::sqrt(2.0), -3.0, 3.0);
  }
  int poisson(double mean) {
    int n = -1;
    for (double product = 1; product > std::exp(-mean); ++n) product *= uniform(0, 1);
    return std::max(n, 0);
  }
  // This household's own version of a usual figure.
  double about(double usual) { return usual * uniform(0.8, 1.2); }

 private:
  Random random_;
};

// When people sit down with a model, on one day, and how long.
struct Sittings {
  double a_day = 1;
  double from = 0, to = 24;  // hours, of the first request
  double requests = 10;      // in the mean, of one sitting
  double pause_s = 60;       // in the mean, service included
};

class Generator {
 public:
  Generator(std::uint64_t seed, int days) : draw_{seed}, days_{days} {}

  Trace generate() {
    index();
    automation();
    door_bell();
    dictation();
    programmer();
    chats();
    summaries();
    std::ranges::sort(trace_.requests, {}, [](const TraceRequest& request) {
      return std::tuple{request.at, request.model, request.service};
    });
    return std::move(trace_);
  }

 private:
  void model(std::string name, double size_gb, double service_s) {
    trace_.models.push_back(
        {std::move(name), Bytes{static_cast<std::uint64_t>(std::llround(size_gb * 1e9))}});
    service_ = Duration{static_cast<std::int64_t>(service_s * 1e9)};
  }
  void ask(double seconds) {
    if (seconds < 0 || seconds >= days_ * kDay) return;
    // To a tenth of a second, as traces are written.
    const Duration at = std::chrono::milliseconds{100} * std::llround(seconds * 10);
    trace_.requests.push_back({at, trace_.models.size() - 1, service_});
  }
  // So many a day in the mean, at any time between two hours.
  void at_random(double a_day, double from, double to) {
    for (int day = 0; day < days_; ++day) {
      for (int n = draw_.poisson(a_day); n > 0; --n) {
        ask(day * kDay + kHour * draw_.uniform(from, to));
      }
    }
  }
  void timer(double period, double jitter) {
    for (double at = 0; at < days_ * kDay; at += period) ask(at + draw_.uniform(0, jitter));
  }
  void sit(int day, const Sittings& sittings) {
    for (int n = draw_.poisson(sittings.a_day); n > 0; --n) {
      double at = day * kDay + kHour * draw_.uniform(sittings.from, sittings.to);
      const int requests = 1 + draw_.poisson(draw_.exponential(sittings.requests - 1));
      for (int i = 0; i < requests; ++i, at += draw_.exponential(sittings.pause_s)) ask(at);
    }
  }

  void index() {
    model("embed0.3", 0.3, 0.3);
    timer(900, 20);
  }
  void automation() {
    model("home1b", 0.8, 1.5);
    timer(kHour, 60);
    at_random(draw_.about(10), 6.5, 23);
  }
  // Who rings often rings twice, or two come.
  void door_bell() {
    model("vision4b", 3.2, 5);
    at_random(draw_.about(14), 7, 22);
    const std::size_t rings = trace_.requests.size();
    for (std::size_t i = 0; i < rings; ++i) {
      const TraceRequest ring = trace_.requests[i];
      if (ring.model + 1 != trace_.models.size() || !draw_.happens(0.12)) continue;
      ask(milliseconds_of(ring.at) / 1000 + draw_.exponential(120));
    }
  }
  void dictation() {
    model("whisper", 1.6, 3);
    at_random(draw_.about(4.5), 7, 23);
  }
  void programmer() {
    model("code7b", 4.6, 15);
    const double starts = draw_.uniform(8.5, 9.5);
    const Sittings morning{draw_.about(1.4), starts, starts + 3, draw_.about(38), 47};
    const Sittings afternoon{draw_.about(1.5), starts + 3.5, starts + 8, draw_.about(38), 47};
    for (int day = 0; day < days_; ++day) {
      if (day % 7 >= 5) continue;
      sit(day, morning);
      sit(day, afternoon);
    }
  }
  void chats() {
    model("chat8b", 4.9, 12);
    const double first = draw_.uniform(18.5, 19.5);
    const Sittings late{draw_.about(2.1), first, first + 4.2, draw_.about(10), 95};
    for (int day = 0; day < days_; ++day) sit(day, late);
    model("chat3b", 2.2, 6);
    const double early = draw_.uniform(16.5, 17.5);
    const Sittings any{draw_.about(1.3), early, early + 6.3, draw_.about(9.5), 90};
    for (int day = 0; day < days_; ++day) sit(day, any);
  }
  void summaries() {
    model("big14b", 9.0, 40);
    const double hour = draw_.uniform(21.5, 22.5);
    const double share = draw_.about(0.6);
    for (int day = 0; day < days_; ++day) {
      if (draw_.happens(share)) ask(day * kDay + kHour * draw_.bell(hour, 0.2));
    }
  }

  Draw draw_;
  int days_;
  Trace trace_;
  Duration service_{};
};

}  // namespace

Trace generate(std::uint64_t seed, int days) { return Generator{seed, days}.generate(); }

}  // namespace hearth::household
