// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/outlook.h"
#include "policy/prefill_curve.h"
#include "policy/quantile.h"
#include "policy/start_state.h"

namespace hearth {

// A start that has been seen through.
struct PastStart {
  StartClass start_class = StartClass::kWarm;
  StartParts parts;  // as forecast
  int fresh_tokens = 0;
  double seconds = 0;   // as it came
  double forecast = 0;  // as it had been forecast
};

// What was measured of one model, newest last, bounded.
struct ModelNotes {
  Bytes weights;
  double setup_guess = 0;
  int vocabulary = 0;
  std::vector<PrefillSample> prefills{};
  std::vector<double> spawns{};    // seconds
  std::vector<double> services{};  // seconds from admission to the end of the reply
  std::vector<PastStart> starts{};
  std::uint64_t noted = 0;  // when something was noted last, in notes
};

// Forecasts the time to the first token: from the layers' states, by a model of what a start is
// made of, whose coefficients are learnt from what became of each forecast. What a model has not
// shown yet is taken from others, by size; what none has shown is a careful guess, and said to be
// one. Not thread-safe; no clock, no files.
class Predictor {
 public:
  Outlook outlook(const std::string& model, const StartState& state) const;

  // A prompt that was evaluated alone and waited for no weights.
  void note_prefill(const std::string& model, Bytes weights, PrefillSample sample);
  void note_spawn(const std::string& model, int vocabulary, Duration time);
  void note_repack(Bytes bytes, Duration time);
  void note_service(const std::string& model, Duration time);

  // What became of a forecast: `time` from admission to the first token; of 0 fresh tokens: to
  // weights that are there. Returns (forecast - time) / time.
  double note_start(const Outlook& outlook, int fresh_tokens, Duration time);

  // How long a place of this model stays taken; nullopt before the first reply.
  std::optional<Duration> service(const std::string& model) const;
  // Bytes per second into repacked form, once measured.
  std::optional<double> repack_rate() const;
  // The last errors of this model's forecasts, newest last, as note_start() returned them.
  std::vector<double> errors(const std::string& model) const;

  // Grows with each note.
  std::uint64_t version() const { return version_; }

  // Keeps what is learnt: see predictor_json.h.
  using Models = std::map<std::string, ModelNotes>;
  const Models& models() const { return models_; }
  const std::vector<double>& repack_rates() const { return repack_rates_; }
  void restore(Models models, std::vector<double> repack_rates);

  static constexpr std::size_t kMaxModels = 64;
  static constexpr std::size_t kKept = 24;  // of each kind of note of one model

 private:
  // What follows from the notes of one model, made again when there are new ones.
  struct Derived {
    std::uint64_t noted = 0;
    std::optional<double> setup{};
    std::vector<Weighted> overheads{};
    std::array<std::optional<double>, kStartClasses> ratios{};
  };

  ModelNotes& notes_of(const std::string& model);
  const ModelNotes* find(const std::string& model) const;
  PrefillCurve curve_of(const std::string& model, Bytes weights) const;
  const Derived& derived(const std::string& model, const ModelNotes& notes) const;
  Derived derive(const std::string& model, const ModelNotes& notes) const;
  double setup(Outlook& outlook) const;
  double spawn(Outlook& outlook, int vocabulary) const;
  double read(Outlook& outlook, const StartState& state) const;
  double repack(Outlook& outlook, const StartState& state) const;
  double overhead() const;
  double ratio(const Outlook& outlook) const;
  void set_interval(Outlook& outlook) const;

  Models models_;
  std::vector<double> repack_rates_;
  std::uint64_t version_ = 0;
  mutable std::map<std::string, Derived> derived_;
};

}  // namespace hearth
