// SPDX-License-Identifier: Apache-2.0
#include "front/config/protected_sections.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "front/config/checks.h"
#include "front/config/toml_value.h"

namespace hearth::front {
namespace {

struct TextKey {
  std::string_view name;
  std::string ProtectedOptions::* member;
  Result<> (*check)(const std::string& text);
};
constexpr std::array kTextKeys{
    TextKey{"process", &ProtectedOptions::process, check_process},
    TextKey{"cgroup", &ProtectedOptions::cgroup, check_cgroup},
    TextKey{"url", &ProtectedOptions::url, check_probed_url},
};

struct NumberKey {
  std::string_view name;
  std::int64_t ProtectedOptions::* member;
  std::int64_t least;
  std::int64_t most;
};
constexpr std::array kNumberKeys{
    NumberKey{"p99_percent", &ProtectedOptions::p99_percent, 101, 10'000},
    NumberKey{"psi_limit", &ProtectedOptions::psi_limit, 0, 100},
};

constexpr std::array<std::string_view, 6> kKeys{"process",     "cgroup",    "url",
                                                "p99_percent", "psi_limit", "release_pins"};

int targets_of(const ProtectedOptions& service) {
  int count = 0;
  for (const TextKey& key : kTextKeys) count += (service.*key.member).empty() ? 0 : 1;
  return count;
}

class SectionReader {
 public:
  SectionReader(Config& config, const std::string& path, Problems& problems)
      : config_{config}, path_{path}, problems_{problems} {}

  void read(const toml::key& key, const toml::node& node) {
    name_ = std::string{key.str()};
    const std::string at = place_of(path_, key.source());
    if (const auto good = check_service_name(name_); !good) {
      complain(at, " " + good.error().message());
      return;
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      complain(at, fmt::format(" must be a section, not {}", kind_of(node)));
      return;
    }
    ProtectedOptions service;
    service.name = name_;
    bool right = true;
    for (const auto& [option, value] : *table) right = read_option(option, value, service) && right;
    if (right && targets_of(service) != 1) {
      right = complain(at, " must have exactly one of process, cgroup and url");
    }
    if (right) config_.protected_services[name_] = std::move(service);
    config_.set_by["protected." + name_] = Origin{Source::kFile, at};
  }

 private:
  bool complain(const std::string& at, std::string_view what) {
    problems_.add(at, fmt::format("protected.\"{}\"{}", name_, what));
    return false;
  }

  bool read_option(const toml::key& key, const toml::node& node, ProtectedOptions& service) {
    for (const TextKey& known : kTextKeys) {
      if (known.name == key.str()) return read_text(known, node, service);
    }
    for (const NumberKey& known : kNumberKeys) {
      if (known.name == key.str()) return read_number(known, node, service);
    }
    if (key.str() == "release_pins") return read_release_pins(node, service);
    return complain(place_of(path_, key.source()),
                    fmt::format(" has no option \"{}\"{}", key.str(),
                                did_you_mean(std::string_view{key.str()}, kKeys)));
  }

  bool read_text(const TextKey& key, const toml::node& node, ProtectedOptions& service) {
    const std::string at = place_of(path_, node.source());
    auto text = node.value_exact<std::string>();
    if (!text) {
      return complain(at, fmt::format(": {} must be a string, not {}", key.name, kind_of(node)));
    }
    if (const auto good = key.check(*text); !good) {
      return complain(at, fmt::format(": {} {}", key.name, good.error().message()));
    }
    service.*key.member = *std::move(text);
    return true;
  }

  bool read_number(const NumberKey& key, const toml::node& node, ProtectedOptions& service) {
    const std::string at = place_of(path_, node.source());
    const auto number = node.value_exact<std::int64_t>();
    if (!number) {
      return complain(at,
                      fmt::format(": {} must be a whole number, not {}", key.name, kind_of(node)));
    }
    if (*number < key.least || *number > key.most) {
      return complain(at, fmt::format(": {} must be from {} to {}, not {}", key.name, key.least,
                                      key.most, *number));
    }
    service.*key.member = *number;
    return true;
  }

  bool read_release_pins(const toml::node& node, ProtectedOptions& service) {
    const auto truth = node.value_exact<bool>();
    if (!truth) {
      return complain(place_of(path_, node.source()),
                      fmt::format(": release_pins must be true or false, not {}", kind_of(node)));
    }
    service.release_pins = *truth;
    return true;
  }

  Config& config_;
  const std::string& path_;
  Problems& problems_;
  std::string name_;
};

}  // namespace

void read_protected_sections(Config& config, const toml::node& services, const std::string& path,
                             Problems& problems) {
  const toml::table* sections = services.as_table();
  if (sections == nullptr) {
    return problems.add(
        place_of(path, services.source()),
        fmt::format("protected must be sections such as [protected.\"recorder\"], not {}",
                    kind_of(services)));
  }
  if (sections->size() > kMostProtected) {
    problems.add(place_of(path, services.source()),
                 fmt::format("there may be at most {} protected services", kMostProtected));
  }
  SectionReader reader{config, path, problems};
  for (const auto& [name, node] : *sections) reader.read(name, node);
}

}  // namespace hearth::front
