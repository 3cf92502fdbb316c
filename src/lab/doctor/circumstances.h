// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace hearth::lab {

// What a server and its machine are like just now, as far as somebody could look. What is unset
// could not be observed; `not_observable` says why. Plain values.
struct Circumstances {
  struct Disk {
    std::string name{};
    std::string kind{};         // "ssd", "rotational", "network", ...
    std::string file_system{};  // empty: not told
    std::optional<Bytes> read_ahead{};
    std::string finding{};                // about read-ahead, with its command; empty: none
    std::optional<double> bytes_per_s{};  // the fastest that models were read from it
  };
  std::vector<Disk> disks{};  // that models were read from

  struct Memory {
    std::optional<Bytes> limit{}, held{}, free{};  // of the budget for models
    std::string limit_reason{};
    std::optional<Bytes> total{}, available{}, swap_used{};  // of the machine
    std::string cgroup{};                                    // path; empty: none limits
    std::optional<Bytes> cgroup_limit{}, cgroup_unreclaimable{};
    std::optional<double> memory_pressure{}, cpu_pressure{};  // PSI some avg10, percent
  };
  Memory memory{};

  struct Swap {
    std::string name{};
    bool compressed = false;  // zram
    Bytes size{};
    Bytes used{};
  };
  std::optional<std::vector<Swap>> swaps{};

  struct Power {
    std::string governor{};     // of the first processor's clock
    std::string driver{};       // that sets it
    std::string idle_states{};  // the driver of low-power states; "none"
  };
  std::optional<Power> power{};

  std::optional<int> processors{};
  std::optional<std::int64_t> killed{};  // processes ended for want of memory since the boot

  struct Model {
    std::string name{};
    std::string store{};  // whose files
    Bytes size{};
    std::optional<Bytes> need{};  // of a load
    std::string keep_alive{}, keep_alive_source{};
    std::vector<std::string> pinned{};
    Bytes compiled{};  // kept on disk
  };
  std::vector<Model> models{};

  struct Option {
    std::string name{};
    std::string value{};
    std::string origin{};  // who set it: a file and its line, a variable
  };
  std::vector<Option> options{};          // that are not at their defaults
  std::vector<std::string> layers_off{};  // cache layers that keep nothing

  struct Prefix {
    std::optional<Bytes> memory{}, memory_limit{}, disk{}, disk_limit{};
  };
  Prefix prefix{};

  // Heads of prompts that change each time, as the server found them.
  struct VolatileHead {
    std::string model{}, text{}, remedy{};
    int requests = 0;
  };
  std::vector<VolatileHead> volatile_heads{};

  struct NotObservable {
    std::string what{};
    std::string why{};
  };
  std::vector<NotObservable> not_observable{};

  const Model* model(const std::string& name) const;  // null: unknown
};

// ---- what the answers of a server say; each adds to what is there ----
void add_version(Circumstances& facts, const boost::json::object& answer);
void add_memory(Circumstances& facts, const boost::json::object& answer);
void add_models(Circumstances& facts, const boost::json::object& answer);
void add_configuration(Circumstances& facts, const boost::json::object& answer);
void add_prefix(Circumstances& facts, const boost::json::object& answer);  // with its findings

// ---- what the kernel says, where the server runs on this machine; pure ----
// The text of /proc/swaps.
std::vector<Circumstances::Swap> swaps_in(const std::string& text);
// "oom_kill" of /proc/vmstat.
std::optional<std::int64_t> killed_in(const std::string& text);

boost::json::object to_json(const Circumstances& facts);

}  // namespace hearth::lab
