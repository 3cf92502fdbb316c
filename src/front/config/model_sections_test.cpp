// SPDX-License-Identifier: Apache-2.0
#include "front/config/model_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/config/change.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using hearth::testing::TempDir;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class ModelSections : public ::testing::Test {
 protected:
  Result<Config> load(const std::string& text) {
    return load_config({directory_.write("hearth.toml", text), {}, {}});
  }
  TempDir directory_;
};

TEST_F(ModelSections, SayWhatAFirstTokenMayTake) {
  const auto config = load(
      "[models.smol]\npriority = -3\nttft_ms = 800\nidle_gap = \"90m\"\n[models.other]\n"
      "idle_gap = 30\n");
  ASSERT_TRUE(config) << config.error().message();
  const ModelOptions smol = config->effective("smol:latest");
  EXPECT_EQ(smol.priority, -3);
  EXPECT_EQ(smol.ttft_ms, 800);
  EXPECT_EQ(smol.idle_gap->length(), 90min);
  EXPECT_EQ(config->effective("other:latest").idle_gap->length(), 30s);
  const ModelOptions absent = config->effective("absent:latest");
  EXPECT_EQ(absent.priority, 0);
  EXPECT_EQ(absent.ttft_ms, 0);
  EXPECT_EQ(absent.idle_gap->length(), 8h);
}

struct WrongCase {
  const char* name;
  const char* text;
  const char* complaint;
};
void PrintTo(const WrongCase& c, std::ostream* out) { *out << c.name; }
class WrongModelSections : public ModelSections, public ::testing::WithParamInterface<WrongCase> {};

TEST_P(WrongModelSections, SayWhatIsWrong) {
  const auto config = load(std::string{"[models.smol]\n"} + GetParam().text);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message(), HasSubstr(GetParam().complaint));
  EXPECT_THAT(config.error().message(), HasSubstr("hearth.toml:2:"));
}

INSTANTIATE_TEST_SUITE_P(
    Config, WrongModelSections,
    ::testing::Values(
        WrongCase{"Priority", "priority = 11\n", "priority must be from -10 to 10, not 11"},
        WrongCase{"PriorityWord", "priority = \"high\"\n", "priority must be a whole number"},
        WrongCase{"Ttft", "ttft_ms = -1\n", "ttft_ms must be from 0 to 86400000, not -1"},
        WrongCase{"NoGap", "idle_gap = 0\n", "idle_gap must be a duration of at least a second"},
        WrongCase{"EndlessGap", "idle_gap = -1\n", "idle_gap must be a duration"},
        WrongCase{"EmptyGap", "idle_gap = \"\"\n", "idle_gap must be a duration"},
        WrongCase{"GapWord", "idle_gap = \"night\"\n", "idle_gap is wrong: "},
        WrongCase{"GapWithoutMeaning", "idle_gap = nan\n", "idle_gap is "},
        WrongCase{"Nearest", "prioritie = 1\n", "did you mean \"priority\"?"}),
    [](const auto& test) { return test.param.name; });

TEST_F(ModelSections, AreTakenOverByAReload) {
  auto running = load("[models.smol]\npriority = 1\nttft_ms = 500\n");
  const auto next = load("[models.smol]\npriority = 2\nidle_gap = \"1h\"\n");
  ASSERT_TRUE(running && next);
  const ConfigChange change = take_over(*running, *next);
  EXPECT_THAT(change.changed, UnorderedElementsAre("models.\"smol:latest\".priority",
                                                   "models.\"smol:latest\".ttft_ms",
                                                   "models.\"smol:latest\".idle_gap"));
  EXPECT_TRUE(change.needs_restart.empty());
  EXPECT_EQ(running->effective("smol:latest").priority, 2);
  EXPECT_EQ(running->effective("smol:latest").ttft_ms, 0);
  EXPECT_EQ(running->effective("smol:latest").idle_gap->length(), 1h);
}

TEST_F(ModelSections, MemoryChangesWhileTheServerRuns) {
  auto running = load("");
  const auto next = load(
      "memory_mib = 4096\nmemory_reserve_mib = 512\ndevice_mib = 1024\npsi_limit = 0\n"
      "prewarm = false\nprewarm_daily_gib = 0\n");
  ASSERT_TRUE(running && next);
  const ConfigChange change = take_over(*running, *next);
  EXPECT_TRUE(change.needs_restart.empty());
  EXPECT_EQ(change.changed.size(), 6U);
  EXPECT_EQ(running->memory_mib, 4096);
  EXPECT_FALSE(running->prewarm);
}

}  // namespace
}  // namespace hearth::front
