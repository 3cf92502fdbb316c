// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/circumstances.h"

#include <algorithm>
#include <boost/json.hpp>
#include <sstream>

#include "lab/doctor/fields.h"

namespace hearth::lab {
namespace json = boost::json;
namespace {

Circumstances::Disk disk_of(const json::object& told) {
  Circumstances::Disk disk;
  disk.name = fields::text(told, "name");
  disk.kind = fields::text(told, "kind");
  disk.file_system = fields::text(told, "file_system");
  disk.read_ahead = fields::bytes(told, "read_ahead_bytes");
  disk.finding = fields::text(told, "finding");
  for (const json::object* rate : fields::objects(told, "rates")) {
    const auto speed = fields::number(*rate, "bytes_per_s");
    if (speed && *speed > disk.bytes_per_s.value_or(0)) disk.bytes_per_s = speed;
  }
  return disk;
}

std::optional<Bytes> need_of(const json::object& model) {
  const json::object& told = fields::part(model, "need");
  if (told.empty()) return std::nullopt;
  Bytes sum;
  for (const char* part : {"weights_bytes", "mapped_bytes", "context_bytes", "compute_bytes"}) {
    sum += fields::bytes(told, part).value_or(Bytes{});
  }
  return sum;
}

Circumstances::Model model_of(const json::object& told) {
  Circumstances::Model model;
  model.name = fields::text(told, "name");
  model.store = fields::text(told, "store");
  model.size = fields::bytes(told, "size").value_or(Bytes{});
  model.need = need_of(told);
  model.keep_alive = fields::text(told, "keep_alive");
  model.keep_alive_source = fields::text(told, "keep_alive_source");
  model.pinned = fields::texts(told, "pinned");
  const json::object& compiled = fields::part(fields::part(told, "layers"), "compiled");
  model.compiled = fields::bytes(compiled, "bytes").value_or(Bytes{});
  return model;
}

}  // namespace

const Circumstances::Model* Circumstances::model(const std::string& name) const {
  const auto found = std::ranges::find(models, name, &Model::name);
  return found == models.end() ? nullptr : &*found;
}

void add_version(Circumstances& facts, const json::object& answer) {
  for (const json::object* device : fields::objects(answer, "devices")) {
    facts.disks.push_back(disk_of(*device));
  }
  for (const auto& layer : fields::part(answer, "layers")) {
    if (layer.value() == "off") facts.layers_off.emplace_back(layer.key());
  }
}

void add_memory(Circumstances& facts, const json::object& answer) {
  Circumstances::Memory& memory = facts.memory;
  memory.limit = fields::bytes(answer, "limit_bytes");
  memory.limit_reason = fields::text(answer, "limit_reason");
  memory.held = fields::bytes(answer, "held_bytes");
  memory.free = fields::bytes(answer, "free_bytes");
  const json::object& machine = fields::part(answer, "machine");
  memory.total = fields::bytes(machine, "total");
  memory.available = fields::bytes(machine, "available");
  memory.swap_used = fields::bytes(machine, "swap_used");
  const json::object& cgroup = fields::part(answer, "cgroup");
  memory.cgroup = fields::text(cgroup, "path");
  memory.cgroup_limit = fields::bytes(cgroup, "limit");
  memory.cgroup_unreclaimable = fields::bytes(cgroup, "unreclaimable");
  const json::object& pressure = fields::part(answer, "pressure");
  memory.memory_pressure = fields::number(pressure, "memory_some_avg10");
  memory.cpu_pressure = fields::number(pressure, "cpu_some_avg10");
}

void add_models(Circumstances& facts, const json::object& answer) {
  for (const json::object* model : fields::objects(answer, "models")) {
    facts.models.push_back(model_of(*model));
  }
}

void add_configuration(Circumstances& facts, const json::object& answer) {
  for (const json::object* option : fields::objects(answer, "options")) {
    if (fields::text(*option, "source") == "default") continue;
    const json::value* value = option->if_contains("value");
    facts.options.push_back({fields::text(*option, "name"),
                             value == nullptr ? "" : json::serialize(*value),
                             fields::text(*option, "origin")});
  }
}

void add_prefix(Circumstances& facts, const json::object& answer) {
  const json::object& memory = fields::part(answer, "memory");
  const json::object& disk = fields::part(answer, "disk");
  facts.prefix = {fields::bytes(memory, "bytes"), fields::bytes(memory, "limit"),
                  fields::bytes(disk, "bytes"), fields::bytes(disk, "limit")};
  for (const json::object* found : fields::objects(answer, "findings")) {
    facts.volatile_heads.push_back(
        {fields::text(*found, "model"), fields::text(*found, "text"),
         fields::text(*found, "remedy"),
         static_cast<int>(fields::number(*found, "requests").value_or(0))});
  }
}

std::vector<Circumstances::Swap> swaps_in(const std::string& text) {
  std::vector<Circumstances::Swap> found;
  std::istringstream lines{text};
  std::string line;
  std::getline(lines, line);  // headings
  while (std::getline(lines, line)) {
    std::istringstream words{line};
    std::string name, type;
    std::uint64_t size = 0, used = 0;  // KiB
    if (!(words >> name >> type >> size >> used)) continue;
    const bool compressed = name.find("/zram") != std::string::npos;
    found.push_back({name, compressed, Bytes{size << 10}, Bytes{used << 10}});
  }
  return found;
}

std::optional<std::int64_t> killed_in(const std::string& text) {
  std::istringstream words{text};
  std::string name;
  std::int64_t count = 0;
  while (words >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return std::nullopt;
}

}  // namespace hearth::lab
