// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>
#include <cmath>

#include "lab/doctor/circumstances.h"

namespace hearth::lab {
namespace json = boost::json;
namespace {

json::value value_of(const std::optional<Bytes>& bytes) {
  return bytes ? json::value(bytes->count()) : json::value(nullptr);
}

template <typename Number>
json::value value_of(const std::optional<Number>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

json::array disks_json(const Circumstances& facts) {
  json::array list;
  for (const Circumstances::Disk& disk : facts.disks) {
    json::object one{{"name", disk.name},
                     {"kind", disk.kind},
                     {"file_system", disk.file_system},
                     {"read_ahead_bytes", value_of(disk.read_ahead)},
                     {"bytes_per_s", value_of(disk.bytes_per_s)}};
    if (!disk.finding.empty()) one["finding"] = disk.finding;
    list.push_back(std::move(one));
  }
  return list;
}

json::object memory_json(const Circumstances& facts) {
  const Circumstances::Memory& memory = facts.memory;
  json::object out{{"limit_bytes", value_of(memory.limit)},
                   {"limit_reason", memory.limit_reason},
                   {"held_bytes", value_of(memory.held)},
                   {"free_bytes", value_of(memory.free)},
                   {"total_bytes", value_of(memory.total)},
                   {"available_bytes", value_of(memory.available)},
                   {"swap_used_bytes", value_of(memory.swap_used)},
                   {"memory_pressure", value_of(memory.memory_pressure)},
                   {"cpu_pressure", value_of(memory.cpu_pressure)},
                   {"killed", value_of(facts.killed)}};
  if (!memory.cgroup.empty()) {
    out["cgroup"] = json::object{{"path", memory.cgroup},
                                 {"limit_bytes", value_of(memory.cgroup_limit)},
                                 {"unreclaimable_bytes", value_of(memory.cgroup_unreclaimable)}};
  }
  return out;
}

json::value swaps_json(const Circumstances& facts) {
  if (!facts.swaps) return nullptr;
  json::array list;
  for (const Circumstances::Swap& swap : *facts.swaps) {
    list.push_back(json::object{{"name", swap.name},
                                {"zram", swap.compressed},
                                {"size_bytes", swap.size.count()},
                                {"used_bytes", swap.used.count()}});
  }
  return list;
}

json::array models_json(const Circumstances& facts) {
  json::array list;
  for (const Circumstances::Model& model : facts.models) {
    list.push_back(json::object{{"name", model.name},
                                {"store", model.store},
                                {"size_bytes", model.size.count()},
                                {"need_bytes", value_of(model.need)},
                                {"keep_alive", model.keep_alive},
                                {"keep_alive_source", model.keep_alive_source},
                                {"pinned", json::value_from(model.pinned)},
                                {"compiled_bytes", model.compiled.count()}});
  }
  return list;
}

json::value power_json(const Circumstances& facts) {
  if (!facts.power) return nullptr;
  return json::object{{"governor", facts.power->governor},
                      {"driver", facts.power->driver},
                      {"idle_states", facts.power->idle_states}};
}

json::array options_json(const Circumstances& facts) {
  json::array list;
  for (const Circumstances::Option& option : facts.options) {
    list.push_back(
        json::object{{"name", option.name}, {"value", option.value}, {"origin", option.origin}});
  }
  return list;
}

}  // namespace

json::object to_json(const Circumstances& facts) {
  json::array unseen;
  for (const Circumstances::NotObservable& one : facts.not_observable) {
    unseen.push_back(json::object{{"what", one.what}, {"why", one.why}});
  }
  return json::object{{"disks", disks_json(facts)},
                      {"memory", memory_json(facts)},
                      {"swaps", swaps_json(facts)},
                      {"processors", value_of(facts.processors)},
                      {"power", power_json(facts)},
                      {"models", models_json(facts)},
                      {"options", options_json(facts)},
                      {"layers_off", json::value_from(facts.layers_off)},
                      {"prefix", json::object{{"memory_bytes", value_of(facts.prefix.memory)},
                                              {"memory_limit", value_of(facts.prefix.memory_limit)},
                                              {"disk_bytes", value_of(facts.prefix.disk)},
                                              {"disk_limit", value_of(facts.prefix.disk_limit)}}},
                      {"not_observable", std::move(unseen)}};
}

}  // namespace hearth::lab
