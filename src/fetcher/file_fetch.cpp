// SPDX-License-Identifier: Apache-2.0
#include "fetcher/file_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "fetcher/hash_thread.h"

namespace hearth::fetcher {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr milliseconds kBetweenReports{100};
// A connection that brought this much before it broke is begun anew without a wait.
constexpr Bytes kMuch{1 << 20};
constexpr std::chrono::seconds kUntilMoreLanes{10};

std::string boot_id() {
  const std::string text = read_small_file("/proc/sys/kernel/random/boot_id");
  return std::string{trimmed(text, " \n")};
}

Result<transfer::Wanted> wanted_of(const wire::FetchFile& what, transfer::Geometry geometry) {
  transfer::Wanted wanted;
  wanted.geometry = geometry;
  wanted.boot = boot_id();
  if (what.size != Bytes{}) wanted.size = what.size;
  if (what.sha256.empty()) return wanted;
  wanted.promised = transfer::digest_of_hex(what.sha256);
  if (!wanted.promised) return fail(ErrorCode::kInvalid, "the promised SHA-256 is none");
  return wanted;
}

}  // namespace

FileFetch::FileFetch(Connections& connections, const wire::FetchRules& rules, FileTarget target)
    : connections_{connections},
      most_{std::max(rules.connections, 1)},
      target_{std::move(target)},
      patience_{rules.retries, milliseconds{rules.retry_ms}},
      allowed_{most_} {
  target_.geometry.connections = most_;
}

Result<wire::Fetched> FileFetch::run(const wire::FetchFile& what) {
  Result<Url> url = Url::parse(what.url);
  if (!url) return Failed{std::move(url).error()};
  Result<transfer::Wanted> wanted = wanted_of(what, target_.geometry);
  if (!wanted) return Failed{std::move(wanted).error()};
  auto download = transfer::Download::open(Files::real(), std::move(target_.data),
                                           std::move(target_.journal), *std::move(wanted));
  if (!download) return Failed{std::move(download).error()};
  Course course{**download, *std::move(url), what.headers, what.sha256, false, {}, {}};
  return drive(course);
}

Result<wire::Fetched> FileFetch::drive(Course& course) {
  HashThread hash{course.download, [this] { connections_.wake(); }};
  arrived_ = course.download.state().arrived;
  while (!hash.over()) {
    reap(course);
    if (course.failed) break;
    start_lanes(course);
    report(course);
    connections_.step(time_to_wait());
  }
  lanes_.clear();
  hash.stop();
  if (hash.over() && !hash.result()) return Failed{hash.result().error()};
  if (!hash.over()) return Failed{*std::move(course.failed)};
  const Result<transfer::Finished> finished = course.download.finish();
  if (!finished) return Failed{finished.error()};
  return wire::Fetched{hex_of(finished->sha256), finished->validator, finished->size,
                       course.download.state().received};
}

void FileFetch::reap(Course& course) {
  note_progress(course);
  for (const auto& lane : lanes_) {
    lane->tend();
    if (!lane->over() || course.failed) continue;
    if (lane->trouble()) {
      on_trouble(*lane, course);
    } else if (allowed_ < most_ && connections_.now() - last_overload_ > kUntilMoreLanes) {
      ++allowed_;
      last_overload_ = connections_.now();
    }
  }
  std::erase_if(lanes_, [](const auto& lane) { return lane->over(); });
}

// Bytes that were here before, or are of no use, are none.
void FileFetch::note_progress(const Course& course) {
  const Bytes arrived = course.download.state().arrived;
  if (arrived > arrived_) {
    patience_.progressed();
    progressed_ = true;
  }
  arrived_ = arrived;
}

void FileFetch::on_trouble(const Lane& lane, Course& course) {
  const Trouble& trouble = *lane.trouble();
  // What a redirect led to may have expired: the next attempt begins at the beginning.
  course.led_to.reset();
  if (lane.expired()) return;
  if (trouble.hope == Trouble::Hope::kNone) {
    course.failed = trouble.error;
    return;
  }
  const TimePoint now = connections_.now();
  if (trouble.overloaded) {
    allowed_ = std::max(1, active() - 1);
    last_overload_ = now;
  }
  // Others that were under way then fail of the same, and that counts once.
  if (lane.begun() < last_failure_) return;
  last_failure_ = now;
  const bool at_once = std::exchange(progressed_, false) && lane.brought() >= kMuch;
  if (at_once && !trouble.retry_after) return;
  const auto wait = patience_.failed(trouble.retry_after);
  if (wait) {
    not_before_ = now + *wait;
    waiting_for_ = trouble.error.message();
    return;
  }
  const std::string tries = patience_.in_row() == 0
                                ? ""
                                : fmt::format("; given up after {} attempts without any progress",
                                              patience_.in_row() + 1);
  course.failed = Error{trouble.error.code(), trouble.error.message() + tries};
}

void FileFetch::start_lanes(Course& course) {
  while (active() < allowed_ && !course.failed && connections_.now() >= not_before_) {
    const std::optional<transfer::Range> range = course.download.next();
    if (!range) return;
    lanes_.push_back(std::make_unique<Lane>(course, *range));
    lanes_.back()->begin(connections_);
    if (lanes_.back()->over()) return;
  }
}

milliseconds FileFetch::time_to_wait() const {
  const TimePoint now = connections_.now();
  if (not_before_ <= now) return kBetweenReports;
  return std::min(kBetweenReports, std::chrono::ceil<milliseconds>(not_before_ - now));
}

void FileFetch::report(const Course& course) {
  const TimePoint now = connections_.now();
  if (now - last_report_ < kBetweenReports) return;
  last_report_ = now;
  const transfer::DownloadState state = course.download.state();
  wire::Fetching fetching;
  const bool verifies = state.stage == transfer::DownloadState::Stage::kVerify;
  fetching.stage = verifies ? "verify" : "download";
  fetching.done = verifies ? state.hashed : state.arrived;
  fetching.total = state.total.value_or(Bytes{});
  fetching.received = state.received;
  fetching.connections = active();
  fetching.note = note();
  target_.progress(fetching);
}

std::string FileFetch::note() const {
  const Duration left = not_before_ - connections_.now();
  if (active() > 0 || left <= Duration{}) return {};
  return fmt::format("waiting {} s: {}", std::chrono::ceil<std::chrono::seconds>(left).count(),
                     waiting_for_);
}

}  // namespace hearth::fetcher
