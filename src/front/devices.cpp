// SPDX-License-Identifier: Apache-2.0
#include "front/devices.h"

#include <boost/json.hpp>
#include <utility>

#include "base/log.h"
#include "front/devices_json.h"

namespace hearth::front {

SerialReads serial_reads_named(std::string_view word) {
  if (word == "always") return SerialReads::kAlways;
  return word == "never" ? SerialReads::kNever : SerialReads::kAuto;
}

Devices::Devices(World world, DeviceBook book, std::uint64_t seed)
    : world_{std::move(world)}, book_{std::move(book)}, random_{seed}, scheduler_{world_.loop} {}

const DeviceRates& Devices::rates_of(const std::string& key) const {
  static const DeviceRates kNone;
  const auto found = book_.find(key);
  return found == book_.end() ? kNone : found->second;
}

bool Devices::is_serial(const Device& device) const {
  switch (world_.serial()) {
    case SerialReads::kAlways:
      return device.kind != DeviceKind::kMemory;
    case SerialReads::kNever:
      return false;
    case SerialReads::kAuto:
      break;
  }
  return hearth::is_serial(device, rates_of(device.key));
}

void Devices::remember(const Survey& survey) {
  for (const Survey::Share& share : survey.shares) {
    seen_[share.device.key].device = share.device;
  }
}

Task<std::optional<Survey>> Devices::survey(LoadSet load_set) {
  auto job = [&files = world_.files, set = std::move(load_set)] { return survey_of(files, set); };
  Result<Survey> found = co_await world_.disk.run(world_.loop, std::move(job));
  if (!found) co_return std::nullopt;
  remember(*found);
  co_return std::optional<Survey>{std::move(*found)};
}

Task<Devices::Entered> Devices::enter(LoadSet load_set, DiskScheduler::Claim claim) {
  Entered entered;
  LoadSet looked_at = load_set;
  entered.survey = co_await survey(std::move(looked_at));
  std::set<std::string> slow;
  if (entered.survey) {
    for (const Survey::Share& share : entered.survey->shares) {
      if (share.residency.missing() == Bytes{} || !is_serial(share.device)) continue;
      slow.insert(share.device.key);
    }
  }
  if (slow.empty()) co_return entered;
  const TimePoint begun = world_.loop.now();
  entered.tickets = co_await scheduler_.enter(std::move(slow), std::move(claim));
  entered.waited = world_.loop.now() - begun;
  // Whoever read meanwhile may have brought some of it.
  if (entered.waited > Duration::zero()) entered.survey = co_await survey(std::move(load_set));
  co_return entered;
}

ReadChoice Devices::choose(const Survey& survey, ReadNeed::Fit fit, ReadNeed::Purpose purpose) {
  const Survey::Share* main = survey.main_share();
  if (main == nullptr) return {};
  ReadNeed need;
  need.missing = survey.missing();
  need.fit = fit;
  need.purpose = purpose;
  ReadChoice choice = choose_read(main->device, rates_of(main->device.key), need, random_);
  seen_[main->device.key].choice = choice;
  return choice;
}

std::string Devices::single_source(const Survey& survey) {
  const Survey::Share* main = survey.main_share();
  if (main == nullptr) return {};
  const Bytes from_it = main->residency.missing();
  return from_it.count() * 10 >= survey.missing().count() * 9 ? main->device.key : std::string{};
}

void Devices::note_read(const std::string& device, const ReadStyle& style, Bytes bytes,
                        Duration time) {
  if (device.empty() || !hearth::note_read(book_[device], style, bytes, time)) return;
  world_.writer.submit([&files = world_.files, path = world_.book, book = book_] {
    if (const auto saved = save_device_book(files, path, book); !saved) {
      log::warn("devices.not_saved", {{"path", path}, {"reason", saved.error().message()}});
    }
  });
}

Task<ReadTurn> Devices::turn(LoadSet load_set, const hearth::Progress& progress) {
  auto give_way = std::make_shared<std::atomic<bool>>(false);
  DiskScheduler::Claim claim;
  claim.urgency = DiskScheduler::Urgency::kWarmUp;
  claim.cancelled = [&progress] { return progress.cancelled(); };
  claim.give_way = give_way;
  Entered entered = co_await enter(std::move(load_set), std::move(claim));
  ReadTurn turn;
  if (entered.survey) {
    const auto purpose = ReadNeed::Purpose::kWarmUp;
    turn.style = choose(*entered.survey, ReadNeed::Fit::kFits, purpose).style;
    turn.device = single_source(*entered.survey);
  }
  turn.leave = std::move(entered.tickets);
  turn.give_way = std::move(give_way);
  co_return turn;
}

void Devices::note(const ReadTurn& turn, const ReadReport& report) {
  note_read(turn.device, turn.style, report.read, report.time);
}

boost::json::object Devices::view(const Seen& seen) const {
  const std::string& key = seen.device.key;
  return device_json(DeviceView{seen.device, rates_of(key), seen.choice ? &*seen.choice : nullptr,
                                is_serial(seen.device), scheduler_.busy(key),
                                scheduler_.waiting(key)});
}

boost::json::array Devices::shown() const {
  boost::json::array list;
  for (const auto& [key, seen] : seen_) list.push_back(view(seen));
  return list;
}

Task<std::string> Devices::shown_for(std::string path) {
  auto job = [&files = world_.files, path = std::move(path)] { return device_of(files, path); };
  Device device = co_await world_.disk.run(world_.loop, std::move(job));
  Seen& seen = seen_[device.key];
  seen.device = std::move(device);
  co_return boost::json::serialize(view(seen));
}

}  // namespace hearth::front
