// SPDX-License-Identifier: Apache-2.0
//
// BlockTier on what a home asks, beside a list of the longest unused.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "layers/prefix/block_tier.h"

namespace hearth {
namespace {

constexpr Digest kNone{};

Digest block(const std::string& name) {
  Sha256 hash;
  return hash.add(name).finish();
}

// A home: two long system prompts, chats that take turns and end, and now and then a long document
// that is asked about once.
struct Home {
  std::vector<std::vector<Digest>> prompts;

  explicit Home(std::uint64_t seed) : random{seed} {
    const std::vector<Digest> systems[] = {grown({}, 60), grown({}, 30)};
    std::vector<std::vector<Digest>> chats(12);
    for (int n = 0; n < 500; ++n) {
      if (random.next() % 12 == 0) {
        prompts.push_back(grown({}, 100 + random.next() % 500));
        continue;
      }
      // The lower a chat's number, the more often it goes on.
      auto& chat = chats[std::min(random.next() % 12, random.next() % 12)];
      if (chat.empty() || random.next() % 16 == 0) chat = systems[random.next() % 2];
      chat = grown(chat, 2 + random.next() % 12);
      prompts.push_back(chat);
    }
  }
  std::vector<Digest> grown(std::vector<Digest> from, std::size_t by) {
    for (; by > 0; --by) from.push_back(block(std::to_string(++blocks)));
    return from;
  }
  Random random;
  int blocks = 0;
};

// The part of all blocks that was there when a prompt needed it.
double hit_rate(const Home& home, std::size_t budget) {
  BlockTier tier{Bytes{100 * budget}};
  double hits = 0, all = 0;
  for (const auto& prompt : home.prompts) {
    const std::size_t here = tier.leading(prompt);
    hits += static_cast<double>(here);
    all += static_cast<double>(prompt.size());
    tier.note_use(prompt);
    for (std::size_t i = here; i < prompt.size() && (i == 0 || tier.has(prompt[i - 1])); ++i) {
      tier.add(prompt[i], i == 0 ? kNone : prompt[i - 1], Bytes{100},
               BlockTier::Stay::kAsLongAsWorth);
    }
  }
  return hits / all;
}

double lru_hit_rate(const Home& home, std::size_t budget) {
  std::map<Digest, int> last_use;
  std::map<int, Digest> by_age;
  double hits = 0, all = 0;
  int clock = 0;
  for (const auto& prompt : home.prompts) {
    const auto missing = std::ranges::find_if_not(
        prompt, [&last_use](const Digest& digest) { return last_use.contains(digest); });
    hits += static_cast<double>(missing - prompt.begin());
    all += static_cast<double>(prompt.size());
    for (auto digest = prompt.rbegin(); digest != prompt.rend(); ++digest) {
      if (last_use.contains(*digest)) by_age.erase(last_use.at(*digest));
      last_use[*digest] = ++clock;
      by_age[clock] = *digest;
    }
    for (; by_age.size() > budget; by_age.erase(by_age.begin())) {
      last_use.erase(by_age.begin()->second);
    }
  }
  return hits / all;
}

TEST(BlockTier, FindsMoreOfAHomesPromptsThanTheLongestUnusedWould) {
  for (const std::uint64_t seed : {1, 2}) {
    const Home home{seed};
    for (const std::size_t budget : {500, 1500}) {
      EXPECT_GE(hit_rate(home, budget), lru_hit_rate(home, budget)) << seed << ", " << budget;
    }
  }
}

}  // namespace
}  // namespace hearth
