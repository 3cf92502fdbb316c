// SPDX-License-Identifier: Apache-2.0
#include "front/driver_caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/sim_event_loop.h"
#include "layers/testing/run_task.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using hearth::testing::run_task;
using ::testing::Contains;
using ::testing::StartsWith;

class DriverCachesTest : public ::testing::Test {
 protected:
  DriverCaches open(std::string engine, DriverCaches::Keep keep = DriverCaches::Keep::kOn) {
    return DriverCaches{{loop_, pool_, Files::real(), directory_.path() + "/drivers",
                         std::move(engine), environment_},
                        keep};
  }
  // Of the one variable.
  static std::string value(const DriverCaches& caches, const std::string& name) {
    for (const std::string& each : caches.variables()) {
      if (each.starts_with(name + "=")) return each.substr(name.size() + 1);
    }
    return {};
  }

  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  hearth::testing::TempDir directory_;
  DriverCaches::Environment environment_;
};

TEST_F(DriverCachesTest, SendsDriversIntoADirectoryOfOursThatIsThere) {
  const DriverCaches caches = open("engine 1");
  for (const char* name :
       {"MESA_SHADER_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH", "CUDA_CACHE_PATH"}) {
    const std::string path = value(caches, name);
    EXPECT_THAT(path, StartsWith(directory_.path() + "/drivers/")) << name;
    EXPECT_TRUE(std::filesystem::is_directory(path)) << name;
  }
  EXPECT_GE(std::stoull(value(caches, "CUDA_CACHE_MAXSIZE")), std::uint64_t{4} << 30);
  EXPECT_EQ(value(caches, "CUDA_MODULE_LOADING"), "LAZY");
}

TEST_F(DriverCachesTest, WhatTheUserSetStays) {
  environment_ = {{"CUDA_CACHE_PATH", "/mine"}, {"MESA_SHADER_CACHE_DIR", "/too"}};
  const DriverCaches caches = open("engine 1");
  EXPECT_EQ(value(caches, "CUDA_CACHE_PATH"), "/mine");
  EXPECT_EQ(value(caches, "MESA_SHADER_CACHE_DIR"), "/too");
  EXPECT_NE(value(caches, "CUDA_CACHE_MAXSIZE"), "");
}

TEST_F(DriverCachesTest, SwitchedOffTellsDriversToKeepNothing) {
  const DriverCaches caches = open("engine 1", DriverCaches::Keep::kOff);
  EXPECT_THAT(caches.variables(), Contains("MESA_SHADER_CACHE_DISABLE=true"));
  EXPECT_THAT(caches.variables(), Contains("CUDA_CACHE_DISABLE=1"));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/drivers"));
}

TEST_F(DriverCachesTest, CountsAndDropsFilesButFollowsNoLink) {
  DriverCaches caches = open("engine 1");
  EXPECT_EQ(run_task(loop_, caches.size()), Bytes{});
  const std::string mesa = value(caches, "MESA_SHADER_CACHE_DIR");
  std::filesystem::create_directories(mesa + "/ab/cd");
  std::ofstream{mesa + "/ab/cd/shader"} << "12345";
  std::ofstream{directory_.path() + "/outside"} << "1234567";
  std::filesystem::create_symlink(directory_.path() + "/outside", mesa + "/link");
  EXPECT_EQ(run_task(loop_, caches.size()), Bytes{5});
  EXPECT_EQ(run_task(loop_, caches.drop()), Bytes{5});
  EXPECT_EQ(run_task(loop_, caches.size()), Bytes{});
  EXPECT_TRUE(std::filesystem::exists(directory_.path() + "/outside"));
  EXPECT_TRUE(std::filesystem::is_directory(mesa));
}

Task<int> drops_others(DriverCaches& caches) {
  co_await caches.drop_others();
  co_return 0;
}

TEST_F(DriverCachesTest, AnotherEngineOrDriverHasADirectoryOfItsOwnAndTheOldOneGoes) {
  const std::string first = value(open("engine 1"), "MESA_SHADER_CACHE_DIR");
  environment_["VK_DRIVER_FILES"] = "/opt/other.json";
  const std::string driver = value(open("engine 1"), "MESA_SHADER_CACHE_DIR");
  DriverCaches engine = open("engine 2");
  const std::string last = value(engine, "MESA_SHADER_CACHE_DIR");
  EXPECT_NE(first, driver);
  EXPECT_NE(driver, last);
  run_task(loop_, drops_others(engine));
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_FALSE(std::filesystem::exists(driver));
  EXPECT_TRUE(std::filesystem::exists(last));
}

TEST_F(DriverCachesTest, ChangedDriversAreToldFromAChangedEngine) {
  (void)open("engine 1");
  DriverCaches same = open("engine 1");
  run_task(loop_, drops_others(same));
  EXPECT_FALSE(same.drivers_changed());
  DriverCaches engine = open("engine 2");
  run_task(loop_, drops_others(engine));
  EXPECT_FALSE(engine.drivers_changed());
  environment_["VK_DRIVER_FILES"] = "/opt/other.json";
  DriverCaches driver = open("engine 2");
  run_task(loop_, drops_others(driver));
  EXPECT_TRUE(driver.drivers_changed());
  DriverCaches restarted = open("engine 2");
  run_task(loop_, drops_others(restarted));
  EXPECT_FALSE(restarted.drivers_changed());
}

}  // namespace
}  // namespace hearth::front
