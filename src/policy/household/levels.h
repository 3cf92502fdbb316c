// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "policy/arrivals.h"
#include "policy/household/strategy.h"
#include "policy/moves.h"
#include "policy/prewarm.h"

namespace hearth::household {

// Hearth's own rules, the code that the server runs: a hollow worker for each model, weights given
// up in part and by regret, and, with prediction, read ahead while the device is idle. It knows of
// the trace what has come so far.
class Levels : public Strategy {
 public:
  enum class Prediction { kOff, kOn };
  Levels(const Trace& trace, Prediction prediction, PrewarmRules rules = {});

  // "hearth", and without prediction "hearth-unpredicted".
  std::string_view name() const override;
  Waiting waiting() const override { return Waiting::kHollow; }
  void arrived(const House& house, std::size_t model) override;
  std::optional<std::vector<Release>> make_room(const House& house, std::size_t model) override;
  std::optional<Duration> wake(const House& house) const override;
  Action act(const House& house) override;
  void has_read(const House& house, std::size_t model, Bytes bytes) override;

  const PrewarmLedger& ledger() const { return prewarmer_.ledger(); }

 private:
  void watch(const House& house);
  double rate(const House& house, std::size_t model) const;
  std::vector<Holding> holdings(const House& house) const;
  std::vector<PrewarmCandidate> candidates(const House& house) const;
  void note_releases(const House& house, const std::vector<Release>& releases);
  std::size_t index_of(const std::string& model) const;

  const Prediction prediction_;
  std::vector<std::string> names_;
  std::vector<ArrivalModel> arrivals_;
  Prewarmer prewarmer_;
  Duration next_look_{};
};

}  // namespace hearth::household
