// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_desk.h"

#include <gtest/gtest.h>

#include "base/sim_event_loop.h"
#include "layers/testing/run_task.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using hearth::testing::run_task;

KeyRing::Kept key(const char* id, const char* name) {
  KeyRing::Kept kept;
  kept.info.id = id;
  kept.info.name = name;
  return kept;
}

class PrefixDeskTest : public ::testing::Test {
 protected:
  ~PrefixDeskTest() override { run_task(loop_, stop()); }
  Task<bool> stop() {
    co_await desk_.room().stop();
    co_return true;
  }

  PrefixRoom::Use use(std::string group) const {
    PrefixRoom::Use use;
    use.artifact = "a";
    use.group = std::move(group);
    return use;
  }
  std::optional<wire::PrefixPlanMessage::Difference> difference_in_plan(std::uint64_t request,
                                                                        std::vector<int> tokens) {
    PrefixRoom::Ask ask;
    ask.request = request;
    ask.use = use("");
    ask.domain = desk_.domain(ask.use);
    ask.tokens = std::move(tokens);
    const std::vector<wire::Frame> frames = run_task(loop_, desk_.plan(std::move(ask)));
    if (frames.empty()) return std::nullopt;
    return wire::decode_prefix_plan(frames.back().payload)->difference;
  }

  hearth::testing::TempDir directory_;
  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  KeyRing keys_{{key("k1", "anna"), key("k2", "ben"), key("k3", "family")}};
  PrefixDesk desk_{PrefixDesk::World{
      PrefixRoom::World{loop_, pool_, Files::real(), loop_.clock(), directory_.path() + "/prefix",
                        [] { return PrefixRoom::Limits{}; },
                        [](const std::string&) { return std::optional<std::string>{}; },
                        [](const std::string&) { return 0.0; }},
      [this]() -> const KeyRing& { return keys_; }}};
};

TEST_F(PrefixDeskTest, KeysShareWithinTheirGroupOnly) {
  EXPECT_EQ(desk_.group_of(""), "") << "without keys all share";
  EXPECT_NE(desk_.group_of("k1"), desk_.group_of("k2"));
  desk_.configure({"family: anna, ben"}, {});
  EXPECT_EQ(desk_.group_of("k1"), desk_.group_of("k2"));
  EXPECT_EQ(desk_.group_of("k1"), desk_.group_of_name("ben"));
  EXPECT_NE(desk_.group_of("k3"), desk_.group_of("k1")) << "a key may be called like a group";
  EXPECT_NE(desk_.group_of("gone"), desk_.group_of("gone too"));
  desk_.configure({"a: anna", "a: family"}, {});
  EXPECT_EQ(desk_.group_of("k1"), desk_.group_of("k3"));
  EXPECT_NE(desk_.group_of("k1"), desk_.group_of("k2"));
}

TEST_F(PrefixDeskTest, GroupsAreDomainsApart) {
  EXPECT_EQ(desk_.domain(use("x")), desk_.domain(use("x")));
  EXPECT_NE(desk_.domain(use("x")), desk_.domain(use("y")));
}

TEST_F(PrefixDeskTest, CutsTextsAndMessages) {
  desk_.configure({}, {"Date: *"});
  wire::GenerateMessage message;
  message.prompt = "Date: Monday\nHello";
  EXPECT_EQ(desk_.normalise(message), 1);
  EXPECT_EQ(message.prompt, "Date: \nHello");
  message.prompt.clear();
  message.messages = R"([{"role":"system","content":"Date: Monday"}])";
  EXPECT_EQ(desk_.normalise(message), 1);
  EXPECT_EQ(message.messages.find("Monday"), std::string::npos);
}

TEST_F(PrefixDeskTest, TellsTheWorkerWhereAPromptLeavesAnother) {
  std::vector<int> tokens(200, 7);
  EXPECT_FALSE(difference_in_plan(1, tokens));
  tokens[100] = 8;
  const auto difference = difference_in_plan(2, tokens);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->position, 100);
  EXPECT_EQ(difference->token, 7);
}

}  // namespace
}  // namespace hearth::front
