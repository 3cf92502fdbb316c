// SPDX-License-Identifier: Apache-2.0
#include "timeline/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "base/bytes.h"
#include "timeline/response_class.h"

namespace hearth {
namespace {

using namespace literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The words of one code. {model} and {other} stand for the model and for the one that took its
// room, {terms} for its keep_alive, {swap} for where memory had been moved to.
struct Words {
  VerdictCode code;
  std::string_view why;
  std::string_view remedy;
};

using enum VerdictCode;
constexpr std::array kWords{
    Words{kArtifactAbsent, "{model} was not on this machine and had to be downloaded",
          "fetch it ahead of time: hearth warm {model} --layer artifact"},
    Words{kArtifactPartial, "Only a part of {model} was on this machine; the rest was downloaded",
          "let the download finish: hearth warm {model} --layer artifact"},
    Words{kArtifactChanged, "The file of {model} had changed and was fetched again",
          "keep the file still, and check it: hearth show {model}"},
    Words{kPagesNeverRead,
          "Nothing shows that the file of {model} had been read since the machine started",
          "read it before it is asked for: hearth warm {model} --layer pages"},
    Words{
        kPagesDropped, "The kernel was told to drop the file of {model} from memory",
        "read it back: hearth warm {model} --layer pages; against being told by others: hearth pin "
        "{model} --layer pages"},
    Words{kPagesEvicted, "Something else needed the memory that held the file of {model}",
          "keep it from being taken: hearth pin {model} --layer pages; or leave more memory free"},
    Words{kPagesReplaced, "The file of {model} was replaced, and what memory held was the old one",
          "read the new one: hearth warm {model} --layer pages"},
    Words{kPagesSwapped, "Memory of {model} had been moved to {swap} and was read back",
          "leave more memory free: what each model holds is in hearth ps"},
    Words{kWeightsFirstUse, "{model} had not been loaded since the server started",
          "load it before it is asked for: hearth load {model}"},
    Words{kWeightsIdle, "{model} had been unloaded after {terms} had passed",
          "keep it longer than {terms}; or for good: hearth pin {model}"},
    Words{kWeightsAsked, "{model} had been unloaded on request",
          "load it again ahead of time: hearth load {model}"},
    Words{kWeightsEvictedFor, "{model} had to make room for {other}",
          "raise the memory budget; or load it ahead of time: hearth load {model}"},
    Words{kWeightsWorkerDied, "The worker process of {model} had ended unexpectedly",
          "look at what ended it in the server's log; then: hearth load {model}"},
    Words{kWeightsOptions, "{model} was loaded with options that this request could not use",
          "use the same load options everywhere; see hearth ps"},
    Words{kCompiledFirst, "{model} was prepared for this machine for the first time",
          "keep what is prepared: hearth warm {model} --layer compiled"},
    Words{kCompiledEngine, "What was prepared for {model} belonged to another engine version",
          "prepare it again after an update: hearth warm {model} --layer compiled"},
    Words{kCompiledDriver, "What was prepared for {model} belonged to another driver",
          "prepare it again after a driver update: hearth warm {model} --layer compiled"},
    Words{kCompiledHardware, "What was prepared for {model} belonged to other hardware",
          "prepare it again on this hardware: hearth warm {model} --layer compiled"},
    Words{kCompiledModel, "What was prepared for {model} belonged to another version of the model",
          "prepare it again after a change: hearth warm {model} --layer compiled"},
    Words{kCompiledShape, "{model} had not yet run a request of this shape",
          "run the shapes you use ahead of time: hearth warm {model} --layer compiled"},
    Words{kPrefixDiverged, "The prompt departed from the ones kept for {model} early on",
          "put what changes (dates, names) at the prompt's end; where that is: hearth doctor"},
    Words{kPrefixEvicted, "The state of this prompt's beginning was no longer kept for {model}",
          "keep more (prefix_memory_mib, prefix_disk_gib, prefix_daily_gib); what there is: hearth "
          "prefix"},
    Words{kPrefixShort, "The part that this prompt shares with others was too short to be kept",
          "put longer fixed instructions first; see hearth show {model}"},
    Words{kPrefixOtherKey, "The state of this prompt's beginning belongs to another API key",
          "put keys that may share into one group (prefix_groups); see hearth keys list"},
    Words{kPrefixOtherOptions,
          "The state of this prompt's beginning was made with another file, engine, machine or "
          "options",
          "use the same load options everywhere; see hearth ps"},
    Words{kPrefixNotRestorable, "The state of prompts of {model} cannot be brought back",
          "keep {model} loaded between the requests of one conversation: hearth pin {model}"},
    Words{kQueueBusy, "All places of {model} were taken by other requests",
          "send fewer at once, or allow more in parallel; see hearth ps"},
    Words{kQueueBehindLoad, "The request waited while another model was loaded",
          "load both ahead of time if memory allows: hearth load {model}"},
    Words{kPowerRamp, "The processor came out of a low-power state",
          "nothing to do for a few milliseconds; see hearth why"},
    Words{kCpuContended, "Other programs were using the processor",
          "move heavy jobs to other hours, or give {model} fewer threads; see hearth ps"},
    Words{kMemorySwapped, "Memory of {model} had been moved to {swap} and came back meanwhile",
          "leave more memory free: what each model holds is in hearth ps"},
};

constexpr bool in_order_of_codes() {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (static_cast<std::size_t>(kWords[i].code) != i) return false;
  }
  return kWords.size() == static_cast<std::size_t>(kMemorySwapped) + 1;
}
static_assert(in_order_of_codes());

std::string terms_of(const Facts& facts) {
  if (facts.keep_alive.empty()) return "its keep_alive";
  const std::string& source = facts.keep_alive_source;
  const bool named = source == "request" || source == "configuration";
  const std::string by = named ? "the " + source : source;
  return "the keep_alive of " + facts.keep_alive + (by.empty() ? "" : " from " + by);
}

std::string_view swap_of(const Facts& facts) {
  if (facts.swap_kind == "zram") return "compressed memory (zram)";
  return facts.swap_kind == "disk" ? "swap on disk" : "swap";
}

std::string filled(std::string_view words, const Facts& facts) {
  const std::string_view other =
      facts.evicted_for.empty() ? std::string_view{"another model"} : facts.evicted_for;
  return fmt::format(fmt::runtime(words), fmt::arg("model", facts.model), fmt::arg("other", other),
                     fmt::arg("terms", terms_of(facts)), fmt::arg("swap", swap_of(facts)));
}

std::string readable(Duration duration) {
  const double ms = milliseconds_of(duration);
  if (ms >= 1000) return fmt::format("{:.1f} s", ms / 1000);
  return ms >= 10 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.1f} ms", ms);
}

std::string sentence(const std::string& why, Duration cost) {
  if (cost <= Duration{}) return why + ".";
  return fmt::format("{}; this cost {}.", why, readable(cost));
}

// In place of what the code says elsewhere.
constexpr Words kChangedFile{
    kWeightsFirstUse, "The file of {model} was changed or touched, and had not been loaded since",
    "after a change, load it before it is asked for: hearth load {model}"};

Verdict verdict(VerdictCode code, Duration cost, const Facts& facts) {
  const bool changed = code == kWeightsFirstUse && facts.file_changed;
  const Words& words = changed ? kChangedFile : kWords[static_cast<std::size_t>(code)];
  return {.code = code,
          .layer = layer_of(code),
          .cost = cost,
          .remedy = filled(words.remedy, facts),
          .text = sentence(filled(words.why, facts), cost)};
}

// The hint, when there is one of the right layer; else what is most often true.
VerdictCode cause_of(ResponseClass response_class, const Facts& facts) {
  struct Choice {
    std::optional<VerdictCode> hint;
    VerdictCode otherwise;
  };
  const auto choose = [&]() -> Choice {
    switch (response_class) {
      case ResponseClass::kArtifactCold:
        return {facts.artifact_cause, kArtifactAbsent};
      case ResponseClass::kStorageCold:
        // Swap is read from a device too.
        if (facts.swapped_in + facts.swapped_in > facts.bytes_read) return {{}, kPagesSwapped};
        return {facts.pages_cause, kPagesNeverRead};
      case ResponseClass::kLoadCold:
        return {facts.weights_cause, kWeightsFirstUse};
      case ResponseClass::kCompileCold:
        return {facts.compiled_cause, kCompiledFirst};
      case ResponseClass::kPrefixCold:
      case ResponseClass::kWarm:
        return {facts.prefix_cause, kPrefixEvicted};
    }
    return {std::nullopt, kPrefixEvicted};
  };
  const Choice choice = choose();
  const bool fits = choice.hint && layer_of(*choice.hint) == cold_layer_of(response_class);
  return fits ? *choice.hint : choice.otherwise;
}

Duration prefill_beyond_usual(const Facts& facts, const Timings& timings) {
  if (!facts.usual_prefill) return {};
  return std::max(Duration{}, timings.time_in({StageKind::kPrefill}) - *facts.usual_prefill);
}

// What stages of these kinds added to a reply. Where they ran beside prefill, prefill was longer
// for waiting on them: then it is all of that time but for what prefill alone takes.
Duration added_by(std::initializer_list<StageKind> kinds, const Facts& facts,
                  const Timings& timings) {
  const Duration own = timings.time_in(kinds);
  const Duration prefill = timings.time_in({StageKind::kPrefill});
  std::vector<StageKind> with_prefill{kinds};
  with_prefill.push_back(StageKind::kPrefill);
  const Duration both = timings.time_in(with_prefill);
  const bool side_by_side = both < own + prefill;
  if (!side_by_side || !facts.warm_prefill) return own;
  return std::max(Duration{}, both - std::min(prefill, *facts.warm_prefill));
}

Duration pages_cost(const Facts& facts, const Timings& timings) {
  if (timings.has(StageKind::kRead)) return added_by({StageKind::kRead}, facts, timings);
  if (timings.has(StageKind::kLoad)) return added_by({StageKind::kLoad}, facts, timings);
  return prefill_beyond_usual(facts, timings);
}

Duration prefix_cost(const Facts& facts, const Timings& timings) {
  const int evaluated = facts.prompt_tokens - facts.cached_tokens;
  const int again = std::min(facts.tokens_seen_before - facts.cached_tokens, evaluated);
  if (evaluated <= 0) return {};
  return timings.time_in({StageKind::kPrefill}) * again / evaluated;
}

Duration cost_of(ResponseClass response_class, const Facts& facts, const Timings& timings) {
  switch (response_class) {
    case ResponseClass::kArtifactCold:
      return timings.time_in(
          {StageKind::kArtifactMetadata, StageKind::kArtifactDownload, StageKind::kArtifactVerify});
    case ResponseClass::kStorageCold:
      return pages_cost(facts, timings);
    case ResponseClass::kLoadCold:
      // What a load has to compute anew is a part of it.
      return added_by(
          {StageKind::kSpawn, StageKind::kLoad, StageKind::kCompile, StageKind::kContext}, facts,
          timings);
    case ResponseClass::kCompileCold:
      return added_by({StageKind::kCompile}, facts, timings);
    case ResponseClass::kPrefixCold:
      return prefix_cost(facts, timings);
    case ResponseClass::kWarm:
      break;
  }
  return {};
}

// What a load computed anew although something had been kept: then its own cause is told, and what
// computing it added. A load that kept nothing before is a first use as any other.
std::optional<VerdictCode> outdated(const Facts& facts) {
  if (!facts.compiled || !facts.compiled_cause) return std::nullopt;
  const VerdictCode cause = *facts.compiled_cause;
  const bool was_kept = cause > kCompiledFirst && cause < kCompiledShape;
  return was_kept ? std::optional{cause} : std::nullopt;
}

// Of the prompt, the share of prefill that a place which always changes made necessary.
Duration head_cost(const Facts& facts, const Timings& timings) {
  const int evaluated = facts.prompt_tokens - facts.cached_tokens;
  if (evaluated <= 0) return {};
  const int behind = std::min(facts.behind_volatile_head, evaluated);
  return timings.time_in({StageKind::kPrefill}) * behind / evaluated;
}

bool queued_long(const Timings& timings, Duration queued) {
  return queued > std::max(Duration{milliseconds{50}}, timings.total / 5);
}

bool contended(const Facts& facts, const Before& before, Duration beyond) {
  constexpr double kHighPressure = 10.0;  // percent of the last ten seconds
  return before.cpu_pressure >= kHighPressure && beyond >= milliseconds{50} &&
         beyond * 2 >= facts.usual_prefill.value_or(Duration::max());
}

bool ramped(const Facts& facts, const Before& before, Duration beyond) {
  const bool slept = facts.idle_before && *facts.idle_before >= seconds{10};
  const bool all_in_memory =
      facts.bytes_read == Bytes{} && facts.major_faults == 0 && before.pages.fraction >= 1.0;
  return slept && all_in_memory && beyond >= milliseconds{2} && beyond <= milliseconds{50};
}

std::optional<Verdict> explain_warm(const Facts& facts, const Timings& timings,
                                    const Before& before) {
  const Duration beyond = prefill_beyond_usual(facts, timings);
  if (facts.swapped_in > 1_MiB) return verdict(kMemorySwapped, beyond, facts);
  const Duration queued = std::max(facts.queued, timings.queued);
  if (queued_long(timings, queued)) {
    return verdict(facts.queued_behind_load ? kQueueBehindLoad : kQueueBusy, queued, facts);
  }
  if (facts.behind_volatile_head > 0) {
    return verdict(kPrefixDiverged, head_cost(facts, timings), facts);
  }
  if (contended(facts, before, beyond)) return verdict(kCpuContended, beyond, facts);
  if (ramped(facts, before, beyond)) return verdict(kPowerRamp, beyond, facts);
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> explain(const Facts& facts, const Timeline& timeline, const Before& before) {
  const Timings timings = timeline.timings();
  const ResponseClass response_class = classify(facts);
  if (response_class == ResponseClass::kWarm) return explain_warm(facts, timings, before);
  const Duration cost = cost_of(response_class, facts, timings);
  if (facts.behind_load > cost) return verdict(kQueueBehindLoad, facts.behind_load, facts);
  if (const auto cause = outdated(facts); cause && response_class == ResponseClass::kLoadCold) {
    return verdict(*cause, added_by({StageKind::kCompile}, facts, timings), facts);
  }
  return verdict(cause_of(response_class, facts), cost, facts);
}

}  // namespace hearth
