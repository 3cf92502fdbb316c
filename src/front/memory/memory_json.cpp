// SPDX-License-Identifier: Apache-2.0
#include "front/memory/memory_json.h"

#include <algorithm>
#include <limits>

#include "front/memory/capped_sum.h"
#include "timeline/json_writer.h"

namespace hearth::front {
namespace {

std::int64_t number(Bytes bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(bytes.count(), kMost));
}

void add(JsonWriter& json, std::string_view key, std::optional<Bytes> bytes) {
  if (bytes) {
    json.integer(key, number(*bytes));
  } else {
    json.null(key);
  }
}

void add(JsonWriter& json, std::string_view key, std::optional<double> percent) {
  if (percent) {
    json.number(key, *percent);
  } else {
    json.null(key);
  }
}

// Nothing is known of a limit before the first reading.
std::optional<Bytes> known(Bytes limit) {
  return limit == kBoundless ? std::nullopt : std::optional{limit};
}

std::string machine_json(const MachineMemory& machine, Bytes reserve) {
  JsonWriter json;
  add(json, "total", machine.total);
  add(json, "available", machine.available);
  json.integer("reserve", number(reserve));
  add(json, "swap_used", machine.swap_used);
  return json.object();
}

std::string cgroup_json(const std::optional<CgroupMemory>& cgroup) {
  if (!cgroup) return "null";
  JsonWriter json;
  json.string("path", cgroup->path).integer("version", cgroup->version);
  json.integer("limit", number(cgroup->limit)).integer("used", number(cgroup->used));
  return json.integer("unreclaimable", number(cgroup->unreclaimable)).object();
}

std::string pressure_json(const MachineMemory& machine) {
  const bool inside = machine.cgroup && machine.cgroup->some_avg10;
  JsonWriter json;
  if (machine.memory_pressure.some_avg10 || inside) {
    json.number("memory_some_avg10", machine.memory_some_avg10());
  } else {
    json.null("memory_some_avg10");
  }
  add(json, "cpu_some_avg10", machine.cpu_some_avg10);
  return json.object();
}

std::string held_json(const std::vector<Held>& held) {
  std::string list;
  for (const Held& one : held) {
    JsonWriter json;
    json.string("what", name_of(one.what));
    if (one.shown().empty()) {
      json.null("model");
    } else {
      json.string("model", one.shown());
    }
    json.integer("bytes", number(one.bytes));
    list += (list.empty() ? "" : ",") + json.object();
  }
  return "[" + list + "]";
}

std::string devices_json(const std::vector<const MemoryBudget*>& devices) {
  std::string list;
  for (const MemoryBudget* device : devices) {
    JsonWriter json;
    json.string("name", device->name());
    add(json, "limit", known(device->limit()));
    json.integer("held", number(device->held()));
    list += (list.empty() ? "" : ",") + json.object();
  }
  return "[" + list + "]";
}

}  // namespace

std::string memory_json(const MemoryReport& report) {
  const MemoryBudget& budget = report.budget;
  JsonWriter json;
  add(json, "limit_bytes", known(budget.limit()));
  json.string("limit_reason", budget.why_limit());
  json.integer("held_bytes", number(budget.held()));
  json.integer("promised_bytes", number(budget.promised()));
  add(json, "free_bytes", known(budget.free()));
  json.integer("over_bytes", number(budget.over()));
  json.raw("machine", machine_json(report.machine, budget.kept_free()));
  json.raw("cgroup", cgroup_json(report.machine.cgroup));
  json.raw("pressure", pressure_json(report.machine));
  json.raw("held", held_json(budget.held_by()));
  json.raw("devices", devices_json(report.devices));
  JsonWriter cache;
  cache.integer("ours", number(report.ours_in_page_cache));
  add(cache, "of_files", report.machine.of_files);
  return json.raw("page_cache", cache.object()).object();
}

}  // namespace hearth::front
