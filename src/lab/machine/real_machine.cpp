// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "lab/machine/competition.h"
#include "lab/machine/description.h"
#include "lab/machine/file_pages.h"
#include "lab/machine/machine.h"
#include "lab/machine/machine_load.h"
#include "lab/machine/process_watch.h"
#include "lab/machine/read_speed.h"
#include "lab/machine/state_view.h"
#include "layers/pages/device.h"

namespace hearth::lab {
namespace {

constexpr std::chrono::milliseconds kLook{100};

class RealMachine : public Machine {
 public:
  RealMachine(const Files& files, std::function<bool()> stop)
      : files_{files}, stop_{std::move(stop)} {}

  StateProof observe(const std::vector<pid_t>& processes,
                     const std::vector<std::string>& paths) const override {
    return observe_state(files_, processes, paths);
  }

  std::unique_ptr<EffectsMeter> watch(Processes processes) const override {
    return std::make_unique<ProcessWatch>(std::move(processes));
  }

  bool wait_for_quiet(std::chrono::milliseconds patience) const override {
    return wait_until_quiet(patience, stop_);
  }

  std::optional<double> fastest_read(const std::string& file) override {
    const Device device = device_of(files_, file);
    if (const auto known = fastest_.find(device.key); known != fastest_.end()) return known->second;
    auto& found = fastest_[device.key];
    if (takes_direct_reads(device)) found = fastest_direct_read(file);
    return found;
  }

  std::string description(const std::vector<std::string>& paths) const override {
    return describe_machine(files_, paths);
  }

  Result<> set_pages(const std::vector<std::string>& paths, double share,
                     PagePattern pattern) override {
    for (const std::string& path : paths) {
      if (Result<> set = set_file_pages(files_, path, share, pattern); !set) return set;
    }
    // Reading one may have pushed another out.
    for (const std::string& path : paths) {
      if (is_kept(files_, path, share)) continue;
      return fail(ErrorCode::kUnavailable, path + ": memory is too small for all of the files");
    }
    return {};
  }

  Result<std::unique_ptr<Competition>> compete(Competitor competitor,
                                               const std::string& directory) override {
    if (Result<> made = files_.make_directories(directory, 0700); !made) {
      return Failed{std::move(made).error()};
    }
    return start_competition(files_, competitor, directory,
                             CompetitionSize::usual(files_, directory), stop_);
  }

  void sleep(std::chrono::milliseconds duration) override {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + duration;
    for (auto now = Clock::now(); now < until && !(stop_ && stop_()); now = Clock::now()) {
      std::this_thread::sleep_for(std::min<Clock::duration>(kLook, until - now));
    }
  }

 private:
  const Files& files_;
  std::function<bool()> stop_;
  std::map<std::string, std::optional<double>> fastest_;  // by the device's key
};

}  // namespace

std::unique_ptr<Machine> real_machine(std::function<bool()> stop) {
  return std::make_unique<RealMachine>(Files::real(), std::move(stop));
}

}  // namespace hearth::lab
