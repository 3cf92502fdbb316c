// SPDX-License-Identifier: Apache-2.0
#include "policy/predictor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "policy/quantile.h"

namespace hearth {
namespace {

// Careful guesses for a machine that nobody has measured.
constexpr double kReadGuess = 250e6;      // bytes per second
constexpr double kRepackGuess = 0.8e9;    // likewise
constexpr double kOverheadGuess = 0.004;  // seconds

// How much less each older note counts.
constexpr double kAge = 0.85;
// Fewer say nothing about how far forecasts lie off.
constexpr std::size_t kTellingErrors = 5;
constexpr double kLeastSpread = 1.05;
// Beyond these the parts, not the machine, are at fault.
constexpr double kLeastRatio = 0.02;
constexpr double kMostRatio = 50;

double seconds_of(Duration time) { return milliseconds_of(time) / 1000; }
double count_of(Bytes bytes) { return static_cast<double>(bytes.count()); }

double setup_guess(const StartState& state) {
  return 0.025 + count_of(state.load_set) / 20e9 + count_of(state.context) / 2e9;
}

double spawn_guess(int vocabulary) { return 0.06 + 1.5e-6 * vocabulary; }

template <class T>
void keep(std::vector<T>& notes, T note) {
  notes.push_back(std::move(note));
  if (notes.size() > Predictor::kKept) notes.erase(notes.begin());
}

// Newest last.
std::vector<Weighted> by_age(const std::vector<double>& notes) {
  std::vector<Weighted> weighted;
  double weight = 1;
  for (auto note = notes.rbegin(); note != notes.rend(); ++note) {
    weighted.push_back({*note, weight});
    weight *= kAge;
  }
  return weighted;
}

std::size_t index_of(StartClass start_class) { return static_cast<std::size_t>(start_class); }

// Reading adds so much noise of its own that a start from storage says nothing about the rest.
bool tells_setup(const PastStart& start) {
  return start.start_class == StartClass::kLoad || start.start_class == StartClass::kSpawn;
}

double without_setup(PastStart start, double prefill) {
  start.parts.setup = 0;
  return start.parts.seconds(prefill);
}

}  // namespace

ModelNotes& Predictor::notes_of(const std::string& model) {
  ++version_;
  ModelNotes& notes = models_[model];
  notes.noted = version_;
  if (models_.size() > kMaxModels) {
    const auto oldest =
        std::ranges::min_element(models_, {}, [](const auto& one) { return one.second.noted; });
    derived_.erase(oldest->first);
    models_.erase(oldest);
  }
  return notes;
}

const ModelNotes* Predictor::find(const std::string& model) const {
  const auto found = models_.find(model);
  return found == models_.end() ? nullptr : &found->second;
}

// ---- what is noted ----

void Predictor::note_prefill(const std::string& model, Bytes weights, PrefillSample sample) {
  if (sample.tokens < 1 || sample.seconds <= 0) return;
  ModelNotes& notes = notes_of(model);
  notes.weights = weights;
  keep(notes.prefills, sample);
}

void Predictor::note_spawn(const std::string& model, int vocabulary, Duration time) {
  if (time <= Duration::zero()) return;
  ModelNotes& notes = notes_of(model);
  notes.vocabulary = vocabulary;
  keep(notes.spawns, seconds_of(time));
}

void Predictor::note_repack(Bytes bytes, Duration time) {
  if (bytes == Bytes{} || time <= Duration::zero()) return;
  ++version_;
  keep(repack_rates_, count_of(bytes) / seconds_of(time));
}

void Predictor::note_service(const std::string& model, Duration time) {
  if (time > Duration::zero()) keep(notes_of(model).services, seconds_of(time));
}

double Predictor::note_start(const Outlook& outlook, int fresh_tokens, Duration time) {
  if (time <= Duration::zero()) return 0;
  PastStart start;
  start.start_class = outlook.start_class;
  start.parts = outlook.parts;
  start.fresh_tokens = fresh_tokens;
  start.seconds = seconds_of(time);
  start.forecast = seconds_of(outlook.alone(fresh_tokens).time);
  const double error = (start.forecast - start.seconds) / start.seconds;
  ModelNotes& notes = notes_of(outlook.model);
  notes.weights = outlook.weights;
  notes.setup_guess = outlook.setup_guess;
  keep(notes.starts, std::move(start));
  return error;
}

void Predictor::restore(Models models, std::vector<double> repack_rates) {
  models_ = std::move(models);
  derived_.clear();
  repack_rates_ = std::move(repack_rates);
  for (const auto& [name, notes] : models_) version_ = std::max(version_, notes.noted);
}

// ---- what is told of it ----

std::optional<Duration> Predictor::service(const std::string& model) const {
  const ModelNotes* notes = find(model);
  if (notes == nullptr) return std::nullopt;
  const std::optional<double> seconds = median(by_age(notes->services));
  if (!seconds) return std::nullopt;
  return Duration{static_cast<std::int64_t>(*seconds * 1e9)};
}

std::optional<double> Predictor::repack_rate() const { return median(by_age(repack_rates_)); }

std::vector<double> Predictor::errors(const std::string& model) const {
  std::vector<double> errors;
  const ModelNotes* notes = find(model);
  if (notes == nullptr) return errors;
  for (const PastStart& start : notes->starts) {
    if (start.fresh_tokens > 0) errors.push_back((start.forecast - start.seconds) / start.seconds);
  }
  return errors;
}

// ---- the parts ----

PrefillCurve Predictor::curve_of(const std::string& model, Bytes weights) const {
  PrefillCurve curve{weights};
  if (const ModelNotes* own = find(model)) curve.learn(own->prefills);
  for (const auto& [name, other] : models_) {
    if (name != model) curve.learn_from_other(other.weights, other.prefills);
  }
  return curve;
}

const Predictor::Derived& Predictor::derived(const std::string& model,
                                             const ModelNotes& notes) const {
  Derived& known = derived_[model];
  if (known.noted != notes.noted) known = derive(model, notes);
  return known;
}

// Each start is looked at again with what is known now of its other parts.
Predictor::Derived Predictor::derive(const std::string& model, const ModelNotes& notes) const {
  Derived made;
  made.noted = notes.noted;
  const PrefillCurve curve = curve_of(model, notes.weights);
  std::vector<double> setups, overheads;
  for (const PastStart& start : notes.starts) {
    const double prefill = curve.seconds(start.fresh_tokens);
    if (tells_setup(start)) {
      setups.push_back(std::max(0.0, start.seconds - without_setup(start, prefill)));
    }
    if (start.start_class == StartClass::kWarm && curve.measured()) {
      overheads.push_back(std::max(0.0, start.seconds - prefill));
    }
  }
  made.setup = median(by_age(setups));
  made.overheads = by_age(overheads);
  std::array<std::vector<double>, kStartClasses> ratios;
  for (const PastStart& start : notes.starts) {
    StartParts parts = start.parts;
    if (made.setup && parts.setup > 0) parts.setup = *made.setup;
    const double explained = parts.seconds(curve.seconds(start.fresh_tokens));
    if (explained > 0) ratios[index_of(start.start_class)].push_back(start.seconds / explained);
  }
  for (std::size_t i = 0; i < ratios.size(); ++i) made.ratios[i] = median(by_age(ratios[i]));
  return made;
}

double Predictor::setup(Outlook& outlook) const {
  std::vector<Weighted> ratios;
  for (const auto& [name, notes] : models_) {
    const std::optional<double> measured = derived(name, notes).setup;
    if (measured && name == outlook.model) return *measured;
    if (measured && notes.setup_guess > 0) ratios.push_back({*measured / notes.setup_guess, 1});
  }
  const std::optional<double> ratio = median(std::move(ratios));
  outlook.known = outlook.known && ratio.has_value();
  return outlook.setup_guess * ratio.value_or(1);
}

double Predictor::spawn(Outlook& outlook, int vocabulary) const {
  const ModelNotes* own = find(outlook.model);
  if (own != nullptr && !own->spawns.empty()) return *median(by_age(own->spawns));
  std::vector<Weighted> ratios;
  for (const auto& [name, other] : models_) {
    const std::optional<double> seconds = median(by_age(other.spawns));
    if (seconds) ratios.push_back({*seconds / spawn_guess(other.vocabulary), 1});
  }
  const std::optional<double> ratio = median(std::move(ratios));
  outlook.known = outlook.known && ratio.has_value();
  return spawn_guess(vocabulary) * ratio.value_or(1);
}

double Predictor::read(Outlook& outlook, const StartState& state) const {
  const Bytes missing = state.pages_known ? state.missing : state.load_set;
  if (missing == Bytes{}) return 0;
  const bool measured = state.read_bytes_per_s && *state.read_bytes_per_s > 0;
  const bool matters = outlook.start_class == StartClass::kStorage;
  if (matters) outlook.known = outlook.known && measured && state.pages_known;
  return count_of(missing) / (measured ? *state.read_bytes_per_s : kReadGuess);
}

double Predictor::repack(Outlook& outlook, const StartState& state) const {
  if (state.repack != StartState::Repack::kBuild || state.repacked == Bytes{}) return 0;
  const std::optional<double> rate = repack_rate();
  outlook.known = outlook.known && rate.has_value();
  return count_of(state.repacked) / rate.value_or(kRepackGuess);
}

// What warm replies take beyond their prefill is much the same for all models.
double Predictor::overhead() const {
  std::vector<Weighted> rests;
  for (const auto& [name, notes] : models_) {
    const std::vector<Weighted>& its = derived(name, notes).overheads;
    rests.insert(rests.end(), its.begin(), its.end());
  }
  return median(std::move(rests)).value_or(kOverheadGuess);
}

// ---- the whole ----

// By this model's own starts of the class, or else by other models'.
double Predictor::ratio(const Outlook& outlook) const {
  std::vector<Weighted> others;
  for (const auto& [name, notes] : models_) {
    const std::optional<double> its = derived(name, notes).ratios[index_of(outlook.start_class)];
    if (!its) continue;
    if (name == outlook.model) return std::clamp(*its, kLeastRatio, kMostRatio);
    others.push_back({*its, 1});
  }
  return std::clamp(median(std::move(others)).value_or(1), kLeastRatio, kMostRatio);
}

void Predictor::set_interval(Outlook& outlook) const {
  std::vector<double> own, others;
  for (const auto& [name, notes] : models_) {
    for (const PastStart& start : notes.starts) {
      if (start.start_class != outlook.start_class || start.forecast <= 0) continue;
      (name == outlook.model ? own : others).push_back(start.seconds / start.forecast);
    }
  }
  const std::vector<double>& telling = own.size() >= kTellingErrors ? own : others;
  if (outlook.known && telling.size() >= kTellingErrors) {
    outlook.low = std::min(1 / kLeastSpread, *quantile(by_age(telling), 0.1));
    outlook.high = std::max(kLeastSpread, *quantile(by_age(telling), 0.9));
    return;
  }
  const bool warm = outlook.start_class == StartClass::kWarm;
  const double spread = outlook.known ? (warm ? 1.3 : 1.6) : 3;
  outlook.low = 1 / spread;
  outlook.high = spread;
}

Outlook Predictor::outlook(const std::string& model, const StartState& state) const {
  Outlook outlook;
  outlook.model = model;
  outlook.start_class = class_of(state);
  outlook.weights = state.weights;
  outlook.setup_guess = setup_guess(state);
  outlook.prefill = curve_of(model, state.weights);
  outlook.known = outlook.prefill.known();
  outlook.parts.layers = state.layers;
  outlook.parts.beside = state.beside;
  outlook.parts.overhead = overhead();
  if (state.worker == StartState::Worker::kLoading) {
    outlook.parts.read = seconds_of(state.load_left);
  } else if (state.worker != StartState::Worker::kResident) {
    outlook.parts.setup = setup(outlook);
    outlook.parts.read = read(outlook, state);
    outlook.parts.repack = repack(outlook, state);
  }
  if (state.worker == StartState::Worker::kNone) {
    outlook.parts.spawn = spawn(outlook, state.vocabulary);
  }
  outlook.ratio = ratio(outlook);
  set_interval(outlook);
  return outlook;
}

}  // namespace hearth
