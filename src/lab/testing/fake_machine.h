// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "lab/machine/machine.h"

namespace hearth::lab::testing {

// A machine that a test makes and looks into. Its time moves only by sleep() and by what fake
// servers take. What it holds may be changed at any moment. Belongs to one thread.
class FakeMachine : public Machine {
 public:
  struct File {
    Bytes size{1'000'000'000};
    double share = 1.0;  // resident
    Bytes evicted{};
  };
  struct Process {
    TimePoint born{};
    Bytes resident{};
    Bytes anonymous{};
  };
  std::map<std::string, File> files;
  std::map<pid_t, Process> processes;
  std::map<std::string, std::set<pid_t>> maps;  // file -> who maps it
  Effects sum;                                  // since the beginning: meters tell differences
  double outside_cores = 0.0;
  bool quiet = true;
  bool observable = true;  // false: nobody may look at pages
  std::optional<double> fastest = 2e9;
  std::optional<Error> refuses;  // what set_pages answers
  ManualClock clock;

  struct PagesSet {
    std::vector<std::string> files;
    double share;
    PagePattern pattern;
  };
  std::vector<PagesSet> pages_set;
  std::vector<Competitor> competitors;  // that were ever started
  int competing = 0;                    // right now
  Bytes competitors_do{1 << 20};
  std::chrono::milliseconds slept{};

  StateProof observe(const std::vector<pid_t>& pids,
                     const std::vector<std::string>& paths) const override {
    StateProof proof;
    if (!pids.empty()) proof.processes = static_cast<int>(pids.size());
    proof.clock_mhz = 3000.0;
    add_processes(proof, pids);
    if (observable && !paths.empty()) add_pages(proof, paths);
    return proof;
  }

  std::unique_ptr<EffectsMeter> watch(Processes) const override {
    return std::make_unique<Meter>(*this);
  }
  bool wait_for_quiet(std::chrono::milliseconds) const override { return quiet; }
  std::optional<double> fastest_read(const std::string&) override { return fastest; }
  std::string description(const std::vector<std::string>&) const override {
    return R"({"name":"fake","not_observable":{"joules":"a fake has none"}})";
  }

  Result<> set_pages(const std::vector<std::string>& paths, double share,
                     PagePattern pattern) override {
    if (refuses) return Failed{*refuses};
    for (const std::string& path : paths) {
      if (share < files[path].share && !maps[path].empty()) {
        return fail(ErrorCode::kConflict, path + " is mapped");
      }
      files[path].share = share;
      files[path].evicted = {};
    }
    pages_set.push_back({paths, share, pattern});
    return {};
  }

  Result<std::unique_ptr<Competition>> compete(Competitor competitor, const std::string&) override {
    competitors.push_back(competitor);
    return std::make_unique<Beside>(*this);
  }
  void sleep(std::chrono::milliseconds duration) override {
    slept += duration;
    clock.advance(duration);
  }

  // Reads what is missing, as a load does; returns what came from the device.
  Bytes read(const std::string& path) {
    File& file = files[path];
    const auto missing = Bytes{
        static_cast<std::uint64_t>((1.0 - file.share) * static_cast<double>(file.size.count()))};
    file.share = 1.0;
    sum.bytes_read = sum.bytes_read.value_or(Bytes{}) + missing;
    return missing;
  }

 private:
  class Meter : public EffectsMeter {
   public:
    explicit Meter(const FakeMachine& machine)
        : machine_{machine}, before_{machine.sum.bytes_read.value_or(Bytes{})} {}
    Effects read() override {
      Effects effects = machine_.sum;
      effects.bytes_read = machine_.sum.bytes_read.value_or(Bytes{}) - before_;
      effects.outside_cores = machine_.outside_cores;
      return effects;
    }

   private:
    const FakeMachine& machine_;
    Bytes before_;
  };

  class Beside : public Competition {
   public:
    explicit Beside(FakeMachine& machine) : machine_{machine} { ++machine_.competing; }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    ~Beside() override { --machine_.competing; }
    Bytes done() const override { return machine_.competitors_do; }

   private:
    FakeMachine& machine_;
  };

  void add_processes(StateProof& proof, const std::vector<pid_t>& pids) const {
    Bytes resident, anonymous;
    for (const pid_t pid : pids) {
      const auto found = processes.find(pid);
      if (found == processes.end()) continue;
      resident += found->second.resident;
      anonymous += found->second.anonymous;
      const double age = milliseconds_of(clock.now() - found->second.born) / 1000;
      proof.holder_age_s = std::min(proof.holder_age_s.value_or(age), age);
    }
    if (pids.empty()) return;
    proof.mapped = std::ranges::any_of(pids, [&](pid_t pid) {
      return std::ranges::any_of(maps, [&](const auto& file) { return file.second.contains(pid); });
    });
    proof.resident = resident;
    proof.anonymous = anonymous;
    proof.file_backed = resident - anonymous;
    proof.locked = Bytes{};
  }

  void add_pages(StateProof& proof, const std::vector<std::string>& paths) const {
    double resident = 0, total = 0;
    Bytes evicted;
    for (const std::string& path : paths) {
      const auto found = files.find(path);
      if (found == files.end()) continue;
      const auto size = static_cast<double>(found->second.size.count());
      resident += found->second.share * size;
      total += size;
      evicted += found->second.evicted;
    }
    if (total == 0) return;
    proof.pages = resident / total;
    proof.load_set = Bytes{static_cast<std::uint64_t>(total)};
    proof.pages_evicted = evicted;
    proof.pages_by = "cachestat";
  }
};

}  // namespace hearth::lab::testing
