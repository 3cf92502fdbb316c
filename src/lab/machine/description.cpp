// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/description.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "lab/machine/machine_load.h"
#include "lab/machine/state_view.h"
#include "layers/pages/device.h"
#include "layers/pages/memory_room.h"
#include "layers/pages/residency.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;

std::string text_of(const std::string& path) {
  return std::string{trimmed(read_small_file(path), " \t\n")};
}

// What follows "name:" in a text of lines.
std::string line_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const std::size_t colon = text.find(':', at);
  if (colon == std::string_view::npos) return {};
  return std::string{trimmed(text.substr(colon + 1, text.find('\n', colon) - colon - 1), " \t")};
}

json::value kib_of(std::string_view meminfo, std::string_view name) {
  const std::string text = line_of(meminfo, name);
  std::uint64_t kib = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kib);
  if (error != std::errc{}) return nullptr;
  return kib << 10U;
}

void put(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

json::object processors() {
  const std::string info = read_small_file("/proc/cpuinfo");
  json::object found{{"online", ::sysconf(_SC_NPROCESSORS_ONLN)},
                     {"virtual", info.find(" hypervisor") != std::string::npos}};
  put(found, "model", line_of(info, "model name"));
  put(found, "governor", text_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  put(found, "idle_driver", text_of("/sys/devices/system/cpu/cpuidle/current_driver"));
  if (const auto mhz = processor_clock()) found["mhz"] = *mhz;
  return found;
}

json::object memory(const Files& files) {
  const std::string info = read_small_file("/proc/meminfo");
  json::object found{{"total_bytes", kib_of(info, "MemTotal")},
                     {"available_bytes", kib_of(info, "MemAvailable")},
                     {"swap_bytes", kib_of(info, "SwapTotal")}};
  put(found, "swappiness", text_of("/proc/sys/vm/swappiness"));
  put(found, "huge_pages", text_of("/sys/kernel/mm/transparent_hugepage/enabled"));
  if (const auto room = memory_room(files)) found["room_bytes"] = room->count();
  return found;
}

json::object limits() {
  json::object found;
  rlimit locked{};
  if (::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY) {
    found["locked_bytes"] = locked.rlim_cur;
  }
  put(found, "cpu", text_of("/sys/fs/cgroup/cpu.max"));
  put(found, "memory", text_of("/sys/fs/cgroup/memory.max"));
  put(found, "memory_v1", text_of("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  found["user"] = ::geteuid();
  return found;
}

json::object device(const Files& files, const std::string& path) {
  const Device found = device_of(files, path);
  json::object object{{"path", path}, {"name", found.name}, {"kind", name_of(found.kind)}};
  put(object, "file_system", found.file_system);
  put(object, "source", found.source);
  if (found.read_ahead) object["read_ahead_bytes"] = found.read_ahead->count();
  if (const auto info = files.info(path)) object["file_bytes"] = info->size.count();
  if (const auto space = files.space(path)) object["free_bytes"] = space->free.count();
  put(object, "scheduler", text_of("/sys/block/" + found.name + "/queue/scheduler"));
  put(object, "power", text_of("/sys/block/" + found.name + "/device/power/control"));
  put(object, "finding", read_ahead_finding(found));
  return object;
}

bool has_graphics_driver() {
  std::error_code ignored;
  return std::filesystem::exists("/proc/driver/nvidia", ignored) ||
         std::filesystem::exists("/sys/class/kfd/kfd", ignored);
}

std::string why_no_residency(const Files& files, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const Result<Fd> file = files.open_read(path);
    if (!file) return file.error().message();
    const Residency found = residency_of(*file, {0, Bytes{1}});
    if (found.method == ResidencyMethod::kUnknown) return "the kernel does not tell of " + path;
    if (found.method == ResidencyMethod::kMincore) {
      return "only by mincore: what was evicted under pressure is not told (Linux before 6.5)";
    }
  }
  return {};
}

json::object not_observable(const Files& files, const std::vector<std::string>& paths) {
  json::object found;
  const MachineLoad load = MachineLoad::now();
  if (!load.joules) found["joules"] = "there is no RAPL counter that we may read";
  if (!processor_clock()) found["clock"] = "the kernel does not tell what processors run at";
  if (load.stall_s.empty()) found["stall"] = "the kernel has no /proc/pressure";
  if (!has_graphics_driver()) found["device"] = "there is no graphics driver";
  put(found, "pages", why_no_residency(files, paths));
  std::error_code ignored;
  if (!std::filesystem::exists("/sys/class/powercap/intel-rapl:0", ignored) &&
      !std::filesystem::exists("/sys/devices/system/cpu/cpu0/cpufreq", ignored)) {
    found["power"] = "idle and frequency states are not shown to this system";
  }
  return found;
}

}  // namespace

std::string describe_machine(const Files& files, const std::vector<std::string>& paths) {
  utsname system{};
  ::uname(&system);
  json::array devices;
  for (const std::string& path : paths) devices.push_back(device(files, path));
  json::object found{{"kernel", system.release},
                     {"architecture", system.machine},
                     {"processors", processors()},
                     {"memory", memory(files)},
                     {"limits", limits()},
                     {"devices", std::move(devices)},
                     {"not_observable", not_observable(files, paths)}};
  return json::serialize(found);
}

}  // namespace hearth::lab
