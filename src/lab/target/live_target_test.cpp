// SPDX-License-Identifier: Apache-2.0
// Every step, against the programs of this build where they are there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/temporary_directory.h"
#include "lab/machine/processes.h"
#include "lab/target/open_target.h"

namespace hearth::lab {
namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

class LiveTarget : public testing::Test {
 protected:
  void open(const std::string& server, const std::string& program) {
    const std::string model = setting("HEARTH_MODELS") + "/SmolLM2-135M-Instruct-Q4_1.gguf";
    if (!std::filesystem::exists(program) || !std::filesystem::exists(model)) {
      GTEST_SKIP() << "needs " << program << " and " << model;
    }
    TargetOptions options;
    options.server = server;
    options.program = program;
    options.model = model;
    options.folder = folder_ / "server";
    auto target = open_target(options);
    ASSERT_TRUE(target.has_value()) << target.error().message();
    target_ = std::move(*target);
  }

  void take(Step step) {
    const Result<> taken = target_->take(step);
    EXPECT_TRUE(taken.has_value()) << name_of(step) << ": " << taken.error().message();
  }

  Answer ask() {
    Question question;
    for (int n = 0; n < 40; ++n) question.prompt += "the house of time ";
    question.new_tokens = 2;
    Answer answer = target_->ask(question);
    EXPECT_EQ(answer.ending, Answer::Ending::kDone) << answer.problem;
    EXPECT_TRUE(answer.timing.first_token_ms.has_value());
    return answer;
  }

  std::string level(const char* layer) const { return target_->levels()[layer]; }

  TemporaryDirectory folder_;
  std::unique_ptr<Target> target_;
};

TEST_F(LiveTarget, Hearth) {
  open("hearth", setting("HEARTH_BIN"));
  if (!target_) return;
  EXPECT_EQ(level("weights"), "hollow");
  EXPECT_EQ(ask().response_class, "load-cold");
  EXPECT_EQ(ask().response_class, "warm");
  take(Step::kForgetPrompts);
  EXPECT_EQ(level("prefix"), "none");
  EXPECT_EQ(ask().timing.cached_tokens, 0);
  take(Step::kPromptsToMemory);
  EXPECT_EQ(level("prefix"), "in RAM");
  take(Step::kPromptsToDisk);
  EXPECT_EQ(level("prefix"), "on disk");
  EXPECT_FALSE(target_->paths().prompt_state.empty());
  EXPECT_EQ(level("weights"), "resident");
  take(Step::kEndWorker);
  EXPECT_EQ(level("weights"), "none");
  take(Step::kRemoveModel);
  EXPECT_EQ(level("artifact"), "absent");
  EXPECT_TRUE(target_->paths().model.empty());
  EXPECT_EQ(ask().verdict_code, "artifact.absent");
  take(Step::kLoad);
  EXPECT_EQ(level("weights"), "resident");
  const std::vector<pid_t> before = target_->processes();
  take(Step::kStop);
  for (const pid_t pid : before) EXPECT_EQ(start_time_of(pid), "");
  take(Step::kStart);
  EXPECT_GT(target_->last_start_ms(), 0);
  EXPECT_EQ(level("weights"), "hollow");
}

TEST_F(LiveTarget, LlamaServer) {
  open("llama-server", setting("HEARTH_MODELS") + "/../peers/llama-server");
  if (!target_) return;
  EXPECT_FALSE(target_->version().empty());
  EXPECT_TRUE(target_->processes().empty());
  take(Step::kStart);
  EXPECT_EQ(ask().timing.cached_tokens, 0);
  EXPECT_GT(ask().timing.cached_tokens.value_or(0), 64);
  take(Step::kForgetPrompts);
  EXPECT_EQ(ask().timing.cached_tokens, 0);
  EXPECT_EQ(target_->take(Step::kUnload).error().code(), ErrorCode::kUnsupported);
  take(Step::kEndWorker);
  EXPECT_TRUE(target_->processes().empty());
  take(Step::kLoad);
  EXPECT_EQ(target_->processes().size(), 1U);
}

}  // namespace
}  // namespace hearth::lab
