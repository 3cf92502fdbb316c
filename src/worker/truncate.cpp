// SPDX-License-Identifier: Apache-2.0
#include "worker/truncate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace hearth::worker {
namespace {

using Role = MessageSketch::Role;

constexpr double kBytesPerToken = 3.0;  // a first guess, on the side that fits
constexpr int kGuesses = 4;             // by bytes, before halves are tried

// Finds the first of some cuts that fits, from few counts.
class CutSearch {
 public:
  CutSearch(const std::vector<MessageSketch>& messages, std::vector<Cut> cuts,
            const CountTokens& count)
      : cuts_{std::move(cuts)}, count_{count} {
    for (const Cut& cut : cuts_) {
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < cut.systems; ++i) bytes += messages[i].bytes;
      bytes_.push_back(static_cast<double>(bytes));
    }
    add_tails(messages);
  }

  // The index of the first that has at most `limit` tokens; size() if none has. Gives up when one
  // cannot be counted: see error().
  std::size_t first_fit(int limit) {
    std::size_t low = 0;  // all before are too long
    std::size_t high = cuts_.size();
    std::size_t step = 1;
    for (int tries = 0; low < high && !error_; ++tries) {
      const std::size_t at = tries < kGuesses ? guess(limit, low, high) : halve(low, high, step);
      if (tokens(at) <= limit) {
        high = at;
      } else {
        low = at + 1;
      }
    }
    return high;
  }

  std::size_t size() const { return cuts_.size(); }
  const Cut& cut(std::size_t at) const { return cuts_[at]; }
  const std::optional<Error>& error() const { return error_; }
  int smallest() const { return smallest_; }
  // Tokens of one; more than any limit where it could not be counted.
  int tokens(std::size_t at) {
    const auto known = counted_.find(at);
    if (known != counted_.end()) return known->second;
    int tokens = kUncounted;
    if (auto counted = count_(cuts_[at])) {
      tokens = *counted;
      smallest_ = std::min(smallest_, tokens);
      if (tokens > 0) per_token_ = std::max(bytes_[at], 1.0) / tokens;
    } else {
      error_ = std::move(counted).error();
    }
    return counted_[at] = tokens;
  }

 private:
  static constexpr int kUncounted = std::numeric_limits<int>::max();

  // Sums from the end, so that a thousand cuts of a thousand messages are no million steps.
  void add_tails(const std::vector<MessageSketch>& messages) {
    std::vector<double> tails(messages.size() + 1, 0.0);
    for (std::size_t i = messages.size(); i > 0; --i) {
      tails[i - 1] = tails[i] + static_cast<double>(messages[i - 1].bytes);
    }
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      bytes_[i] += tails[cuts_[i].from];
      if (cuts_[i].user) bytes_[i] += static_cast<double>(messages[*cuts_[i].user].bytes);
    }
  }

  std::size_t guess(int limit, std::size_t low, std::size_t high) const {
    const double fits = per_token_ * limit;
    std::size_t at = low;
    while (at + 1 < high && bytes_[at] > fits) ++at;
    return at;
  }

  // Upwards in growing steps while no cut is known to be too long: the middle may be huge.
  static std::size_t halve(std::size_t low, std::size_t high, std::size_t& step) {
    if (low > 0) return low + (high - low) / 2;
    step *= 2;
    return high > step ? high - step : 0;
  }

  std::vector<Cut> cuts_;
  std::vector<double> bytes_;
  const CountTokens& count_;
  std::map<std::size_t, int> counted_;
  double per_token_ = kBytesPerToken;
  int smallest_ = kUncounted;
  std::optional<Error> error_;
};

void add_steps(const std::vector<MessageSketch>& messages, const Cut& base, std::vector<Cut>& out) {
  for (std::size_t i = base.from; i < messages.size(); ++i) {
    if (messages[i].role != Role::kAssistant) continue;
    out.push_back(base);
    out.back().from = i;
  }
}

}  // namespace

Cuts ways_to_cut(const std::vector<MessageSketch>& messages) {
  std::size_t systems = 0;
  while (systems < messages.size() && messages[systems].role == Role::kSystem) ++systems;
  if (systems == messages.size() && systems > 0) --systems;  // the last one is no leading one
  Cuts cuts;
  cuts.list.push_back({systems, std::nullopt, systems});
  if (messages.empty()) return cuts;
  std::optional<std::size_t> user;
  for (std::size_t i = systems; i < messages.size(); ++i) {
    if (messages[i].role != Role::kUser) continue;
    user = i;
    if (i > systems) cuts.list.push_back({systems, std::nullopt, i});
  }
  const std::size_t steps_from = user ? *user + 2 : systems + 1;
  add_steps(messages, {systems, user, steps_from}, cuts.list);
  cuts.preferred = cuts.list.size();
  const Cut last = cuts.list.back();
  if (last.user) cuts.list.push_back({systems, std::nullopt, last.from});
  const std::size_t end = messages.size() - 1;
  if (last.from != end) cuts.list.push_back({systems, std::nullopt, end});
  return cuts;
}

PromptRoom prompt_room(int context_limit, int max_tokens) {
  const int quarter = std::max(context_limit / 4, 1);
  const int reply = max_tokens < 0 ? quarter : std::clamp(max_tokens, 1, quarter);
  return {context_limit, std::max(context_limit + 1 - reply, 1)};
}

Result<Cut> choose_cut(const std::vector<MessageSketch>& messages, PromptRoom room,
                       const CountTokens& count) {
  Cuts cuts = ways_to_cut(messages);
  const auto rest = cuts.list.begin() + static_cast<std::ptrdiff_t>(cuts.preferred);
  const std::vector<Cut> last_resort{rest, cuts.list.end()};
  cuts.list.erase(rest, cuts.list.end());
  CutSearch search{messages, std::move(cuts.list), count};
  std::size_t at = search.first_fit(room.most);
  if (search.error()) return Failed{*search.error()};
  if (at == 0) return search.cut(0);
  if (const std::size_t roomy = search.first_fit(room.wanted); roomy < search.size()) at = roomy;
  if (search.error()) return Failed{*search.error()};
  if (at < search.size()) return search.cut(at);
  // A template may refuse these; that only means that they are no way out.
  CutSearch others{messages, last_resort, count};
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others.tokens(i) <= room.most) return others.cut(i);
  }
  return Failed{too_long(std::min(search.smallest(), others.smallest()), room.most)};
}

Error too_long(int tokens, int limit) {
  return Error{ErrorCode::kTooLong,
               fmt::format("the prompt has {} tokens; the context takes {}", tokens, limit)}
      .with_counts({tokens, limit});
}

int cut_middle(std::vector<engine::Token>& tokens, int head, int limit) {
  const int count = static_cast<int>(tokens.size());
  if (count <= limit) return 0;
  const int kept = std::clamp(head, 0, std::max(limit - 1, 0));
  const auto begin = tokens.begin() + kept;
  tokens.erase(begin, begin + (count - limit));
  return count - limit;
}

}  // namespace hearth::worker
