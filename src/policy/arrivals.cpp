// SPDX-License-Identifier: Apache-2.0
#include "policy/arrivals.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hearth {
namespace {

using std::chrono::hours;

// How many hours of one's own outweigh what is drawn in from the wider view: an hour of the day
// after one day, an hour of the week after two weeks, the average after one day.
constexpr double kDayPrior = 1;
constexpr double kWeekPrior = 2;
constexpr double kAveragePrior = 24;
constexpr double kFewestBouts = 1e-3;
// Of one hour of the week no more than the last eight weeks count: habits change.
constexpr double kRemembered = 8;
// A pause of 200 ago counts about a third: a few days of conversations.
constexpr double kPauseAge = 0.995;
// One pause never seen, so that a bout of two requests does not forecast with certainty.
constexpr double kPausePrior = 1;
constexpr Duration kFirstPause = std::chrono::seconds{15};
constexpr Duration kRateTime = hours{1};
// The longest absence believed from a wall clock alone.
constexpr Duration kLongestAbsence = hours{24 * 30};
constexpr int kSteps = 12;  // of one integral over hours of the week

double hours_of(Duration time) { return static_cast<double>(time.count()) / 3.6e12; }

double hour_of_week(std::int64_t local_s) {
  constexpr std::int64_t kWeek = 604'800;
  return static_cast<double>(((local_s % kWeek) + kWeek) % kWeek) / 3600;
}

int hour_index(double hour) {
  const int index = static_cast<int>(std::floor(hour)) % ArrivalNotes::kHours;
  return index < 0 ? index + ArrivalNotes::kHours : index;
}

// The upper bound of a class of pauses; the last class has none.
Duration pause_bound(int index) {
  return std::min(kFirstPause * (std::int64_t{1} << index), ArrivalModel::kBout);
}

int pause_index(Duration pause) {
  int index = 0;
  while (index + 1 < ArrivalNotes::kPauses && pause > pause_bound(index)) ++index;
  return index;
}

}  // namespace

ArrivalModel::ArrivalModel(ArrivalNotes notes) : notes_{std::move(notes)}, resumed_{true} {
  sum_up_hours();
  beat_ = find_beat(notes_.recent);
}

void ArrivalModel::sum_up_hours() {
  bouts_ = hours_watched_ = 0;
  for (const ArrivalNotes::Hour& hour : notes_.hours) {
    bouts_ += hour.bouts;
    hours_watched_ += hour.watched;
  }
}

// Boot time within one boot; over restarts the wall clock, as far as it is credible.
Duration ArrivalModel::since_seen(const Instant& now) const {
  if (!notes_.seen) return {};
  if (!resumed_) return std::max(Duration{}, now.boot - notes_.seen->boot);
  if (now.local_s <= notes_.seen->local_s) return {};
  constexpr auto kMost = std::chrono::duration_cast<std::chrono::seconds>(kLongestAbsence).count();
  const std::uint64_t apart =
      static_cast<std::uint64_t>(now.local_s) - static_cast<std::uint64_t>(notes_.seen->local_s);
  return std::chrono::seconds{std::min(apart, static_cast<std::uint64_t>(kMost))};
}

void ArrivalModel::observe(const Instant& now) {
  const Duration passed = since_seen(now);
  if (!resumed_ && passed > Duration{} && passed <= kWatch) {
    const int index = hour_index(hour_of_week(now.local_s) - hours_of(passed) / 2);
    ArrivalNotes::Hour& hour = notes_.hours[static_cast<std::size_t>(index)];
    hour.watched += hours_of(passed);
    if (hour.watched > kRemembered) {
      hour.bouts *= kRemembered / hour.watched;
      hour.watched = kRemembered;
    }
    sum_up_hours();
  }
  notes_.watched += passed;
  notes_.seen = now;
  resumed_ = false;
}

void ArrivalModel::note(const Instant& at) {
  const std::optional<Duration> pause = silence(at);
  observe(at);
  if (pause) {
    for (double& count : notes_.pauses) count *= kPauseAge;
    notes_.pauses[static_cast<std::size_t>(pause_index(*pause))] += 1;
    notes_.rate_weight *= std::exp(-hours_of(*pause) / hours_of(kRateTime));
  }
  notes_.rate_weight += 1;
  if (!pause || *pause > kBout) {
    notes_.hours[static_cast<std::size_t>(hour_index(hour_of_week(at.local_s)))].bouts += 1;
    bouts_ += 1;
  }
  if (notes_.recent.size() == ArrivalNotes::kRecent) notes_.recent.erase(notes_.recent.begin());
  notes_.recent.push_back(notes_.watched);
  beat_ = find_beat(notes_.recent);
}

std::optional<Duration> ArrivalModel::silence(const Instant& now) const {
  if (notes_.recent.empty()) return std::nullopt;
  return notes_.watched - notes_.recent.back() + since_seen(now);
}

double ArrivalModel::recent_per_hour(const Instant& now) const {
  const std::optional<Duration> quiet = silence(now);
  if (!quiet) return 0;
  return notes_.rate_weight * std::exp(-hours_of(*quiet) / hours_of(kRateTime)) /
         hours_of(kRateTime);
}

// Of bouts at a rate that is taken to be spread exponentially about the mean one, none came during
// the silence: what is left of the rate then is 1 / (1 / mean + silence).
double ArrivalModel::steady_per_hour(const Instant& now, Duration within) const {
  const std::optional<Duration> quiet = silence(now);
  if (!quiet || within <= Duration{}) return 0;
  const double hours_a_bout = (hours_watched_ + kAveragePrior) / std::max(bouts_, kFewestBouts);
  return pause_hazard(*quiet, within) / hours_of(within) + 1 / (hours_a_bout + hours_of(*quiet));
}

double ArrivalModel::bouts_per_hour(int hour) const {
  const double average = bouts_ / (hours_watched_ + kAveragePrior);
  ArrivalNotes::Hour day;  // this hour on any day
  for (int at = hour % 24; at < ArrivalNotes::kHours; at += 24) {
    day.bouts += notes_.hours[static_cast<std::size_t>(at)].bouts;
    day.watched += notes_.hours[static_cast<std::size_t>(at)].watched;
  }
  const double daily = (day.bouts + kDayPrior * average) / (day.watched + kDayPrior);
  const ArrivalNotes::Hour& own = notes_.hours[static_cast<std::size_t>(hour)];
  return (own.bouts + kWeekPrior * daily) / (own.watched + kWeekPrior);
}

// Between the middles of two hours a straight line: nobody's habits end on the hour.
double ArrivalModel::bouts_per_hour_at(double hour_of_week) const {
  const double before = std::floor(hour_of_week - 0.5);
  const double share = hour_of_week - 0.5 - before;
  return (1 - share) * bouts_per_hour(hour_index(before)) +
         share * bouts_per_hour(hour_index(before + 1));
}

double ArrivalModel::bouts_hazard(const Instant& now, Duration ahead) const {
  if (bouts_ <= 0) return 0;
  const double step = hours_of(ahead) / kSteps;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    sum += step * bouts_per_hour_at(hour_of_week(now.local_s) + (i + 0.5) * step);
  }
  return sum;
}

// That the pause which is under way ends within `ahead`, given that it has lasted so long already.
double ArrivalModel::pause_hazard(Duration silence, Duration ahead) const {
  if (silence >= kBout) return 0;
  double left = 0, ends = 0;
  Duration from{};
  for (int i = 0; i < ArrivalNotes::kPauses; ++i) {
    const double count = notes_.pauses[static_cast<std::size_t>(i)];
    if (i + 1 == ArrivalNotes::kPauses) {
      left += count;
      break;
    }
    const Duration to = pause_bound(i);
    const double width = hours_of(to - from);
    const Duration begin = std::clamp(silence, from, to);
    left += count * hours_of(to - begin) / width;
    ends += count * hours_of(std::clamp(silence + ahead, begin, to) - begin) / width;
    from = to;
  }
  return -std::log1p(-ends / (left + kPausePrior));
}

double ArrivalModel::hazard(const Instant& now, Duration ahead) const {
  const std::optional<Duration> quiet = silence(now);
  if (!quiet || ahead <= Duration{}) return 0;
  double sum = bouts_hazard(now, ahead) + pause_hazard(*quiet, ahead);
  if (beat_) {
    constexpr double kNearlySure = 0.999;
    const double beats = beat_->probability(notes_.watched + since_seen(now), ahead);
    sum -= std::log1p(-std::min(beats, kNearlySure));
  }
  return sum;
}

double ArrivalModel::probability(const Instant& now, Duration within) const {
  return -std::expm1(-hazard(now, within));
}

double ArrivalModel::expected_per_hour(const Instant& now, Duration within) const {
  return within > Duration{} ? hazard(now, within) / hours_of(within) : 0;
}

std::optional<NextArrival> ArrivalModel::next(const Instant& now) const {
  constexpr Duration kFirst = std::chrono::seconds{15};
  constexpr Duration kLast = hours{24 * 7};
  std::optional<Duration> earliest, likely;
  // Steps grow with the distance: nobody wants to know tomorrow to the second.
  for (Duration ahead = kFirst; ahead <= kLast; ahead += std::max(kFirst, ahead / 32)) {
    const double sure = probability(now, ahead);
    if (sure >= 0.25 && !earliest) earliest = ahead;
    if (sure >= 0.5 && !likely) likely = ahead;
    if (sure >= 0.75) return NextArrival{*earliest, *likely, ahead};
  }
  if (!likely) return std::nullopt;
  return NextArrival{*earliest, *likely, kLast};
}

}  // namespace hearth
