// SPDX-License-Identifier: Apache-2.0
#include "front/memory/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/size_text.h"
#include "front/memory/capped_sum.h"

namespace hearth::front {
namespace {

using namespace literals;

Bytes percent_of(Bytes bytes, std::uint64_t percent) {
  return Bytes{bytes.count() / 100 * percent + bytes.count() % 100 * percent / 100};
}

enum class Of { kAll, kUnreclaimable };
Bytes total_of(const std::vector<Held>& held, Of which) {
  Bytes total;
  for (const Held& one : held) {
    if (which == Of::kAll || !one.reclaimable) total = capped_sum(total, one.bytes);
  }
  return total;
}

// "weights of smol 91.7 MiB, prefix 1.0 GiB": the largest few.
std::string list_of(const std::vector<Held>& held) {
  constexpr std::size_t kMost = 6;
  std::map<std::string, Bytes> by_name;
  for (const Held& one : held) {
    if (one.bytes == Bytes{}) continue;
    std::string name{name_of(one.what)};
    if (!one.shown().empty()) name += " of " + one.shown();
    Bytes& bytes = by_name[name];
    bytes = capped_sum(bytes, one.bytes);
  }
  std::vector<std::pair<std::string, Bytes>> parts{by_name.begin(), by_name.end()};
  std::ranges::stable_sort(parts, std::greater{}, [](const auto& part) { return part.second; });
  Bytes rest;
  for (std::size_t i = kMost; i < parts.size(); ++i) rest = capped_sum(rest, parts[i].second);
  if (parts.size() > kMost) parts.resize(kMost);
  if (rest > Bytes{}) parts.emplace_back("others", rest);
  std::string out;
  for (const auto& [name, bytes] : parts) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, size_text(bytes));
  }
  return out;
}

}  // namespace

MemoryBudget::MemoryBudget(Settings settings) : settings_{std::move(settings)} {}

MemoryBudget MemoryBudget::of_device(std::string name, Bytes configured) {
  return MemoryBudget{{std::move(name), configured, Bytes{}, 100}};
}

Bytes MemoryBudget::default_reserve(std::optional<Bytes> total) {
  return std::max(256_MiB, percent_of(total.value_or(Bytes{}), 5));
}

void MemoryBudget::set_limit(Bytes configured) { settings_.configured = configured; }
void MemoryBudget::set_kept_free(std::optional<Bytes> reserve) { settings_.reserve = reserve; }

void MemoryBudget::set_reading(MemoryRoom room) {
  room_ = std::move(room);
  if (share_ || !room_.available || settings_.share_percent >= 100) return;
  share_ = percent_of(capped_sum(*room_.available, total_of(held_, Of::kUnreclaimable)),
                      settings_.share_percent);
}

void MemoryBudget::set_held(std::vector<Held> held) { held_ = std::move(held); }

Bytes MemoryBudget::kept_free() const {
  return settings_.reserve.value_or(default_reserve(room_.total));
}

Bytes MemoryBudget::held() const { return total_of(held_, Of::kAll); }
Bytes MemoryBudget::promised() const { return promises_->left(); }
Bytes MemoryBudget::free() const { return limit() - capped_sum(held(), promised()); }
Bytes MemoryBudget::over() const { return held() - limit(); }

MemoryBudget::Bound MemoryBudget::fixed() const {
  Bound bound{kBoundless, Cause::kUnknown};
  if (settings_.configured > Bytes{}) {
    bound = {settings_.configured, Cause::kConfigured};
  } else if (share_) {
    bound = {*share_, Cause::kShare};
  }
  const auto cap = room_.cap ? room_.cap : room_.total;
  if (cap && *cap - kept_free() < bound.bytes) bound = {*cap - kept_free(), Cause::kCap};
  return bound;
}

Bytes MemoryBudget::possible() const {
  if (!room_.available) return kBoundless;
  return capped_sum(total_of(held_, Of::kUnreclaimable), *room_.available) - kept_free();
}

MemoryBudget::Bound MemoryBudget::bound() const {
  const Bound lasting = fixed();
  const Bytes now = possible();
  return now < lasting.bytes ? Bound{now, Cause::kPossible} : lasting;
}

Bytes MemoryBudget::limit() const { return bound().bytes; }

std::string MemoryBudget::but_kept_free() const {
  return kept_free() > Bytes{} ? fmt::format(", but {} kept free", size_text(kept_free())) : "";
}

std::string MemoryBudget::why_limit() const {
  switch (bound().cause) {
    case Cause::kConfigured:
      return "as configured";
    case Cause::kShare:
      return fmt::format("{} % of what was available at the start", settings_.share_percent);
    case Cause::kCap:
      return "all of the " + (room_.cap ? room_.cap_name : settings_.name) + but_kept_free();
    case Cause::kPossible:
      return "what other programs leave" + but_kept_free();
    default:
      return "not known";
  }
}

Bytes MemoryBudget::shortfall() const {
  const Bytes all = held();
  const Bytes needed = std::max(capped_sum(all, promised()) - fixed().bytes, all - possible());
  return std::min(all, needed);
}

Result<Reservation> MemoryBudget::reserve(std::string artifact, Bytes bytes) {
  if (bytes > free()) return fail(ErrorCode::kNoSpace, explain(bytes));
  const std::uint64_t number = promises_->next++;
  promises_->open[number] = {std::move(artifact), bytes, Bytes{}};
  return Reservation{promises_, number};
}

Result<> MemoryBudget::grow(Reservation& reservation, Bytes more) {
  if (more > free()) return fail(ErrorCode::kNoSpace, explain(more));
  if (!reservation || reservation.promises_ != promises_) {
    return fail(ErrorCode::kInternal, "this reservation is not of this budget");
  }
  Promises::Promise& promise = promises_->open.at(reservation.number_);
  promise.asked = capped_sum(promise.asked, more);
  return {};
}

std::string MemoryBudget::explain(Bytes need) const {
  std::string text = fmt::format("{} of {} wanted, {} free: the limit is {} ({}), {} held",
                                 size_text(need), settings_.name, size_text(free()),
                                 size_text(limit()), why_limit(), size_text(held()));
  if (const std::string list = list_of(held_); !list.empty()) text += " (" + list + ")";
  if (promised() > Bytes{}) {
    text += fmt::format(", {} promised to {} {}", size_text(promised()), promises_->open.size(),
                        promises_->open.size() == 1 ? "load" : "loads");
  }
  return text;
}

std::string MemoryBudget::complaint() const {
  if (!room_.total || settings_.configured <= *room_.total) return {};
  return fmt::format("{} of {} are configured, but there are {} in all: the limit is {}",
                     size_text(settings_.configured), settings_.name, size_text(*room_.total),
                     size_text(limit()));
}

}  // namespace hearth::front
