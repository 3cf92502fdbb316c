// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/household/strategy.h"

namespace hearth::household {

// A strategy that gives up whole models, the least worth keeping first, until another fits.
class WholeModels : public Strategy {
 public:
  explicit WholeModels(std::string_view name) : name_{name} {}
  std::string_view name() const override { return name_; }

  std::optional<std::vector<Release>> make_room(const House& house, std::size_t model) override {
    std::vector<Release> releases;
    std::vector<bool> gone(house.models.size());
    Bytes free = house.free();
    while (house.missing(model) > free || crowded(house, model, releases.size())) {
      const std::optional<std::size_t> victim = least(house, model, gone);
      if (!victim) return std::nullopt;
      gone[*victim] = true;
      free += house.models[*victim].resident;
      releases.push_back({*victim, house.models[*victim].resident});
    }
    for (const Release& release : releases) given_up(house, release.model);
    return releases;
  }

 protected:
  // How much a resident model is worth keeping, in any unit.
  virtual double worth(const House& house, std::size_t model) const {
    return static_cast<double>(house.models[model].used_at.count());
  }
  // More must go, for other reasons than memory.
  virtual bool crowded(const House&, std::size_t /*model*/, std::size_t /*gone*/) const {
    return false;
  }
  virtual bool may_go(const House&, std::size_t /*model*/, std::size_t /*for_model*/) const {
    return true;
  }
  virtual void given_up(const House&, std::size_t /*model*/) {}

 private:
  std::optional<std::size_t> least(const House& house, std::size_t model,
                                   const std::vector<bool>& gone) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < house.models.size(); ++i) {
      const bool there = house.models[i].resident > Bytes{} && !gone[i] && i != model;
      if (!there || house.busy(i) || !may_go(house, i, model)) continue;
      if (!best || worth(house, i) < worth(house, *best)) best = i;
    }
    return best;
  }

  std::string name_;
};

}  // namespace hearth::household
