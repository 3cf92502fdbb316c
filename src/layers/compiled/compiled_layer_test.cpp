// SPDX-License-Identifier: Apache-2.0
#include "layers/compiled/compiled_layer.h"

#include <gtest/gtest.h>

#include "layers/compiled/no_compilations.h"
#include "layers/testing/fake_workers.h"
#include "layers/testing/run_task.h"

namespace hearth {
namespace {

using testing::FakeWorkers;
using testing::run_task;

class FakeCompilations : public Compilations {
 public:
  State state(const Subject&) const override { return now; }
  Task<Bytes> measure_drivers(Subject) override { co_return now.drivers; }
  Task<Result<>> build(Subject) override {
    ++builds;
    if (fails) co_return fail(ErrorCode::kNoSpace, "the disk is full");
    now.stored = Bytes{410};
    co_return Result<>{};
  }
  Task<Result<Bytes>> drop(Subject) override {
    const Bytes freed = now.stored + now.drivers;
    now.stored = now.drivers = {};
    co_return freed;
  }

  State now;
  int builds = 0;
  bool fails = false;
};

class CompiledLayerTest : public ::testing::Test {
 protected:
  Result<LayerState> warm() { return run_task(loop_, layer_.warm(subject_, {}, progress_)); }
  Bytes cool() { return run_task(loop_, layer_.cool(subject_, {})).value(); }
  LayerState seen() const { return layer_.observe(subject_); }

  SimEventLoop loop_;
  FakeWorkers workers_{loop_};
  FakeCompilations kept_;
  CompiledLayer layer_{workers_, kept_};
  SharedProgress progress_;
  const Subject subject_{"a", "m", ""};
};

TEST_F(CompiledLayerTest, GoesFromNoneToStoredAndLive) {
  EXPECT_EQ(seen().level, "none");
  kept_.now.possible = Bytes{400};
  EXPECT_EQ(seen().total, Bytes{400});
  EXPECT_EQ(layer_.cost_to_warm(subject_).bytes, Bytes{400});
  EXPECT_FALSE(layer_.cost_to_warm(subject_).known);
  const Result<LayerState> warmed = warm();
  ASSERT_TRUE(warmed);
  EXPECT_EQ(warmed->level, "live");
  EXPECT_EQ(warmed->fraction, 1.0);
  EXPECT_EQ(workers_.loads, 1);
  EXPECT_TRUE(run_task(loop_, workers_.unload(subject_)));
  EXPECT_EQ(seen().level, "stored");
  EXPECT_EQ(seen().bytes, Bytes{410});
  EXPECT_TRUE(warm());
  EXPECT_EQ(kept_.builds, 1) << "it is stored already";
  EXPECT_EQ(workers_.loads, 1);
  EXPECT_EQ(cool(), Bytes{410});
  EXPECT_EQ(seen().level, "none");
  EXPECT_EQ(cool(), Bytes{});
}

TEST_F(CompiledLayerTest, AModelWithNothingToRepackSaysSo) {
  kept_.now.possible = Bytes{};
  EXPECT_TRUE(warm());
  EXPECT_EQ(workers_.loads, 0);
  EXPECT_EQ(kept_.builds, 0);
  EXPECT_EQ(seen().level, "none");
  EXPECT_EQ(seen().detail, "this model's weights are used as they are in the file");
}

TEST_F(CompiledLayerTest, AFailureIsTheWarmUpsAndANoteIsShown) {
  kept_.fails = true;
  EXPECT_EQ(warm().error().code(), ErrorCode::kNoSpace);
  kept_.now.note = "what was stored was not usable: its table fails its checksum";
  EXPECT_EQ(seen().detail, kept_.now.note);
  workers_.fails = true;
  workers_.states.clear();
  EXPECT_EQ(warm().error().code(), ErrorCode::kUnavailable);
}

TEST_F(CompiledLayerTest, WithoutADiskItLivesWithTheWeights) {
  CompiledLayer layer{workers_, NoCompilations::instance()};
  EXPECT_EQ(layer.observe(subject_).level, "none");
  EXPECT_EQ(run_task(loop_, layer.warm(subject_, {}, progress_)).error().code(),
            ErrorCode::kUnsupported);
  EXPECT_EQ(layer.observe(subject_).level, "live");
  EXPECT_EQ(run_task(loop_, layer.cool(subject_, {})).value(), Bytes{});
}

TEST_F(CompiledLayerTest, WhatDriversKeepCounts) {
  kept_.now.drivers = Bytes{70};
  EXPECT_EQ(seen().level, "stored");
  EXPECT_EQ(seen().bytes, Bytes{70});
  EXPECT_EQ(cool(), Bytes{70});
}

}  // namespace
}  // namespace hearth
