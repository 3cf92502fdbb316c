// SPDX-License-Identifier: Apache-2.0
#include "worker/truncate.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace hearth::worker {
namespace {

using Role = MessageSketch::Role;

// One letter a message: System, User, Assistant, Tool.
std::vector<MessageSketch> conversation(const std::string& letters, std::size_t bytes = 40) {
  std::vector<MessageSketch> out;
  for (const char letter : letters) {
    const Role role = letter == 'S'   ? Role::kSystem
                      : letter == 'U' ? Role::kUser
                      : letter == 'A' ? Role::kAssistant
                                      : Role::kOther;
    out.push_back({role, bytes});
  }
  return out;
}

// What a cut leaves of the letters; a dot for each message that is gone.
std::string left_of(const std::string& letters, const Cut& cut) {
  std::string out;
  for (std::size_t i = 0; i < letters.size(); ++i) out += cut.keeps(i) ? letters[i] : '.';
  return out;
}

struct WaysCase {
  const char* name;
  std::string letters;
  std::vector<std::string> preferred;
  std::vector<std::string> last_resort;
};
class Ways : public testing::TestWithParam<WaysCase> {};
TEST_P(Ways, AreWholeTurnsThenSteps) {
  const std::string& letters = GetParam().letters;
  const Cuts cuts = ways_to_cut(conversation(letters));
  std::vector<std::string> all = GetParam().preferred;
  all.insert(all.end(), GetParam().last_resort.begin(), GetParam().last_resort.end());
  std::vector<std::string> found;
  for (const Cut& cut : cuts.list) found.push_back(left_of(letters, cut));
  EXPECT_EQ(found, all);
  EXPECT_EQ(cuts.preferred, GetParam().preferred.size());
}
INSTANTIATE_TEST_SUITE_P(
    Truncate, Ways,
    testing::Values(WaysCase{"Empty", "", {""}, {}}, WaysCase{"One", "U", {"U"}, {}},
                    WaysCase{"OnlySystem", "S", {"S"}, {}},
                    WaysCase{"OnlySystems", "SS", {"SS"}, {}},
                    WaysCase{"SystemAndOne", "SU", {"SU"}, {}},
                    WaysCase{"Chat", "SUAUAU", {"SUAUAU", "S..UAU", "S....U"}, {}},
                    WaysCase{"SystemInTheMiddle", "SUASU", {"SUASU", "S...U"}, {}},
                    WaysCase{"GreetingFirst", "SAUAU", {"SAUAU", "S.UAU", "S...U"}, {}},
                    WaysCase{"ToolsInAnOldTurn", "UATAUAU", {"UATAUAU", "....UAU", "......U"}, {}},
                    WaysCase{"ALongTurn",
                             "SUAUATATTAT",
                             {"SUAUATATTAT", "S..UATATTAT", "S..U..ATTAT", "S..U.....AT"},
                             {"S........AT", "S.........T"}},
                    WaysCase{"NoUser", "SATAT", {"SATAT", "S..AT"}, {"S...T"}},
                    WaysCase{"OnlyTools", "TTT", {"TTT"}, {"..T"}}),
    [](const auto& test) { return std::string{test.param.name}; });

struct Counter {
  std::vector<MessageSketch> messages;
  double bytes_per_token = 4.0;
  int calls = 0;
  std::size_t largest = 0;  // messages that were rendered at once

  int tokens(const Cut& cut) const {
    double bytes = 0.0;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (cut.keeps(i)) bytes += static_cast<double>(messages[i].bytes) + 16.0;
    }
    return static_cast<int>(bytes / bytes_per_token);
  }
  Result<Cut> choose(PromptRoom room) {
    return choose_cut(messages, room, [&](const Cut& cut) -> Result<int> {
      ++calls;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < messages.size(); ++i) kept += cut.keeps(i) ? 1 : 0;
      largest = std::max(largest, kept);
      return tokens(cut);
    });
  }
};

// Against the plain way: the first in the list that fits.
TEST(ChooseCut, DropsNoMoreThanItMust) {
  for (const double bytes_per_token : {0.5, 2.0, 4.0, 9.0, 60.0}) {
    for (const int most : {15, 40, 100, 400, 1000, 5000}) {
      Counter counter{conversation("S"), bytes_per_token};
      for (int i = 0; i < 200; ++i) {
        counter.messages.push_back({Role::kUser, static_cast<std::size_t>(i * 37 % 300)});
        counter.messages.push_back({Role::kAssistant, static_cast<std::size_t>(i * 53 % 700)});
      }
      counter.messages.push_back({Role::kUser, 20});
      const PromptRoom room = prompt_room(most, -1);
      const std::vector<Cut> cuts = ways_to_cut(counter.messages).list;
      const auto first = [&](int limit) {
        for (const Cut& cut : cuts) {
          if (counter.tokens(cut) <= limit) return std::optional{cut};
        }
        return std::optional<Cut>{};
      };
      auto expected = first(room.most);
      if (expected && expected != cuts.front()) expected = first(room.wanted);
      if (!expected) expected = first(room.most);
      const auto chosen = counter.choose(room);
      ASSERT_EQ(chosen.has_value(), expected.has_value()) << bytes_per_token << " " << most;
      if (!chosen) continue;
      EXPECT_EQ(*chosen, *expected) << bytes_per_token << " " << most;
    }
  }
}

TEST(ChooseCut, CountsOnceWhatFits) {
  Counter counter{conversation("SUAUAU")};
  const auto chosen = counter.choose(prompt_room(1000, -1));
  ASSERT_TRUE(chosen);
  EXPECT_EQ(left_of("SUAUAU", *chosen), "SUAUAU");
  EXPECT_EQ(counter.calls, 1);
}

TEST(ChooseCut, NeverRendersAHugeConversationWhole) {
  for (const double bytes_per_token : {2.0, 4.0, 6.0}) {
    Counter counter{conversation("S"), bytes_per_token};
    for (int i = 0; i < 5000; ++i) {
      counter.messages.push_back({Role::kUser, 80});
      counter.messages.push_back({Role::kAssistant, static_cast<std::size_t>(i * 131 % 900)});
    }
    counter.messages.push_back({Role::kUser, 20});
    const auto chosen = counter.choose(prompt_room(8192, -1));
    ASSERT_TRUE(chosen);
    EXPECT_LE(counter.calls, 16) << bytes_per_token;
    EXPECT_LT(counter.largest, 600U) << bytes_per_token;
  }
}

TEST(ChooseCut, MakesRoomForAReply) {
  Counter counter{conversation("SUAUAUAU")};  // 14 tokens each
  const auto left = [&](int most, int max_tokens) {
    const auto chosen = counter.choose(prompt_room(most, max_tokens));
    return chosen ? left_of("SUAUAUAU", *chosen) : chosen.error().message();
  };
  EXPECT_EQ(left(112, -1), "SUAUAUAU");
  EXPECT_EQ(left(111, 1), "S..UAUAU");
  EXPECT_EQ(left(111, 100), "S..UAUAU");
  EXPECT_EQ(left(100, -1), "S....UAU");
  EXPECT_EQ(left(85, 1), "S..UAUAU");
  EXPECT_EQ(left(28, -1), "S......U");  // no room to be had, and yet it fits
  EXPECT_EQ(left(27, -1), "the prompt has 28 tokens; the context takes 27");
}

TEST(ChooseCut, SaysWhatTheSmallestOneHas) {
  Counter counter{conversation("SUAUATAT")};
  const auto chosen = counter.choose({20, 15});
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code(), ErrorCode::kTooLong);
  EXPECT_EQ(chosen.error().counts().prompt_tokens, 28);
  EXPECT_EQ(chosen.error().counts().context_tokens, 20);
}

TEST(ChooseCut, HandsOnWhatIsWrongWithTheConversation) {
  const auto wrong = [](const Cut&) -> Result<int> {
    return Failed{Error{ErrorCode::kInvalid, "no"}.at("messages")};
  };
  const auto chosen = choose_cut(conversation("SUAU"), prompt_room(100, -1), wrong);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().field(), "messages");
  for (const char* shape : {"", "U", "S", "UATAT", "SUAUATAT"}) {
    for (const int limit : {1, 100, std::numeric_limits<int>::max()}) {
      const auto none = choose_cut(conversation(shape), {limit, limit}, wrong);
      ASSERT_FALSE(none);
      EXPECT_EQ(none.error().message(), "no") << shape << " " << limit;
    }
  }
}

TEST(ChooseCut, ALastResortThatATemplateRefusesIsNone) {
  const auto needs_user = [](const Cut& cut) -> Result<int> {
    if (!cut.user && cut.from > 1) return fail(ErrorCode::kInvalid, "no user");
    return 50;
  };
  const auto chosen = choose_cut(conversation("UATAT"), {20, 15}, needs_user);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code(), ErrorCode::kTooLong);
  EXPECT_EQ(chosen.error().counts().prompt_tokens, 50);
}

struct RoomCase {
  int context, max_tokens, wanted;
};
TEST(PromptRoom, IsAQuarterOrWhatTheReplyMayHave) {
  for (const auto& c :
       {RoomCase{100, -1, 76}, RoomCase{100, 10, 91}, RoomCase{100, 0, 100}, RoomCase{100, 1, 100},
        RoomCase{100, 90, 76}, RoomCase{3, -1, 3}, RoomCase{1, 50, 1}}) {
    EXPECT_EQ(prompt_room(c.context, c.max_tokens).most, c.context);
    EXPECT_EQ(prompt_room(c.context, c.max_tokens).wanted, c.wanted) << c.context;
  }
}

struct MiddleCase {
  int count, head, limit;
  std::vector<engine::Token> left;
};
TEST(CutMiddle, KeepsTheHeadAndTheNewest) {
  for (const auto& c : {MiddleCase{5, 0, 5, {0, 1, 2, 3, 4}}, MiddleCase{5, 0, 3, {2, 3, 4}},
                        MiddleCase{5, 1, 3, {0, 3, 4}}, MiddleCase{5, 2, 3, {0, 1, 4}},
                        MiddleCase{5, 9, 3, {0, 1, 4}}, MiddleCase{5, 1, 1, {4}},
                        MiddleCase{3, 3, 9, {0, 1, 2}}, MiddleCase{5, 1, 0, {}}}) {
    std::vector<engine::Token> tokens(static_cast<std::size_t>(c.count));
    std::iota(tokens.begin(), tokens.end(), 0);
    const int gone = cut_middle(tokens, c.head, c.limit);
    EXPECT_EQ(tokens, c.left);
    EXPECT_EQ(gone, c.count - static_cast<int>(c.left.size()));
  }
}

}  // namespace
}  // namespace hearth::worker
