// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/pool.h"
#include "base/random.h"
#include "front/disk_scheduler.h"
#include "layers/pages/device_book.h"
#include "layers/pages/read_choice.h"
#include "layers/pages/read_guide.h"
#include "layers/pages/survey.h"

namespace hearth::front {

// Which devices serve one cold read at a time.
enum class SerialReads { kAuto, kAlways, kNever };
SerialReads serial_reads_named(std::string_view word);  // "always", "never"; else kAuto

// What models lie on: who reads there when, how, and how fast that was. What was measured is kept
// over restarts. Belongs to the loop.
class Devices : public ReadGuide {
 public:
  // All of it outlives the devices and their tasks.
  struct World {
    EventLoop& loop;
    Pool& disk;    // for looks at files
    Pool& writer;  // of one thread: writes what was measured, in order
    const Files& files;
    std::string book;  // path of the file that keeps what was measured
    std::function<SerialReads()> serial;
  };
  // `seed`: of the experiments. `book`: what is kept so far.
  Devices(World world, DeviceBook book, std::uint64_t seed);

  // A load set, its devices, and leave to read from them.
  struct Entered {
    std::optional<Survey> survey;  // none: the files could not be looked at
    std::unique_ptr<DiskScheduler::Tickets> tickets;
    Duration waited{};  // for others who read
  };
  // Looks at the set, waits where something is missing from a device that others read from, and
  // looks again then. Null tickets: nothing had to be asked for, or it was cancelled.
  Task<Entered> enter(LoadSet load_set, DiskScheduler::Claim claim);

  // How to read what is missing: from the device that most of it lies on.
  ReadChoice choose(const Survey& survey, ReadNeed::Fit fit, ReadNeed::Purpose purpose);

  // A read in this style from this device, as it really was.
  void note_read(const std::string& device, const ReadStyle& style, Bytes bytes, Duration time);

  // The key of the device that at least nine tenths of what is missing come from; else empty.
  static std::string single_source(const Survey& survey);

  // ReadGuide, for warm-ups.
  Task<ReadTurn> turn(LoadSet load_set, const hearth::Progress& progress) override;
  void note(const ReadTurn& turn, const ReadReport& report) override;

  // Lets cancelled waiters notice.
  void poke() { scheduler_.poke(); }

  // What people are shown of the devices met since the start, and of the one below a file, which is
  // looked at in the pool.
  boost::json::array shown() const;
  Task<std::string> shown_for(std::string path);  // JSON

 private:
  struct Seen {
    Device device;
    std::optional<ReadChoice> choice;  // the last
  };

  bool is_serial(const Device& device) const;
  boost::json::object view(const Seen& seen) const;
  void remember(const Survey& survey);
  const DeviceRates& rates_of(const std::string& key) const;
  Task<std::optional<Survey>> survey(LoadSet load_set);

  World world_;
  DeviceBook book_;
  Random random_;
  DiskScheduler scheduler_;
  std::map<std::string, Seen> seen_;  // by Device::key
};

}  // namespace hearth::front
