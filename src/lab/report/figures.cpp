// SPDX-License-Identifier: Apache-2.0
#include "lab/report/figures.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/size_text.h"

namespace hearth::lab {
namespace {

using Value = std::optional<double>;

template <class T>
Value number(const std::optional<T>& value) {
  return value ? Value{static_cast<double>(*value)} : std::nullopt;
}
Value number(const std::optional<Bytes>& bytes) {
  return bytes ? Value{static_cast<double>(bytes->count())} : std::nullopt;
}

std::vector<Figure> timing_figures() {
  using enum FigureUnit;
  constexpr auto kOf = Figure::Of::kTiming;
  return {
      {"wait_ms", "wait", kMilliseconds, kOf, [](const Trial& t) { return t.timing.wait_ms(); }},
      {"start_ms", "server start", kMilliseconds, kOf,
       [](const Trial& t) { return t.timing.start_ms; }},
      {"first_token_ms", "first token", kMilliseconds, kOf,
       [](const Trial& t) { return t.timing.first_token_ms; }},
      {"total_ms", "whole reply", kMilliseconds, kOf,
       [](const Trial& t) { return t.timing.total_ms > 0 ? Value{t.timing.total_ms} : Value{}; }},
      {"overlap_ms", "overlap", kMilliseconds, kOf,
       [](const Trial& t) { return t.timing.overlap_ms; }},
      {"other_ms", "other", kMilliseconds, kOf, [](const Trial& t) { return t.timing.other_ms; }},
      {"tokens_per_second", "tokens/s", kPerSecond, kOf,
       [](const Trial& t) { return t.timing.tokens_per_second; }},
      {"prompt_tokens", "prompt tokens", kCount, kOf,
       [](const Trial& t) { return number(t.timing.prompt_tokens); }},
      {"cached_tokens", "of them cached", kCount, kOf,
       [](const Trial& t) { return number(t.timing.cached_tokens); }},
  };
}

std::vector<Figure> effect_figures() {
  using enum FigureUnit;
  constexpr auto kOf = Figure::Of::kEffects;
  return {
      {"bytes_read", "read", kBytes, kOf,
       [](const Trial& t) { return number(t.effects.bytes_read); }},
      {"major_faults", "major faults", kCount, kOf,
       [](const Trial& t) { return number(t.effects.major_faults); }},
      {"minor_faults", "minor faults", kCount, kOf,
       [](const Trial& t) { return number(t.effects.minor_faults); }},
      {"processor_s", "processor", kSeconds, kOf,
       [](const Trial& t) { return t.effects.processor_s; }},
      {"peak_resident", "peak memory", kBytes, kOf,
       [](const Trial& t) { return number(t.effects.peak_resident); }},
      {"joules", "energy", kJoules, kOf, [](const Trial& t) { return t.effects.joules; }},
  };
}

std::vector<Figure> proof_figures() {
  using enum FigureUnit;
  constexpr auto kOf = Figure::Of::kProof;
  return {
      {"pages", "pages in memory", kShare, kOf, [](const Trial& t) { return t.before.pages; }},
      {"pages_evicted", "evicted", kBytes, kOf,
       [](const Trial& t) { return number(t.before.pages_evicted); }},
      {"load_set", "of", kBytes, kOf, [](const Trial& t) { return number(t.before.load_set); }},
      {"processes", "processes", kCount, kOf,
       [](const Trial& t) { return number(t.before.processes); }},
      {"holder_age_s", "process up", kSeconds, kOf,
       [](const Trial& t) { return t.before.holder_age_s; }},
      {"resident", "memory", kBytes, kOf, [](const Trial& t) { return number(t.before.resident); }},
      {"anonymous", "anonymous", kBytes, kOf,
       [](const Trial& t) { return number(t.before.anonymous); }},
      {"file_backed", "of files", kBytes, kOf,
       [](const Trial& t) { return number(t.before.file_backed); }},
      {"locked", "locked", kBytes, kOf, [](const Trial& t) { return number(t.before.locked); }},
      {"device", "GPU memory", kBytes, kOf, [](const Trial& t) { return number(t.before.device); }},
      {"clock_mhz", "clock", kMegahertz, kOf, [](const Trial& t) { return t.before.clock_mhz; }},
  };
}

std::vector<Figure> make_all() {
  std::vector<Figure> all = timing_figures();
  for (Figure& figure : effect_figures()) all.push_back(std::move(figure));
  for (Figure& figure : proof_figures()) all.push_back(std::move(figure));
  return all;
}

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string seconds_text(double seconds) {
  if (std::abs(seconds) < 119.5) return three_digits(seconds) + " s";
  if (std::abs(seconds) < 119.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return three_digits(seconds / 3600) + " h";
}

}  // namespace

std::span<const Figure> all_figures() {
  static const std::vector<Figure> kAll = make_all();
  return kAll;
}

std::map<std::string, std::string> proof_words(const Trial& trial) {
  std::map<std::string, std::string> words;
  const StateProof& proof = trial.before;
  if (!proof.pages_by.empty()) words["pages_by"] = proof.pages_by;
  if (proof.mapped) words["mapped"] = *proof.mapped ? "yes" : "no";
  for (const auto& [layer, level] : proof.told) words["told." + layer] = level;
  return words;
}

std::string milliseconds_text(double ms) {
  if (std::abs(ms) < 0.05) return "0 ms";
  if (std::abs(ms) < 9.95) return fmt::format("{:.1f} ms", ms);
  if (std::abs(ms) < 999.5) return fmt::format("{:.0f} ms", ms);
  return seconds_text(ms / 1e3);
}

std::string tick_text(double ms) {
  if (ms == 0) return "0";
  return ms < 1000 ? fmt::format("{:g} ms", ms) : fmt::format("{:g} s", ms / 1e3);
}

std::string figure_text(FigureUnit unit, double value) {
  switch (unit) {
    case FigureUnit::kMilliseconds:
      return milliseconds_text(value);
    case FigureUnit::kSeconds:
      return seconds_text(value);
    case FigureUnit::kBytes:
      return size_text(Bytes{static_cast<std::uint64_t>(std::max(0.0, value))});
    case FigureUnit::kShare:
      return fmt::format("{:.1f} %", value * 100);
    case FigureUnit::kCount:
      return fmt::format("{:.0f}", value);
    case FigureUnit::kPerSecond:
      return three_digits(value);
    case FigureUnit::kMegahertz:
      return fmt::format("{:.0f} MHz", value);
    case FigureUnit::kJoules:
      return three_digits(value) + " J";
  }
  return {};
}

}  // namespace hearth::lab
