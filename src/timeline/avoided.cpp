// SPDX-License-Identifier: Apache-2.0
#include "timeline/avoided.h"

#include <algorithm>

namespace hearth {
namespace {

std::optional<Duration> time_for(double amount, std::optional<double> per_second) {
  if (!per_second || *per_second <= 0) return std::nullopt;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>{amount / *per_second});
}

std::optional<Bytes> known(Bytes bytes) {
  return bytes > Bytes{} ? std::optional{bytes} : std::nullopt;
}

// Reading that prefill would have hidden was not saved.
std::optional<Duration> beyond_prefill(std::optional<Duration> read, const Facts& facts,
                                       const Rates& rates) {
  if (!read) return std::nullopt;
  const Duration prefill = facts.warm_prefill.value_or(Duration{});
  const Duration together =
      std::max(*read, prefill) + std::min(*read, prefill) / std::max(1, rates.layers);
  return std::min(*read, together - prefill);
}

std::optional<Saving> prefix_saving(const Facts& facts, const Rates& rates) {
  const std::int64_t tokens = facts.cached_tokens;
  if (tokens <= 0) return std::nullopt;
  Saving saving{.tokens = tokens};
  saving.time = time_for(static_cast<double>(tokens), rates.prefill_tokens_per_s);
  if (saving.time) saving.time = std::max(Duration{}, *saving.time - facts.restored);
  if (rates.prefix_bytes_per_token) {
    saving.bytes =
        Bytes{rates.prefix_bytes_per_token->count() * static_cast<std::uint64_t>(tokens)};
  }
  return saving;
}

}  // namespace

Avoided avoided_by(const Facts& facts, const Before& before, const Rates& rates) {
  Avoided avoided;
  if (before.artifact.bytes > Bytes{}) avoided.artifact = Saving{.bytes = before.artifact.bytes};
  if (const Bytes pages = before.pages.bytes; pages > Bytes{}) {
    const auto count = static_cast<double>(pages.count());
    const std::optional<Duration> read = time_for(count, rates.read_bytes_per_s);
    avoided.pages = Saving{.bytes = pages, .time = beyond_prefill(read, facts, rates)};
  }
  const bool model_was_ready = !facts.weights_loaded && !facts.spawned;
  if (model_was_ready && before.weights.fraction > 0) {
    avoided.weights = Saving{.bytes = known(before.weights.bytes), .time = rates.load};
  }
  if (!facts.compiled && before.compiled.fraction > 0) {
    avoided.compiled = Saving{.bytes = known(before.compiled.bytes), .time = rates.compile};
  }
  avoided.prefix = prefix_saving(facts, rates);
  return avoided;
}

}  // namespace hearth
