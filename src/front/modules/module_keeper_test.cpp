// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/sim_event_loop.h"

namespace hearth::front {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Answers of a front that a test plays: counts at once, evaluations when the test says so, unless
// it lets all of them end.
class ModuleKeeperTest : public ::testing::Test {
 protected:
  struct Asked {
    GenerateRequest request;
    Mailbox<Event>* events = nullptr;
    bool over = false;
  };
  class PlayedReply : public Reply {
   public:
    PlayedReply(EventLoop& loop, Asked& asked) : events_{loop}, asked_{asked} {
      asked.events = &events_;
    }
    const std::string& id() const override { return id_; }
    Task<Event> next() override {
      auto event = co_await events_.pop();
      co_return std::move(*event);
    }
    void cancel() override {
      if (std::exchange(asked_.over, true)) return;
      Refused refused{Error{ErrorCode::kCancelled, "cancelled"}, {}, {}, {}};
      events_.push(std::move(refused));
    }
    void sent(int) override {}

   private:
    std::string id_ = "r";
    Mailbox<Event> events_;
    Asked& asked_;
  };

  ModuleKeeperTest() {
    model_.artifact = "a";
    model_.load = 1;
    model_.tokenizes = model_.resident = model_.idle = true;
    model_.use = PrefixRoom::Use{"a", "", {}, {}};
  }
  ~ModuleKeeperTest() override {
    loop_.spawn(keeper_.stop());
    loop_.run_ready();
  }

  // A system text is one token for each of its characters, between two of the template's.
  static std::vector<int> tokens_of(const wire::GenerateMessage& message) {
    std::vector<int> tokens{1};
    const boost::json::value messages = boost::json::parse(message.messages);
    for (const auto& each : messages.as_array()) {
      for (const char c : each.at("content").as_string()) tokens.push_back(c);
      tokens.push_back(2);
    }
    return tokens;
  }

  std::unique_ptr<Reply> answer(GenerateRequest request) {
    const auto& message = request.message;
    Finished finished;
    finished.prompt_tokens = static_cast<int>(message.prompt.size());
    finished.tokens.assign(message.prompt.begin(), message.prompt.end());
    if (!message.messages.empty()) finished.tokens = tokens_of(message);
    const bool at_once = message.count_only ? !fails_counts_ : ends_at_once_;
    if (!message.count_only) {
      evaluated_.push_back(request.context.module + (request.context.key.empty() ? "" : " for ") +
                           request.context.key);
    }
    auto& asked = asked_.emplace_back(std::make_unique<Asked>());
    asked->request = std::move(request);
    auto reply = std::make_unique<PlayedReply>(loop_, *asked);
    if (at_once) {
      asked->over = true;
      asked->events->push(std::move(finished));
    } else if (asked->request.message.count_only) {
      reply->cancel();
    }
    return reply;
  }

  PrefixRoom::Kept keep(const std::string& group, std::span<const int> tokens) const {
    const auto size = static_cast<int>(tokens.size());
    return stored_.contains(group) ? PrefixRoom::Kept{size, size} : PrefixRoom::Kept{};
  }

  ModuleKeeper::World world() {
    return {
        loop_,
        modules_,
        [this](GenerateRequest request) { return answer(std::move(request)); },
        [this](const std::string& name) -> std::optional<ModuleKeeper::Model> {
          if (name != "smol:latest") return std::nullopt;
          return model_;
        },
        [this] { return askers_; },
        [](const std::string& key) { return key.empty() ? "" : "group of " + key; },
        [this](const PrefixRoom::Use& use, std::span<const int> tokens) {
          return keep(use.group, tokens);
        },
        [this](const PrefixRoom::Use& use, std::span<const int> tokens, const std::string& label) {
          labels_.push_back(label);
          return keep(use.group, tokens);
        },
        [this](const std::function<bool(const std::string&)>& stays) { stays_ = stays; }};
  }

  void look() {
    keeper_.look();
    loop_.run_ready();
  }
  std::string label(const std::string& name) const {
    return name + " " + modules_.find(name)->version_name();
  }
  ModuleStatus::OfModel shown(const std::string& name) const {
    return keeper_.status(*modules_.find(name)).models.front();
  }
  RequestContext context(const std::string& key = "") {
    RequestContext context;
    context.model = "smol:latest";
    context.key = key;
    return context;
  }
  ModuleUses name(const std::vector<std::string>& names, const std::string& key = "") {
    return keeper_.note_named(*modules_.named(names), context(key));
  }

  SimEventLoop loop_;
  ModuleSet modules_;
  ModuleKeeper::Model model_;
  std::vector<ModuleKeeper::Asker> askers_{{}};
  std::set<std::string> stored_;  // groups
  std::vector<std::string> labels_;
  std::vector<std::string> evaluated_;
  std::function<bool(const std::string&)> stays_;
  bool ends_at_once_ = true;
  bool fails_counts_ = false;
  std::vector<std::unique_ptr<Asked>> asked_;
  ModuleKeeper keeper_{world()};
};

TEST_F(ModuleKeeperTest, EvaluatesOnceForEachLoad) {
  ASSERT_TRUE(modules_.put("house", std::string(200, 'x'), {"smol"}));
  look();
  EXPECT_THAT(evaluated_, ElementsAre(label("house")));
  const wire::GenerateMessage& message = asked_.back()->request.message;
  EXPECT_EQ(message.max_tokens, 0);
  EXPECT_EQ(message.prompt_tokens.size(), 202U) << "what all prompts with it begin with";
  EXPECT_EQ(asked_.back()->request.context.api, kModuleApi);
  EXPECT_EQ(shown("house").tokens, 200);
  look();
  EXPECT_EQ(evaluated_.size(), 1U);
  model_.load = 2;
  look();
  EXPECT_EQ(evaluated_.size(), 2U);
}

TEST_F(ModuleKeeperTest, LeavesAloneWhatIsStored) {
  ASSERT_TRUE(modules_.put("house", std::string(200, 'x'), {"smol"}));
  stored_.insert("");
  look();
  EXPECT_THAT(evaluated_, IsEmpty());
  EXPECT_THAT(labels_, ElementsAre(label("house"))) << "it stays from now on";
}

TEST_F(ModuleKeeperTest, LoadsNoModelAndDisturbsNone) {
  ASSERT_TRUE(modules_.put("house", std::string(200, 'x'), {"smol"}));
  model_.tokenizes = false;
  look();
  EXPECT_TRUE(asked_.empty());
  model_.tokenizes = true;
  model_.resident = false;
  look();
  EXPECT_THAT(evaluated_, IsEmpty());
  EXPECT_EQ(shown("house").tokens, 200) << "a hollow worker counts";
  model_.resident = true;
  model_.idle = false;
  look();
  EXPECT_THAT(evaluated_, IsEmpty());
  model_.idle = true;
  model_.use->ready.not_restorable = "recurrent";
  look();
  EXPECT_THAT(evaluated_, IsEmpty());
}

TEST_F(ModuleKeeperTest, GivesWayAndComesAgain) {
  ASSERT_TRUE(modules_.put("house", std::string(200, 'x'), {"smol"}));
  ends_at_once_ = false;
  look();
  EXPECT_EQ(evaluated_.size(), 1U);
  keeper_.give_way("other:latest");
  EXPECT_FALSE(asked_.back()->over);
  keeper_.give_way("smol:latest");
  loop_.run_ready();
  ends_at_once_ = true;
  look();
  EXPECT_EQ(evaluated_.size(), 2U);
}

TEST_F(ModuleKeeperTest, ForgetsWhatHasChanged) {
  ASSERT_TRUE(modules_.put("house", std::string(200, 'x'), {"smol"}));
  ASSERT_TRUE(modules_.put("tools", std::string(200, 'y'), {"smol"}));
  look();
  const std::string old = label("house");
  ASSERT_TRUE(modules_.put("house", std::string(300, 'z'), {"smol"}));
  keeper_.changed();
  EXPECT_FALSE(stays_(old));
  EXPECT_FALSE(stays_(old + ", " + label("tools")));
  EXPECT_TRUE(stays_(label("tools")));
  EXPECT_TRUE(stays_(label("house") + ", " + label("tools")));
  loop_.run_ready();
  EXPECT_EQ(shown("house").tokens, 300);
  ASSERT_TRUE(modules_.remove("tools"));
  keeper_.changed();
  EXPECT_FALSE(stays_("tools 1-00000000"));
}

TEST_F(ModuleKeeperTest, TellsTokensOfWhatARequestNames) {
  ASSERT_TRUE(modules_.put("house", "be brief", {}));
  const ModuleUses first = name({"house"});
  loop_.run_ready();
  ASSERT_EQ(first->size(), 1U);
  EXPECT_EQ(first->front().tokens, 8);
  EXPECT_EQ(name({"house"})->front().tokens, 8);
  fails_counts_ = true;
  ASSERT_TRUE(modules_.put("tools", "none", {}));
  const ModuleUses unknown = name({"house", "tools"});
  loop_.run_ready();
  EXPECT_EQ(unknown->back().tokens, -1);
}

TEST_F(ModuleKeeperTest, KeepsSequencesThatRequestsName) {
  ASSERT_TRUE(modules_.put("a", std::string(100, 'x'), {"smol"}));
  ASSERT_TRUE(modules_.put("b", std::string(100, 'y'), {"smol"}));
  (void)name({"b", "a"});
  look();
  EXPECT_THAT(evaluated_, ElementsAre(label("a"), label("b"), label("b") + ", " + label("a")));
}

TEST_F(ModuleKeeperTest, KeepsThemForKeysThatHaveAsked) {
  ASSERT_TRUE(modules_.put("a", std::string(100, 'x'), {"smol"}));
  askers_ = {{"k1", "group of k1"}, {"k2", "group of k2"}};
  look();
  EXPECT_THAT(evaluated_, IsEmpty());
  (void)name({"a"}, "k2");
  look();
  EXPECT_THAT(evaluated_, ElementsAre(label("a") + " for k2"));
}

Task<void> warm(ModuleKeeper& keeper, std::optional<Result<int>>& outcome) {
  outcome = co_await keeper.warm("smol:latest");
}

TEST_F(ModuleKeeperTest, WarmsWhenAskedForAllKeysAndInAnyState) {
  ASSERT_TRUE(modules_.put("a", std::string(100, 'x'), {"smol"}));
  ASSERT_TRUE(modules_.put("elsewhere", std::string(100, 'x'), {"other"}));
  askers_ = {{"k1", "group of k1"}, {"k2", "group of k2"}};
  stored_.insert("group of k1");
  model_.resident = false;
  std::optional<Result<int>> outcome;
  loop_.spawn(warm(keeper_, outcome));
  loop_.run_ready();
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ(**outcome, 1);
  EXPECT_THAT(evaluated_, ElementsAre(label("a") + " for k2"));
}

TEST_F(ModuleKeeperTest, EvaluatesTextsAloneThatRequestsLetMove) {
  ASSERT_TRUE(modules_.put("a", std::string(100, 'x'), {}));
  const auto modules = *modules_.named(std::vector<std::string>{"a"});
  askers_ = {{"k1", "group of k1"}, {"k2", "group of k2"}};
  EXPECT_THAT(keeper_.note_moved(modules, context("k2")), IsEmpty()) << "the first finds none";
  loop_.run_ready();
  look();
  EXPECT_THAT(evaluated_, ElementsAre(label("a") + " for k2"));
  const wire::GenerateMessage message = asked_.back()->request.message;
  EXPECT_EQ(message.prompt_tokens, std::vector<int>(100, 'x')) << "no template around it";
  EXPECT_EQ(message.max_tokens, 0);
  EXPECT_FALSE(message.add_special);
  EXPECT_THAT(keeper_.note_moved(modules, context("k2")), ElementsAre(message.prompt_tokens));
  look();
  EXPECT_EQ(evaluated_.size(), 1U);
  ASSERT_TRUE(modules_.put("a", std::string(90, 'y'), {}));
  keeper_.changed();
  loop_.run_ready();
  EXPECT_EQ(evaluated_.size(), 2U) << "its next version too";
  EXPECT_EQ(asked_.back()->request.message.prompt_tokens, std::vector<int>(90, 'y'));
}

TEST_F(ModuleKeeperTest, EvaluatesNoTextAloneWhereRepeatsAreExact) {
  ASSERT_TRUE(modules_.put("a", std::string(600, 'x'), {}));
  model_.use->options.exact = true;
  (void)keeper_.note_moved(*modules_.named(std::vector<std::string>{"a"}), context());
  look();
  EXPECT_THAT(evaluated_, IsEmpty());
}

TEST_F(ModuleKeeperTest, WarmsTextsThatRequestsHaveLetMove) {
  ASSERT_TRUE(modules_.put("a", std::string(100, 'x'), {}));
  ASSERT_TRUE(modules_.put("b", std::string(100, 'y'), {}));
  (void)keeper_.note_moved(*modules_.named(std::vector<std::string>{"b"}), context());
  model_.resident = false;
  std::optional<Result<int>> outcome;
  loop_.spawn(warm(keeper_, outcome));
  loop_.run_ready();
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_THAT(evaluated_, ElementsAre(label("b")));
}

TEST_F(ModuleKeeperTest, TriesACountAgainOnlyAfterAChange) {
  ASSERT_TRUE(modules_.put("a", std::string(100, 'x'), {"smol"}));
  fails_counts_ = true;
  look();
  const std::size_t asked = asked_.size();
  look();
  EXPECT_EQ(asked_.size(), asked);
  EXPECT_EQ(shown("a").tokens, std::nullopt);
  EXPECT_EQ(shown("a").level, "");
  fails_counts_ = false;
  keeper_.changed();
  loop_.run_ready();
  EXPECT_EQ(shown("a").tokens, 100);
}

TEST_F(ModuleKeeperTest, SaysWhereItIs) {
  ASSERT_TRUE(modules_.put("a", std::string(100, 'x'), {"smol", "gone"}));
  model_.live_tokens = 4096;
  look();
  EXPECT_EQ(shown("a").level, "live");
  model_.load = 2;
  model_.idle = false;
  EXPECT_EQ(shown("a").level, "none");
  stored_.insert("");
  EXPECT_EQ(shown("a").level, "memory");
  const auto& gone = keeper_.status(*modules_.find("a")).models.back();
  EXPECT_EQ(gone.level, "none");
  EXPECT_EQ(gone.tokens, std::nullopt);
}

}  // namespace
}  // namespace hearth::front
