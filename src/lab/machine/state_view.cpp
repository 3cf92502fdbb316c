// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/state_view.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "lab/machine/processes.h"
#include "layers/pages/residency.h"

namespace hearth::lab {
namespace {

std::optional<double> number(std::string_view text) {
  text = trimmed(text, " \t\n");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::optional{value} : std::nullopt;
}

std::optional<double> mean(double sum, int count) {
  return count == 0 ? std::nullopt : std::optional{sum / count};
}

std::optional<double> clock_by_driver() {
  double sum = 0;
  int count = 0;
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  for (long n = 0; n < processors; ++n) {
    const auto khz = number(read_small_file("/sys/devices/system/cpu/cpu" + std::to_string(n) +
                                            "/cpufreq/scaling_cur_freq"));
    if (!khz) continue;
    sum += *khz / 1000;
    ++count;
  }
  return mean(sum, count);
}

// In a virtual machine that figure is a constant.
std::optional<double> clock_by_processor(std::string_view cpuinfo) {
  if (cpuinfo.find(" hypervisor") != std::string_view::npos) return std::nullopt;
  double sum = 0;
  int count = 0;
  for (std::size_t at = 0; (at = cpuinfo.find("\ncpu MHz", at)) != std::string_view::npos; ++at) {
    const std::size_t colon = cpuinfo.find(':', at);
    if (colon == std::string_view::npos) break;
    const auto mhz = number(cpuinfo.substr(colon + 1, cpuinfo.find('\n', colon) - colon - 1));
    if (!mhz) continue;
    sum += *mhz;
    ++count;
  }
  return mean(sum, count);
}

void add_pages(const Files& files, StateProof& proof, const std::vector<std::string>& paths) {
  Residency sum;
  for (const std::string& path : paths) {
    const Result<Fd> file = files.open_read(path);
    const Result<FileInfo> info = file ? files.info(*file) : Result<FileInfo>{FileInfo{}};
    // Of a part nothing can be said about the whole.
    if (!file || !info) return;
    sum.add(residency_of(*file, {0, info->size}));
  }
  if (paths.empty() || sum.total == Bytes{} || sum.method == ResidencyMethod::kUnknown) return;
  proof.load_set = sum.total;
  proof.pages = sum.fraction();
  proof.pages_by = name_of(sum.method);
  if (sum.method == ResidencyMethod::kCachestat) proof.pages_evicted = sum.evicted;
}

// As the kernel names what is mapped.
std::vector<std::string> without_links(const Files& files, const std::vector<std::string>& paths) {
  std::vector<std::string> real;
  for (const std::string& path : paths) real.push_back(files.real_path(path).value_or(path));
  return real;
}

bool maps_any(pid_t pid, const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths, [&](const auto& path) { return maps_file(pid, path); });
}

struct Holder {
  pid_t pid = 0;
  bool maps = false;
  Bytes resident;
};

void add_processes(StateProof& proof, const std::vector<pid_t>& pids,
                   const std::vector<std::string>& paths) {
  // Nobody to look at is no proof that there is nobody.
  if (pids.empty()) return;
  proof.processes = 0;
  ProcessFigures sum;
  Holder holder;
  for (const pid_t pid : pids) {
    const auto figures = figures_of(pid);
    if (!figures) continue;
    ++*proof.processes;
    sum.resident += figures->resident;
    sum.anonymous += figures->anonymous;
    sum.file_backed += figures->file_backed;
    sum.locked += figures->locked;
    const Holder found{pid, maps_any(pid, paths), figures->resident};
    const bool is_better = holder.pid == 0 || (found.maps && !holder.maps) ||
                           (found.maps == holder.maps && found.resident > holder.resident);
    if (is_better) holder = found;
  }
  if (*proof.processes == 0) return;
  proof.mapped = holder.maps;
  proof.holder_age_s = age_of(holder.pid);
  proof.resident = sum.resident;
  proof.anonymous = sum.anonymous;
  proof.file_backed = sum.file_backed;
  proof.locked = sum.locked;
}

}  // namespace

std::optional<double> processor_clock() {
  if (const auto clock = clock_by_driver()) return clock;
  return clock_by_processor(read_small_file("/proc/cpuinfo"));
}

StateProof observe_state(const Files& files, const std::vector<pid_t>& processes,
                         const std::vector<std::string>& paths) {
  StateProof proof;
  add_processes(proof, processes, without_links(files, paths));
  add_pages(files, proof, paths);
  proof.clock_mhz = processor_clock();
  return proof;
}

}  // namespace hearth::lab
