// SPDX-License-Identifier: Apache-2.0
#include "layers/weights/weights_layer.h"

#include <gtest/gtest.h>

#include "layers/testing/fake_workers.h"
#include "layers/testing/run_task.h"

namespace hearth {
namespace {

using testing::FakeWorkers;
using testing::run_task;

class WeightsLayerTest : public ::testing::Test {
 protected:
  Result<LayerState> warm(const Subject& subject) {
    return run_task(loop_, weights_.warm(subject, Target{}, progress_));
  }

  SimEventLoop loop_;
  FakeWorkers workers_{loop_};
  WeightsLayer weights_{workers_, loop_.clock()};
  SharedProgress progress_;
  const Subject subject_{"a", "m", "kv=f16"};
};

TEST_F(WeightsLayerTest, WarmLoadsOnceAndLearnsTheTime) {
  EXPECT_EQ(weights_.observe(subject_).level, "none");
  EXPECT_FALSE(weights_.cost_to_warm(subject_).known);
  const auto state = warm(subject_);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->level, "resident");
  EXPECT_EQ(state->bytes, Bytes{1000});
  EXPECT_TRUE(warm(subject_));
  EXPECT_EQ(workers_.loads, 1);
  EXPECT_EQ(weights_.cost_to_warm(subject_).bytes, Bytes{});

  ASSERT_EQ(run_task(loop_, weights_.cool(subject_, Target{})).value(), Bytes{1000});
  EXPECT_EQ(weights_.observe(subject_).level, "hollow");
  EXPECT_EQ(weights_.cost_to_warm(subject_).time, std::chrono::seconds{2});
  EXPECT_EQ(weights_.cost_to_warm(subject_).bytes, Bytes{1000});
  EXPECT_EQ(run_task(loop_, weights_.cool(subject_, Target{})).value(), Bytes{});
}

TEST_F(WeightsLayerTest, ShowsALoadUnderWay) {
  weights_.note_loaded(subject_, std::chrono::seconds{4});
  workers_.states["a|kv=f16"] = WorkerState{WorkerLevel::kLoading, 0.75, {}, {}, 0};
  EXPECT_EQ(weights_.observe(subject_).level, "loading");
  EXPECT_EQ(weights_.observe(subject_).fraction, 0.75);
  EXPECT_EQ(weights_.cost_to_warm(subject_).time, std::chrono::seconds{1});
}

TEST_F(WeightsLayerTest, RemembersWhyWeightsWent) {
  EXPECT_EQ(weights_.cause(subject_), WeightsCause::kFirstUse);
  ASSERT_TRUE(warm(subject_));
  ASSERT_TRUE(run_task(loop_, weights_.cool(subject_, Target{})));
  EXPECT_EQ(weights_.cause(subject_), WeightsCause::kAsked);
  weights_.note_given_back(subject_, WeightsCause::kEvictedFor);
  EXPECT_EQ(weights_.cause(subject_), WeightsCause::kEvictedFor);
  EXPECT_EQ(code_of(WeightsCause::kEvictedFor), "weights.evicted_for");
  EXPECT_EQ(weights_.cause(Subject{"a", "m", "kv=q8_0"}), WeightsCause::kOptions);
  EXPECT_EQ(weights_.cause(Subject{"b", "n", ""}), WeightsCause::kFirstUse);
}

TEST_F(WeightsLayerTest, AFailedLoadTeachesNothing) {
  workers_.fails = true;
  const auto state = warm(subject_);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(weights_.cost_to_warm(subject_).known);
}

}  // namespace
}  // namespace hearth
