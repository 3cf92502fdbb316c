// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/prefix_layer.h"

#include <gtest/gtest.h>

#include "layers/testing/fake_workers.h"
#include "layers/testing/run_task.h"

namespace hearth {
namespace {

using testing::FakeWorkers;
using testing::run_task;

class FakeStored : public StoredPrefixes {
 public:
  Amount amount(const std::string&) const override { return kept; }
  Task<Result<Bytes>> drop(std::string artifact) override {
    asked += "drop " + artifact + ";";
    co_return kept.memory + kept.disk;
  }
  Task<Result<Bytes>> spill(std::string artifact) override {
    asked += "spill " + artifact + ";";
    co_return kept.memory;
  }

  Amount kept;
  std::string asked;
};

struct LevelCase {
  const char* name;
  std::int64_t live;
  std::int64_t memory;
  std::int64_t disk;
  const char* level;
  const char* detail;
  Bytes bytes;
};
void PrintTo(const LevelCase& c, std::ostream* out) { *out << c.name; }

class PrefixLevels : public ::testing::TestWithParam<LevelCase> {};

TEST_P(PrefixLevels, AreTheWarmestWithTheTokensOfEach) {
  const LevelCase& c = GetParam();
  SimEventLoop loop;
  FakeWorkers workers{loop};
  FakeStored stored;
  stored.kept = {c.memory, c.disk, Bytes{20}, Bytes{30}};
  workers.states["a|"].live_tokens = c.live;
  workers.states["a|"].memory.kv = Bytes{10};
  const PrefixLayer layer{workers, stored};
  const LayerState state = layer.observe({"a", "m", ""});
  EXPECT_EQ(state.level, c.level);
  EXPECT_EQ(state.detail, c.detail);
  EXPECT_EQ(state.bytes, c.bytes);
  EXPECT_FALSE(layer.cost_to_warm({"a", "m", ""}).known);
}

INSTANTIATE_TEST_SUITE_P(
    Prefix, PrefixLevels,
    ::testing::Values(LevelCase{"Nothing", 0, 0, 0, "none", "", Bytes{}},
                      LevelCase{"OnDisk", 0, 0, 640, "on disk", "640 tokens on disk", Bytes{30}},
                      LevelCase{"InMemory", 0, 320, 640, "in RAM", "320 tokens in RAM, 640 on disk",
                                Bytes{20}},
                      LevelCase{"Live", 192, 0, 0, "live", "192 tokens live", Bytes{10}},
                      LevelCase{"Everywhere", 192, 320, 640, "live",
                                "192 tokens live, 320 in RAM, 640 on disk", Bytes{10}}),
    [](const auto& test) { return test.param.name; });

class PrefixLayerTest : public ::testing::Test {
 protected:
  Result<Bytes> cool(const char* level) {
    return run_task(loop_, layer_.cool(subject_, Target{level}));
  }

  SimEventLoop loop_;
  FakeWorkers workers_{loop_};
  FakeStored stored_;
  PrefixLayer layer_{workers_, stored_};
  SharedProgress progress_;
  const Subject subject_{"a", "m", ""};
};

TEST_F(PrefixLayerTest, OnlyAPromptFillsIt) {
  const auto cold = run_task(loop_, layer_.warm(subject_, Target{}, progress_));
  ASSERT_FALSE(cold);
  EXPECT_EQ(cold.error().code(), ErrorCode::kUnsupported);
  stored_.kept.disk_tokens = 64;
  EXPECT_TRUE(run_task(loop_, layer_.warm(subject_, Target{}, progress_)));
}

TEST_F(PrefixLayerTest, CoolsToDiskOrToNothing) {
  stored_.kept = {64, 64, Bytes{20}, Bytes{30}};
  EXPECT_EQ(cool("memory").value(), Bytes{20});
  EXPECT_EQ(cool("on disk").value(), Bytes{20});
  EXPECT_EQ(cool("").value(), Bytes{50});
  EXPECT_EQ(stored_.asked, "spill a;spill a;drop a;");
}

TEST_F(PrefixLayerTest, WithoutAStoreThereAreLiveCellsOnly) {
  PrefixLayer alone{workers_};
  workers_.states["a|"].live_tokens = 192;
  EXPECT_EQ(alone.observe(subject_).level, "live");
  EXPECT_EQ(run_task(loop_, alone.cool(subject_, Target{})).value(), Bytes{});
}

}  // namespace
}  // namespace hearth
