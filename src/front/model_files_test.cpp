// SPDX-License-Identifier: Apache-2.0
//
// What a host does about news of its worker's files, and about hollow workers.
#include <gtest/gtest.h>

#include <utility>

#include "base/event_loop_asio.h"
#include "front/model_host.h"
#include "front/testing/scripted_worker.h"

namespace hearth::front {
namespace {

using testing::ScriptedProcesses;
using testing::well_behaved;

const bool kNeverCancelled = false;

// Tells what the test says.
struct Told {
  FileNotices::News news;
  bool all = true;
};
class ToldNotices : public FileNotices {
 public:
  explicit ToldNotices(Told& told) : told_{told} {}
  News take() override { return std::exchange(told_.news, {}); }
  bool tells_all() const override { return told_.all; }

 private:
  Told& told_;
};

class ModelFiles : public ::testing::Test {
 protected:
  ModelFiles() {
    world_.notices = [this](const std::vector<Fd>&) {
      return std::make_unique<ToldNotices>(told_);
    };
    world_.variant = &variant_;
    HostSettings settings;
    settings.worker_program = "scripted";
    host_ = std::make_unique<ModelHost>(world_,
                                        HostModel{"artifact", "model:latest", {"/proc/self/exe"}},
                                        settings, ModelHost::OnChange{});
  }

  void run(Task<void> body) {
    loop_.spawn(finish(this, std::move(body)));
    loop_.run();
  }
  static Task<void> finish(ModelFiles* test, Task<void> body) {
    co_await std::move(body);
    co_await test->host_->stop();
    test->loop_.stop();
  }

  Pool pool_{"test", 2};
  AsioEventLoop loop_;
  ScriptedProcesses processes_{{well_behaved}};
  Told told_;
  std::string variant_;
  ModelHost::World world_{loop_, pool_, Files::real(), processes_};
  std::unique_ptr<ModelHost> host_;
};

Task<void> write_and_check(ModelHost& host, Told& told, std::vector<bool>& right) {
  (void)co_await host.ensure_resident(&kNeverCancelled);
  const Result<> before = co_await host.check_files();
  right.push_back(before.has_value());
  told.news.written = true;
  const Result<> after = co_await host.check_files();
  right.push_back(after.has_value());
  const Result<> again = co_await host.ensure_resident(&kNeverCancelled);
  EXPECT_TRUE(again) << again.error().message();
  const Result<> fresh = co_await host.check_files();
  right.push_back(fresh.has_value());
}

TEST_F(ModelFiles, AWriteCostsTheWorkerAndCountsAsNoDeath) {
  std::vector<bool> right;
  run(write_and_check(*host_, told_, right));
  EXPECT_EQ(right, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(host_->spawns(), 2U);
  EXPECT_EQ(host_->deaths(), 0U);
}

Task<void> rename_and_look(ModelHost& host, Told& told, std::vector<bool>& trusted) {
  (void)co_await host.ensure_resident(&kNeverCancelled);
  trusted.push_back(host.files_trusted());
  told.news.renamed = true;
  trusted.push_back(host.files_trusted());
  const Result<> right = co_await host.check_files();
  EXPECT_TRUE(right) << "the open file is what it was";
  host.end_look(host.begin_look());
  trusted.push_back(host.files_trusted());
}

TEST_F(ModelFiles, ANewNameAsksForALook) {
  std::vector<bool> trusted;
  run(rename_and_look(*host_, told_, trusted));
  EXPECT_EQ(trusted, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(host_->spawns(), 1U);
}

Task<void> end_hollow_twice(ModelHost& host, std::string& told, const std::string& variant) {
  (void)co_await host.ensure_worker(&kNeverCancelled);
  told = variant;
  EXPECT_TRUE(host.hollow_worker());
  co_await host.end_hollow();
  EXPECT_FALSE(host.has_worker());
  co_await host.end_hollow();
  (void)co_await host.ensure_resident(&kNeverCancelled);
  EXPECT_FALSE(host.hollow_worker()) << "it holds weights";
  co_await host.end_hollow();
  EXPECT_EQ(host.level(), WeightsLevel::kResident);
}

TEST_F(ModelFiles, OnlyAHollowWorkerIsLetGo) {
  std::string told;
  run(end_hollow_twice(*host_, told, variant_));
  EXPECT_EQ(host_->spawns(), 2U);
  EXPECT_EQ(host_->deaths(), 0U);
  EXPECT_EQ(told, "scripted") << "what the first worker found is kept for the next";
}

}  // namespace
}  // namespace hearth::front
