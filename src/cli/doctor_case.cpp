// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "cli/answer.h"
#include "cli/json_fields.h"
#include "lab/doctor/diagnosis.h"
#include "layers/pages/device.h"
#include "layers/pages/small_file.h"

namespace hearth::cli {
namespace {

namespace json = boost::json;

constexpr int kPage = 1000;             // replies, the most that one answer has
constexpr std::size_t kMost = 100'000;  // replies that are looked at
constexpr std::int64_t kDayUs = 86'400'000'000;

using Reader = void (*)(lab::Circumstances& facts, const json::object& answer);

// ---- from the server ----

void ask(const Session& session, const char* target, Reader reader, lab::Circumstances& facts) {
  const auto answer = object_of(session.api.get(target));
  if (answer) return reader(facts, *answer);
  facts.not_observable.push_back({target, answer.error().message()});
}

// The history goes on before `last`; false: it does not, or not within `since_us`.
Result<bool> add_page(const Session& session, std::string& last, std::int64_t since_us,
                      std::vector<lab::PastReply>& replies) {
  std::string target = fmt::format("/api/hearth/requests?limit={}", kPage);
  if (!last.empty()) target += "&before=" + percent_encode(last);
  const auto answer = object_of(session.api.get(target));
  if (!answer) return Failed{answer.error()};
  const auto entries = objects_in(*answer, "requests");
  for (const json::object* entry : entries) {
    if (integer_in(*entry, "started_us") < since_us) return false;
    if (auto reply = lab::past_reply_of(*entry)) replies.push_back(std::move(*reply));
  }
  if (entries.empty()) return false;
  last = text_in(*entries.back(), "request_id");
  return static_cast<int>(entries.size()) == kPage && !last.empty();
}

Result<> add_history(const Session& session, DoctorCase& found) {
  const std::int64_t since = found.now_us - lab::kDays * kDayUs;
  std::string last;
  for (bool more = true; more && found.replies.size() < kMost;) {
    const Result<bool> page = add_page(session, last, since, found.replies);
    if (!page) return Failed{page.error()};
    more = *page;
  }
  return {};
}

// ---- from the kernel ----

// A port may be forwarded from elsewhere: it is here if the process of that number is a server.
bool runs_here(const json::object& version) {
  const std::int64_t pid = integer_in(version, "pid");
  const std::string name = small_text(Files::real(), fmt::format("/proc/{}/comm", pid));
  return pid > 0 && name == "hearth";
}

void add_power(lab::Circumstances& facts) {
  const Files& files = Files::real();
  const std::string processors = "/sys/devices/system/cpu/";
  lab::Circumstances::Power power;
  power.governor = small_text(files, processors + "cpu0/cpufreq/scaling_governor");
  power.driver = small_text(files, processors + "cpu0/cpufreq/scaling_driver");
  power.idle_states = small_text(files, processors + "cpuidle/current_driver");
  if (power.governor.empty()) {
    facts.not_observable.push_back({"clock of the processors", "the kernel does not show cpufreq"});
  }
  if (!power.governor.empty() || !power.idle_states.empty()) facts.power = std::move(power);
}

// Of models that were not read since the server's start.
void add_disks(lab::Circumstances& facts, const json::object& models) {
  std::set<std::string> known;
  for (const auto& disk : facts.disks) known.insert(disk.name);
  for (const json::object* model : objects_in(models, "models")) {
    const std::vector<std::string> paths = texts_in(*model, "paths");
    if (paths.empty()) continue;
    const Device device = device_of(Files::real(), paths.front());
    if (!known.insert(device.name).second) continue;
    facts.disks.push_back({device.name, std::string{name_of(device.kind)}, device.file_system,
                           device.read_ahead, read_ahead_finding(device), std::nullopt});
  }
}

void look_around(lab::Circumstances& facts, const json::object& models) {
  const Files& files = Files::real();
  facts.swaps = lab::swaps_in(small_text(files, "/proc/swaps"));
  facts.killed = lab::killed_in(small_text(files, "/proc/vmstat"));
  facts.processors = static_cast<int>(std::thread::hardware_concurrency());
  add_power(facts);
  add_disks(facts, models);
}

}  // namespace

Result<DoctorCase> doctor_case(const Session& session) {
  DoctorCase found;
  found.now_us = Clock::real().wall_us();
  const auto version = object_of(session.api.get("/api/hearth/version"));
  if (!version) return Failed{version.error()};
  lab::Circumstances& facts = found.facts;
  lab::add_version(facts, *version);
  ask(session, "/api/hearth/memory", lab::add_memory, facts);
  ask(session, "/api/hearth/config", lab::add_configuration, facts);
  ask(session, "/api/hearth/prefix", lab::add_prefix, facts);
  const auto models = object_of(session.api.get("/api/hearth/models"));
  if (models) lab::add_models(facts, *models);
  if (runs_here(*version)) {
    look_around(facts, models.value_or(json::object{}));
  } else {
    facts.not_observable.push_back(
        {"swap, power and disks that were not read from", "the server runs elsewhere"});
  }
  const Result<> history = add_history(session, found);
  if (!history) return Failed{history.error()};
  return found;
}

}  // namespace hearth::cli
