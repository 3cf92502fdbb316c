// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_reasons/prefix_reasons.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace hearth::front {
namespace {

using Tokens = std::vector<int>;
const PromptSource kSource{"m", "d", "g"};

Tokens operator+(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Text that is like no other, but the same for the same number.
Tokens text(std::uint64_t number, std::size_t length) {
  Random random{number};
  Tokens tokens(length);
  for (int& token : tokens) token = static_cast<int>(random.next() % 30'000);
  return tokens;
}

// What clients send: the n-th of a row of requests.
using Client = Tokens (*)(int n);

Tokens dated(int n) { return text(1, 12) + Tokens{1000 + n} + text(2, 400) + text(100 + n, 20); }
Tokens timed(int n) {  // several digits, of which other ones change each time
  return text(1, 12) + Tokens{n / 9, n % 9, n % 4} + text(2, 400) + text(100 + n, 20);
}
Tokens numbered_from_the_first_token(int n) { return Tokens{1000 + n} + text(2, 300); }
Tokens billed(int n) { return text(3, 5) + text(200 + n, 30) + text(2, 900) + text(100 + n, 90); }
Tokens dated_conversation(int n) {
  Tokens prompt = text(1, 12) + Tokens{1000 + n} + text(2, 200);
  for (int turn = 0; turn <= n; ++turn) prompt = prompt + text(100 + turn, 60);
  return prompt;
}
Tokens growing(int n) {
  Tokens prompt = text(2, 200);
  for (int turn = 0; turn <= n; ++turn) prompt = prompt + text(100 + turn, 60);
  return prompt;
}
Tokens questions(int n) { return text(2, 400) + text(100 + n, 30) + text(4, 8); }
Tokens agents(int n) { return text(2, 400) + text(100 + n, 300) + text(4, 40); }
Tokens long_tasks_in_front(int n) { return text(2, 40) + text(100 + n, 60) + text(4, 300); }
Tokens same_head_all_day(int n) { return dated(n / 50); }
Tokens two_heads(int n) { return dated(n % 2); }
Tokens unlike(int n) { return text(100 + n, 300); }
Tokens edited_reply(int n) {  // the end of the last turn is written anew by the template
  return growing(n) + Tokens{7, 8, 9, 10};
}
Tokens late(int n) { return text(2, 400) + Tokens{1000 + n} + text(3, 70); }
Tokens short_ones(int n) { return Tokens{1, 1000 + n} + text(3, 50); }

struct ClientCase {
  const char* name;
  Client client;
  int position;  // of the one finding after ten requests; -1: none
};

class Clients : public ::testing::TestWithParam<ClientCase> {};

TEST_P(Clients, AreFoundOutOrLeftAlone) {
  PrefixReasons reasons;
  for (int n = 0; n < 10; ++n) reasons.note_prompt(kSource, GetParam().client(n));
  const std::vector<VolatileHead> found = reasons.findings();
  ASSERT_EQ(found.size(), GetParam().position < 0 ? 0U : 1U);
  if (found.empty()) return;
  EXPECT_LE(std::abs(found.front().position - GetParam().position), 2);
  EXPECT_GE(found.front().requests, 8);
}

INSTANTIATE_TEST_SUITE_P(
    Findings, Clients,
    ::testing::Values(ClientCase{"Date", dated, 12}, ClientCase{"Time", timed, 12},
                      ClientCase{"FirstToken", numbered_from_the_first_token, 0},
                      ClientCase{"BillingLine", billed, 5},
                      ClientCase{"DateOfAConversation", dated_conversation, 12}),
    [](const auto& test) { return std::string{test.param.name}; });

INSTANTIATE_TEST_SUITE_P(
    NoFindings, Clients,
    ::testing::Values(ClientCase{"Conversation", growing, -1},
                      ClientCase{"Questions", questions, -1}, ClientCase{"Agents", agents, -1},
                      ClientCase{"LongTasksInFront", long_tasks_in_front, -1},
                      ClientCase{"SameDay", same_head_all_day, -1},
                      ClientCase{"OnlyTwo", two_heads, -1}, ClientCase{"Unlike", unlike, -1},
                      ClientCase{"EditedReply", edited_reply, -1}, ClientCase{"Late", late, -1},
                      ClientCase{"Short", short_ones, -1}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(PrefixReasons, TheThirdPromptMakesAFinding) {
  PrefixReasons reasons;
  reasons.note_prompt(kSource, dated(0));
  reasons.note_prompt(kSource, dated(1));
  EXPECT_TRUE(reasons.findings().empty());
  reasons.note_prompt(kSource, dated(1));
  EXPECT_TRUE(reasons.findings().empty());
  const auto difference = reasons.note_prompt(kSource, dated(2)).difference;
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->position, 12);
  EXPECT_EQ(difference->token, 1001);
  ASSERT_EQ(reasons.findings().size(), 1U);
  EXPECT_EQ(reasons.findings().front().requests, 3);
  EXPECT_FALSE(reasons.findings().front().character);
  reasons.note_difference(kSource, {12, 80, " 28", " 29"});
  EXPECT_EQ(text_of(reasons.findings().front(), "smol"),
            "Prompts to smol change at token 12 (char 80): had \" 28\", now \" 29\". What follows "
            "is alike in 3 requests and was evaluated anew in each.");
}

TEST(PrefixReasons, WhatIsAlikeBehindTheHeadIsCountedFromTheThirdPromptOn) {
  PrefixReasons reasons;
  EXPECT_EQ(reasons.note_prompt(kSource, dated(0)).behind_volatile_head, 0);
  EXPECT_EQ(reasons.note_prompt(kSource, dated(1)).behind_volatile_head, 0);
  EXPECT_EQ(reasons.note_prompt(kSource, dated(2)).behind_volatile_head, 400);
  EXPECT_EQ(reasons.note_prompt(kSource, dated(3)).behind_volatile_head, 400);
  EXPECT_EQ(reasons.note_prompt(kSource, dated(3)).behind_volatile_head, 0) << "the same again";
}

TEST(PrefixReasons, TextsOfAnotherPlaceOrDomainAreNotTaken) {
  PrefixReasons reasons;
  for (int n = 0; n < 4; ++n) reasons.note_prompt(kSource, dated(n));
  reasons.note_difference(kSource, {300, 900, "a", "b"});
  reasons.note_difference({"m", "other", "g"}, {12, 80, "a", "b"});
  EXPECT_FALSE(reasons.findings().front().character);
}

TEST(PrefixReasons, GroupsThatSeeTheSameMakeOneFinding) {
  PrefixReasons reasons;
  for (int n = 0; n < 4; ++n) {
    reasons.note_prompt(kSource, dated(n));
    reasons.note_prompt({"m", "d2", "ben"}, dated(n));
  }
  ASSERT_EQ(reasons.findings().size(), 1U);
  EXPECT_EQ(reasons.findings().front().requests, 8);
  reasons.forget("m", "ben");
  EXPECT_EQ(reasons.findings().front().requests, 4);
  reasons.forget("m", {});
  EXPECT_TRUE(reasons.findings().empty());
  EXPECT_FALSE(reasons.note_prompt(kSource, dated(5)).difference);
}

// Whatever comes in whatever order, twice the same gives the same, and no more than is allowed.
TEST(PrefixReasons, AreBoundedAndDeterministic) {
  static constexpr Client kClients[] = {dated,     timed,  billed, growing,
                                        questions, agents, late,   unlike};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto play = [seed] {
      Random random{seed};
      PrefixReasons reasons;
      for (int i = 0; i < 200; ++i) {
        const PromptSource source{std::to_string(random.next() % 4),
                                  std::to_string(random.next() % 30), "g"};
        const Client client = kClients[random.next() % std::size(kClients)];
        const Tokens prompt = client(static_cast<int>(random.next() % 12));
        const auto difference = reasons.note_prompt(source, prompt).difference;
        if (!difference) continue;
        const auto at = static_cast<std::size_t>(difference->position);
        EXPECT_LT(at, prompt.size());
        EXPECT_NE(prompt[at], difference->token);
      }
      std::string told;
      for (const VolatileHead& head : reasons.findings()) told += text_of(head, head.model);
      EXPECT_LE(reasons.findings().size(), VolatileHeads::kMost);
      return told;
    };
    EXPECT_EQ(play(), play()) << seed;
  }
}

// Random requests after one system prompt are never taken for a volatile head.
TEST(PrefixReasons, RandomQuestionsAfterOneBeginningAreNoFinding) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random{seed};
    PrefixReasons reasons;
    for (int i = 0; i < 40; ++i) {
      Tokens prompt = text(1, 50 + seed * 20);
      for (std::uint64_t turn = 0; turn <= random.next() % 4; ++turn) {
        prompt = prompt + text(1000 + random.next() % 10, 5 + random.next() % 100) + text(2, 6);
      }
      reasons.note_prompt(kSource, prompt);
    }
    EXPECT_TRUE(reasons.findings().empty()) << seed;
  }
}

}  // namespace
}  // namespace hearth::front
