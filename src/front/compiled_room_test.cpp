// SPDX-License-Identifier: Apache-2.0
#include "front/compiled_room.h"

#include <gtest/gtest.h>

#include "front/testing/sim_model.h"
#include "layers/testing/run_task.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using namespace literals;
using hearth::testing::run_task;

// The room of one model, which is loaded once for each start of the server.
class CompiledRoomTest : public testing::SimModel {
 protected:
  static Task<int> start_up(CompiledRoom& room) {
    co_await room.tidy();
    co_return 0;
  }
  static Task<int> shut_down(CompiledRoom& room) {
    co_await room.stop();
    co_return 0;
  }
  std::vector<CompiledCause> causes_of(int loads) {
    CompiledRoom::World world{loop_,
                              pool_,
                              Files::real(),
                              loop_.clock(),
                              directory_.path(),
                              "engine",
                              environment_,
                              true,
                              1_GiB,
                              models_,
                              [this](const std::string&) { return &model_->host(); },
                              [](std::string) -> Task<Result<>> { co_return Result<>{}; }};
    CompiledRoom room{std::move(world)};
    run_task(loop_, start_up(room));
    std::vector<CompiledCause> causes;
    for (int n = 0; n < loads; ++n) {
      (void)run_task(loop_, room.find("a", {"engine", "", "cpu", "layout"}));
      causes.push_back(room.state({"a", "tiny:latest", ""}).cause);
    }
    run_task(loop_, shut_down(room));
    return causes;
  }

  hearth::testing::TempDir directory_;
  DriverCaches::Environment environment_;
  std::vector<NamedModel> models_{testing::tiny()};
};

struct DriversCase {
  const char* name;
  std::vector<std::string> devices;
  CompiledCause after;
};
class NewDrivers : public CompiledRoomTest, public ::testing::WithParamInterface<DriversCase> {};

TEST_P(NewDrivers, AreTheCauseOfTheNextLoadOnADevice) {
  using enum CompiledCause;
  devices_ = GetParam().devices;
  parallel(1);
  testing::Heard heard;
  ask("x", std::nullopt, heard);
  ASSERT_TRUE(heard.finished);
  EXPECT_EQ(causes_of(1), (std::vector{kFirst}));
  environment_["VK_DRIVER_FILES"] = "/opt/other.json";
  EXPECT_EQ(causes_of(2), (std::vector{GetParam().after, kFirst}));
  EXPECT_EQ(causes_of(1), (std::vector{kFirst}));
}
INSTANTIATE_TEST_SUITE_P(
    Front, NewDrivers,
    ::testing::Values(DriversCase{"WithADevice", {"GPU0"}, CompiledCause::kDriver},
                      DriversCase{"WithoutOne", {}, CompiledCause::kFirst}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::front
