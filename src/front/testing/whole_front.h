// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop_asio.h"
#include "front/front_service.h"
#include "front/testing/scripted_worker.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front::testing {

// The whole front over scripted workers, with two small models; it can be opened again over what is
// on its disk.
class WholeFront : public ::testing::Test {
 protected:
  void open(Script script = well_behaved) {
    service_.reset();
    loop_ = std::make_unique<AsioEventLoop>();  // one that was stopped does not go on
    processes_ = std::make_unique<ScriptedProcesses>(std::vector<Script>{std::move(script)});
    config_.data = directory_.path();
    auto opened = FrontService::open(FrontService::World{*loop_,
                                                         Clock::real(),
                                                         Files::real(),
                                                         *processes_,
                                                         "scripted",
                                                         7,
                                                         load_config_,
                                                         keeper_,
                                                         {},
                                                         "",
                                                         post_traces_},
                                     config_);
    ASSERT_TRUE(opened) << opened.error().message();
    service_ = std::move(*opened);
    service_->start();
  }

  void section(const std::string& key, ModelOptions options) {
    options.name = key;
    config_.models[key] = std::move(options);
  }

  // With "tiny" imported, and a second file as "other".
  void run(Task<void> body) {
    loop_->spawn(finish(this, std::move(body)));
    loop_->run();
  }

  static Task<void> import(WholeFront* test, std::string name) {
    std::string path = test->directory_ / (name + ".gguf");
    GgufBuilder file = GgufBuilder::small_model();
    file.text("test.name", name);
    std::ofstream{path, std::ios::binary} << file.bytes();
    auto imported = co_await test->service_->import_model(std::move(path), std::move(name));
    EXPECT_TRUE(imported) << imported.error().message();
  }

  static Task<void> finish(WholeFront* test, Task<void> body) {
    co_await import(test, "tiny");
    co_await import(test, "other");
    co_await std::move(body);
    co_await test->service_->stop(test->loop_->now() + std::chrono::seconds{5});
    test->loop_->stop();
  }

  using GgufBuilder = hearth::testing::GgufBuilder;
  hearth::testing::TempDir directory_;
  std::unique_ptr<AsioEventLoop> loop_;
  Config config_;
  std::string keeper_;
  std::function<Result<Config>()> load_config_;
  traces::Poster post_traces_;
  std::unique_ptr<ScriptedProcesses> processes_;
  std::unique_ptr<FrontService> service_;
};

}  // namespace hearth::front::testing
