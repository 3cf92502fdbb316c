// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace hearth::front {

// warm(T, g): after an idle gap of g or longer the first token of a short prompt comes within T.
struct WarmTerms {
  Duration ttft{};
  Duration gap = std::chrono::hours{8};
  friend bool operator==(const WarmTerms&, const WarmTerms&) = default;
};

// One first token, as it came and as it had been forecast when the request did. A long prompt is
// not the server's fault, so its evaluation beyond that of kShortPrompt tokens is taken off: what
// the forecast says it costs (less where it hides behind reading weights), and never more than the
// evaluation was seen to take.
struct FirstToken {
  Duration time{};               // from the request's first byte
  Duration evaluated{};          // of it, in evaluating the prompt
  Duration forecast{};           // Outlook::at(its fresh tokens)
  Duration forecast_of_short{};  // Outlook::at(kShortPrompt)
  Duration since{};              // it has come so long ago

  static constexpr int kShortPrompt = 64;
  Duration for_short_prompt() const;
};

enum class WarmKind { kRequest, kProbe };
std::string_view name_of(WarmKind kind);  // "request", "probe"

// What became of one idle period.
struct IdlePeriod {
  std::int64_t at_us = 0;          // wall time of its end
  Duration gap{};                  // how long nobody had used the model, by CLOCK_BOOTTIME
  std::optional<Duration> ttft{};  // nullopt: none came within T
  WarmKind kind = WarmKind::kRequest;
  double psi_rise = 0;  // of memory's "some avg300" over what it is without, in percent points
  bool harmed = false;  // a protected service was, while the model was held

  static constexpr double kMostPsiRise = 1;
  bool squeezed() const { return harmed || psi_rise > kMostPsiRise; }
  bool met(const WarmTerms& terms) const { return ttft && *ttft <= terms.ttft && !squeezed(); }
};

enum class WarmState {
  kUnknown,  // no idle period has ended yet
  kHolding,  // all of them met the terms; too few for a proof
  kProved,   // five at least, and with 95 % confidence 95 of 100 do
  kMissed,   // some did not, and it is not proved
};
std::string_view name_of(WarmState state);  // "unknown", "holding", "proved", "missed"

struct WarmVerdict {
  WarmState state = WarmState::kUnknown;
  int met = 0;
  int of = 0;
  double wilson_low = 0;
};

// Collects one model's idle periods and says whether it may be called warm. A period ends with the
// first request or probe after it; what comes before g has passed since the last use or probe says
// nothing. Times are of a LastingTime, so a machine's sleep and a server that is down are idleness.
// Pure; not thread-safe.
class WarmClaim {
 public:
  struct Notes {
    std::deque<IdlePeriod> periods{};   // oldest first, kMost at most
    std::optional<Duration> touched{};  // last use or probe
    bool probed = false;                // since the last use
  };

  explicit WarmClaim(WarmTerms terms) : terms_{terms} {}
  WarmClaim(WarmTerms terms, Notes notes);

  // What was measured stays and is judged by the new terms.
  void set_terms(WarmTerms terms);
  const WarmTerms& terms() const { return terms_; }

  // How others are while the model is held, from time to time.
  enum class Others { kWell, kHarmed };
  void observe(double psi_rise, Others others);

  // An answer began to come, now. True if an idle period ended with it.
  bool answered(const FirstToken& token, WarmKind kind, Duration now, std::int64_t at_us);
  // None came: the client went away after so long, or a probe failed. It says nothing if it might
  // still have been in time.
  bool gave_up(const FirstToken& so_far, WarmKind kind, Duration now, std::int64_t at_us);
  // The last request has left: idleness begins.
  void left(Duration now);

  // Nobody has used it for g, and no probe has been sent since.
  bool wants_probe(Duration now) const;
  Duration idle(Duration now) const;

  WarmVerdict verdict() const;
  const Notes& notes() const { return notes_; }
  // Of the periods that count, the last one.
  std::optional<IdlePeriod> last() const;

  static constexpr std::size_t kMost = 128;  // a miss is forgotten after as many
  static constexpr int kLeast = 5;
  static constexpr double kShare = 0.95;

 private:
  bool add(IdlePeriod period, Duration begun, Duration now);
  void touch(Duration now);

  WarmTerms terms_;
  Notes notes_;
  double psi_rise_ = 0;  // the worst since the last use
  bool harmed_ = false;
};

}  // namespace hearth::front
