// SPDX-License-Identifier: Apache-2.0
#include "front/prewarm/habit_file.h"

#include <boost/json.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "front/prewarm/kept_text.h"
#include "front/prewarm/prewarm_notes_json.h"
#include "policy/arrivals_json.h"

namespace hearth::front {
namespace json = boost::json;
namespace {

constexpr Bytes kMostOfFile{std::uint64_t{16} << 20};

// What to_json() writes, with two members more.
std::string text_of(const Arrivals& arrivals, const PrewarmNotes& prewarm,
                    const LastingNotes& time) {
  const Result<json::value> written = parse_json(to_json(arrivals));
  json::object all = written ? written->as_object() : json::object{};
  all["prewarm"] = object_of(prewarm);
  all["time"] = object_of(time);
  return json::serialize(all);
}

}  // namespace

HabitFile::HabitFile(const Files& files, std::string path, Moments moments, PrewarmRules rules)
    : files_{files},
      path_{std::move(path)},
      moments_{moments},
      time_{this_boot()},
      prewarm_{rules} {}

void HabitFile::rename(const std::string& from, const std::string& to) {
  arrivals_.rename(from, to);
  prewarm_.rename(from, to, now());
}

void HabitFile::forget(const std::string& artifact) {
  arrivals_.forget(artifact);
  prewarm_.forget(artifact, now());
}

void HabitFile::load() {
  const std::optional<std::string> text = read_kept(files_, path_, kMostOfFile);
  if (text) {
    const Result<> taken = take(*text);
    if (!taken) set_aside(files_, path_, taken.error().message());
  }
  saved_ = version();
}

Result<> HabitFile::take(std::string_view text) {
  Result<Arrivals> arrivals = arrivals_from_json(text);
  if (!arrivals) return Failed{arrivals.error()};
  const Result<json::value> parsed = parse_json(text);
  if (!parsed) return fail(ErrorCode::kCorrupt, parsed.error().message());
  try {
    const json::object& all = parsed->as_object();
    PrewarmNotes prewarm = prewarm_notes_of(all.at("prewarm").as_object());
    time_ = LastingTime{this_boot(), lasting_notes_of(all.at("time").as_object())};
    prewarm_.take(std::move(prewarm), now());
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, error.what());
  }
  arrivals_.take(std::move(*arrivals));
  return {};
}

// That nothing came is worth being kept too, each hour.
std::uint64_t HabitFile::version() {
  const auto hours = static_cast<std::uint64_t>(now() / std::chrono::hours{1});
  return arrivals_.version() + prewarm_.version() + (arrivals_.all().empty() ? 0 : hours);
}

Task<void> HabitFile::save(EventLoop& loop, Pool& pool) {
  const std::uint64_t at = version();
  if (saving_ || at == saved_) co_return;
  saving_ = true;
  const Duration time = now();
  auto job = [&files = files_, path = path_, arrivals = arrivals_.all(),
              prewarm = prewarm_.notes(time), lasting = time_.notes()] {
    return write_kept(files, path, text_of(arrivals, prewarm, lasting));
  };
  const Result<> written = co_await pool.run(loop, std::move(job));
  saving_ = false;
  if (written) saved_ = at;
  if (!written) log::warn("habits.not_written", {{"reason", written.error().message()}});
}

}  // namespace hearth::front
