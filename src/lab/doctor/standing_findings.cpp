// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/standing_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/size_text.h"
#include "lab/doctor/diagnosis.h"
#include "lab/doctor/remedies.h"

namespace hearth::lab {
namespace {

using namespace literals;

constexpr Bytes kTelling = 16_MiB;  // a shorter read says little about a device

double rate_of(const PastReply& reply) {
  return reply.read_ms > 0 ? static_cast<double>(reply.read.count()) * 1000 / reply.read_ms : 0;
}

double middle(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, at);
  return *at;
}

std::string name_of_disk(const Circumstances& facts) {
  if (facts.disks.size() != 1) return "the device of its files";
  const Circumstances::Disk& disk = facts.disks.front();
  return disk.file_system.empty() ? disk.name : fmt::format("{} ({})", disk.name, disk.file_system);
}

// By what replies were really read at.
void add_slow_disks(std::vector<Finding>& findings, const Circumstances& facts,
                    std::span<const PastReply> replies, double days) {
  struct Reads {
    std::vector<double> rates;
    double lost_s = 0;
  };
  std::map<std::string, Reads> by_model;
  for (const PastReply& reply : replies) {
    if (reply.read < kTelling || reply.read_ms <= 0) continue;
    Reads& reads = by_model[reply.model];
    reads.rates.push_back(rate_of(reply));
    const double usual_s = static_cast<double>(reply.read.count()) / kUsualDisk;
    reads.lost_s += std::max(0.0, reply.read_ms / 1000 - usual_s);
  }
  for (const auto& [model, reads] : by_model) {
    const double rate = middle(reads.rates);
    if (rate >= kSlowDisk) continue;
    const Bytes speed{static_cast<std::uint64_t>(rate)};
    Finding found{
        "disk.slow", model, static_cast<int>(reads.rates.size()), reads.lost_s, reads.lost_s / days,
        "",          {}};
    found.text = fmt::format("{} was read from {} at {} a second", model, name_of_disk(facts),
                             size_text(speed));
    found.remedy = {"move the model's files to a faster device, or see what slows this one down",
                    fmt::format("hearth show {}", model), "", ""};
    findings.push_back(std::move(found));
  }
}

bool is_want_of_memory(std::string_view code) {
  return code == "weights.evicted_for" || code == "pages.evicted" || code == "pages.swapped" ||
         code == "memory.swapped";
}

// Only where want of memory has cost something, and the models that are used do not fit.
void add_memory_limit(std::vector<Finding>& findings, const Circumstances& facts,
                      std::span<const PastReply> replies, double days) {
  Finding found{.code = "memory.limit"};
  std::set<std::string> used;
  for (const PastReply& reply : replies) {
    used.insert(reply.model);
    if (!is_want_of_memory(reply.code)) continue;
    ++found.requests;
    found.cost_s += reply.cost_ms / 1000;
  }
  Bytes wanted;
  for (const std::string& name : used) {
    const Circumstances::Model* model = facts.model(name);
    if (model != nullptr) wanted += model->need.value_or(model->size);
  }
  std::optional<Bytes> limit = facts.memory.limit;
  const bool group = facts.memory.cgroup_limit && (!limit || *facts.memory.cgroup_limit < *limit);
  if (group) limit = facts.memory.cgroup_limit;
  // Files of models and what their loads make of them want room side by side.
  const Bytes roomy = wanted + wanted;
  if (found.requests == 0 || !limit || *limit >= roomy) return;
  found.seconds_per_day = found.cost_s / days;
  found.text = fmt::format("The models that are used want {}, and may have {}: {}",
                           size_text(wanted), size_text(*limit),
                           group ? "a limit around the server" : facts.memory.limit_reason);
  found.remedy = remedy_for_memory(facts);
  findings.push_back(std::move(found));
}

// The classes of replies that a layer would have spared.
std::string_view class_without(std::string_view layer) {
  if (layer == "pages") return "storage-cold";
  if (layer == "weights") return "load-cold";
  return layer == "prefix" ? "prefix-cold" : "";
}

void add_layers_off(std::vector<Finding>& findings, const Circumstances& facts,
                    std::span<const PastReply> replies, double days) {
  for (const std::string& layer : facts.layers_off) {
    Finding found{.code = "layer.off"};
    for (const PastReply& reply : replies) {
      if (reply.response_class != class_without(layer)) continue;
      ++found.requests;
      found.cost_s += reply.cost_ms / 1000;
    }
    found.seconds_per_day = found.cost_s / days;
    found.text = fmt::format("The layer {} is switched off and keeps nothing", layer);
    found.remedy = {
        "switch it on again",
        fmt::format("take \"{}\" out of layers_off in hearth.toml, then restart", layer), "", ""};
    findings.push_back(std::move(found));
  }
}

void add_read_ahead(std::vector<Finding>& findings, const Circumstances& facts) {
  for (const Circumstances::Disk& disk : facts.disks) {
    if (disk.finding.empty()) continue;
    const std::size_t colon = disk.finding.rfind(": ");
    const bool has = colon != std::string::npos;
    Finding found{.code = "disk.read_ahead"};
    found.text = fmt::format("{}: {}", disk.name, disk.finding.substr(0, colon));
    found.remedy = {"let the kernel read further ahead", has ? disk.finding.substr(colon + 2) : "",
                    "", ""};
    findings.push_back(std::move(found));
  }
}

void add_volatile_heads(std::vector<Finding>& findings, const Circumstances& facts) {
  for (const Circumstances::VolatileHead& head : facts.volatile_heads) {
    Finding found{.code = "prefix.volatile_head", .model = head.model, .requests = head.requests};
    const auto told = std::ranges::find_if(findings, [&head](const Finding& other) {
      return other.code == "prefix.diverged" && other.model == head.model;
    });
    if (told != findings.end()) {
      found.cost_s = told->cost_s;
      found.seconds_per_day = told->seconds_per_day;
      findings.erase(told);
    }
    found.text = head.text;
    found.remedy = remedy_for("prefix.diverged", head.model, facts);
    if (!head.remedy.empty()) found.remedy.text = head.remedy;
    findings.push_back(std::move(found));
  }
}

}  // namespace

void add_standing(std::vector<Finding>& findings, const Circumstances& facts,
                  std::span<const PastReply> replies, double days) {
  add_slow_disks(findings, facts, replies, days);
  add_memory_limit(findings, facts, replies, days);
  add_layers_off(findings, facts, replies, days);
  add_read_ahead(findings, facts);
  add_volatile_heads(findings, facts);
}

}  // namespace hearth::lab
