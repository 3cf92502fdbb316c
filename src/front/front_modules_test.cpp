// SPDX-License-Identifier: Apache-2.0
//
// Modules through the whole front, over scripted workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "front/testing/whole_front.h"

namespace hearth::front {
namespace {

using testing::answer;
using ::testing::HasSubstr;
using testing::well_behaved;
using wire::BlockingChannel;
using wire::Frame;
using wire::FrameType;

constexpr int kTokens = 130;  // of each prompt; two whole blocks

// What workers were asked to generate, from their threads.
struct Prompts {
  std::mutex mutex;
  std::vector<wire::GenerateMessage> all;

  std::vector<wire::GenerateMessage> evaluated() {
    const std::lock_guard lock{mutex};
    std::vector<wire::GenerateMessage> some;
    for (const auto& each : all) {
      if (!each.count_only) some.push_back(each);
    }
    return some;
  }
};

class FrontModulesTest : public testing::WholeFront {
 protected:
  testing::Script script() {
    return [this](BlockingChannel& channel, const Frame& frame) {
      if (frame.type != FrameType::kGenerate) return well_behaved(channel, frame);
      const auto message = wire::decode_generate(frame.payload);
      {
        const std::lock_guard lock{prompts_.mutex};
        if (message) prompts_.all.push_back(*message);
      }
      wire::TokenizedMessage tokenized;
      tokenized.tokens.assign(kTokens, 5);
      answer(channel, FrameType::kTokenized, frame.request, wire::encode(tokenized));
      wire::StartedMessage started;
      started.prompt_tokens = kTokens;
      const bool counts = message && message->count_only;
      if (!counts) answer(channel, FrameType::kStarted, frame.request, wire::encode(started));
      wire::DoneMessage done;
      done.reason = counts ? "counted" : "stop";
      done.prompt_tokens = kTokens;
      answer(channel, FrameType::kDone, frame.request, wire::encode(done));
      return true;
    };
  }

  static GenerateRequest request(std::vector<std::string> modules) {
    GenerateRequest request;
    request.context.model = "tiny";
    request.context.api = "openai";
    request.context.modules = std::move(modules);
    request.message.messages = R"([{"role":"user","content":"hi"}])";
    return request;
  }

  static Task<Event> ask(FrontModulesTest* test, GenerateRequest request) {
    request.context.first_byte = test->loop_->now();
    auto reply = test->service_->generate(std::move(request), Delivery::kWhole);
    for (;;) {
      Event event = co_await reply->next();
      const bool over =
          std::holds_alternative<Finished>(event) || std::holds_alternative<Refused>(event);
      if (!over) continue;
      reply->sent(200);
      co_return event;
    }
  }

  static Task<void> sets(FrontModulesTest* test, std::string name, std::string text,
                         std::vector<std::string> models) {
    Service::ModuleRequest request{std::move(name), std::move(text), std::move(models)};
    const auto set = co_await test->service_->set_module(std::move(request));
    EXPECT_TRUE(set) << set.error().message();
  }

  Prompts prompts_;
};

class NamingModules : public FrontModulesTest {
 protected:
  static Task<void> body(NamingModules* test) {
    std::string house = "house", brief = "be brief", tools = "tools", none = "no tools";
    std::vector<std::string> models;
    co_await sets(test, house, brief, models);
    co_await sets(test, tools, none, models);
    std::vector<std::string> names{"tools", "house"};
    GenerateRequest asked = request(std::move(names));
    const Event event = co_await ask(test, std::move(asked));
    const auto* finished = std::get_if<Finished>(&event);
    EXPECT_NE(finished, nullptr);
    if (finished == nullptr) co_return;
    EXPECT_TRUE(finished->report.prefix.has_value());
    if (!finished->report.prefix) co_return;
    const auto& used = finished->report.prefix->modules;
    EXPECT_EQ(used.size(), 2U);
    EXPECT_EQ(used.front().name, "tools");
    EXPECT_THAT(used.front().version, HasSubstr("1-"));
    const auto evaluated = test->prompts_.evaluated();
    EXPECT_EQ(evaluated.front().messages, R"([{"role":"system","content":"no tools\n\nbe brief"},)"
                                          R"({"role":"user","content":"hi"}])");
  }
};

TEST_F(NamingModules, PutsTheirTextsFirst) {
  open(script());
  run(body(this));
}

class RefusedModules : public FrontModulesTest {
 protected:
  static Task<void> body(RefusedModules* test) {
    std::vector<std::string> names{"house"};
    GenerateRequest asked = request(names);
    const Event unknown = co_await ask(test, std::move(asked));
    const auto* refused = std::get_if<Refused>(&unknown);
    EXPECT_NE(refused, nullptr);
    if (refused == nullptr) co_return;
    EXPECT_EQ(refused->error.code(), ErrorCode::kNotFound);
    EXPECT_EQ(refused->error.field(), "hearth.modules[0]");
    EXPECT_THAT(refused->error.message(), HasSubstr("house"));
    std::string house = "house", brief = "be brief";
    std::vector<std::string> models;
    co_await sets(test, house, brief, models);
    GenerateRequest raw = request(names);
    raw.message.messages.clear();
    raw.message.prompt = "hi";
    const Event without = co_await ask(test, std::move(raw));
    const auto* invalid = std::get_if<Refused>(&without);
    EXPECT_NE(invalid, nullptr);
    if (invalid == nullptr) co_return;
    EXPECT_EQ(invalid->error.code(), ErrorCode::kInvalid);
    EXPECT_EQ(invalid->error.field(), "hearth.modules");
  }
};

TEST_F(RefusedModules, AreNamed) {
  open(script());
  run(body(this));
}

class LastingModules : public FrontModulesTest {
 protected:
  static Task<void> set_one(LastingModules* test) {
    std::string house = "house", brief = "be brief";
    std::vector<std::string> models{"tiny"};
    co_await sets(test, house, brief, models);
  }
  static Task<void> change_it(LastingModules* test) {
    const auto found = test->service_->module("house");
    EXPECT_TRUE(found);
    if (!found) co_return;
    EXPECT_EQ(found->module.text, "be brief");
    EXPECT_EQ(found->models.front().model, "tiny:latest");
    std::string house = "house", verbose = "be verbose";
    std::vector<std::string> models;
    co_await sets(test, house, verbose, models);
    EXPECT_EQ(test->service_->module("house")->module.version, 2);
    const auto removed = co_await test->service_->remove_module(house);
    EXPECT_TRUE(removed);
    const auto again = co_await test->service_->remove_module(house);
    EXPECT_EQ(again.error().code(), ErrorCode::kNotFound);
    EXPECT_TRUE(test->service_->modules().empty());
  }
};

TEST_F(LastingModules, OutliveTheServer) {
  open(script());
  run(set_one(this));
  open(script());
  run(change_it(this));
}

class WarmModules : public FrontModulesTest {
 protected:
  static Task<void> body(WarmModules* test) {
    std::string house = "house", brief = "be brief", tiny = "tiny", prefix = "prefix";
    std::vector<std::string> models{"tiny"};
    co_await sets(test, house, brief, models);
    // A scripted worker answers nothing before it has loaded.
    std::string weights = "weights";
    (void)co_await test->service_->warm(tiny, weights);
    (void)co_await test->service_->warm(tiny, prefix);
    const auto evaluated = test->prompts_.evaluated();
    EXPECT_FALSE(evaluated.empty());
    if (evaluated.empty()) co_return;
    EXPECT_EQ(evaluated.front().prompt_tokens.size(), static_cast<std::size_t>(kTokens));
    EXPECT_EQ(evaluated.front().max_tokens, 0);
    EXPECT_TRUE(evaluated.front().plan_prefix);
    EXPECT_EQ(test->service_->module("house")->models.front().tokens, kTokens);
    HistoryQuery all;
    const auto history = co_await test->service_->history(all);
    EXPECT_TRUE(history && history->empty()) << "nobody asked";
  }
};

TEST_F(WarmModules, AreEvaluatedWhenAsked) {
  open(script());
  run(body(this));
}

class ConfiguredModules : public FrontModulesTest {
 protected:
  static Task<void> body(ConfiguredModules* test) {
    EXPECT_EQ(test->service_->modules().size(), 2U);
    EXPECT_FALSE(test->service_->module("manual")->module.broken.empty());
    Service::ModuleRequest taken{"house", "other", {}};
    const auto set = co_await test->service_->set_module(std::move(taken));
    EXPECT_EQ(set.error().code(), ErrorCode::kConflict);
    test->directory_.write("manual.txt", "the manual");
    const auto reloaded = co_await test->service_->reload_configuration();
    EXPECT_TRUE(reloaded);
    EXPECT_EQ(test->service_->module("manual")->module.text, "the manual");
  }
};

TEST_F(ConfiguredModules, AreReadAgainWithAReload) {
  config_.modules["house"] = {"house", "be brief", "", {}};
  config_.modules["manual"] = {"manual", "", directory_ / "manual.txt", {}};
  load_config_ = [this]() -> Result<Config> { return config_; };
  open(script());
  run(body(this));
}

}  // namespace
}  // namespace hearth::front
