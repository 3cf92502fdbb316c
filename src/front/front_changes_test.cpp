// SPDX-License-Identifier: Apache-2.0
//
// Keys and configurations that change while the server runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/log.h"
#include "front/testing/whole_front.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class FrontChangesTest : public testing::WholeFront {};

std::uint64_t warnings(const std::string& event) {
  const auto counts = log::counts();
  const auto found = counts.find(event);
  return found == counts.end() ? 0 : found->second;
}

Task<void> takes_the_last_key_back(FrontService& service) {
  std::string name = "admin";
  const auto added = co_await service.add_key(name, Role::kAdmin);
  EXPECT_TRUE(added);
  EXPECT_TRUE(service.keys().check(added->secret));
  const std::uint64_t before = warnings("server.open_to_the_network");
  const auto removed = co_await service.remove_key(name);
  EXPECT_TRUE(removed);
  EXPECT_FALSE(service.keys().check(added->secret));
  EXPECT_EQ(warnings("server.open_to_the_network"), before + 1);
}

TEST_F(FrontChangesTest, TheLastKeysEndOpensTheServerAloud) {
  config_.listen = "0.0.0.0:0";
  open();
  run(takes_the_last_key_back(*service_));
}

Task<void> reload(FrontService& service, int& done) {
  const auto reloaded = co_await service.reload_configuration();
  EXPECT_TRUE(reloaded);
  ++done;
}

Task<void> reloads_twice(EventLoop& loop, FrontService& service) {
  int done = 0;
  loop.spawn(reload(service, done));
  loop.spawn(reload(service, done));
  while (done < 2) co_await loop.sleep(1ms);
}

TEST_F(FrontChangesTest, ReloadsGoOneByOneAndTheLastHolds) {
  std::atomic<int> calls{0}, inside{0};
  load_config_ = [&]() -> Result<Config> {
    EXPECT_EQ(inside.fetch_add(1), 0);
    Config next = config_;
    next.keep_alive = KeepAlive::after(std::chrono::minutes{++calls});
    --inside;
    return next;
  };
  open();
  run(reloads_twice(*loop_, *service_));
  EXPECT_EQ(service_->config().keep_alive.text(), "2m0s");
}

Task<void> reloads_with_a_new_holder(FrontService& service) {
  std::string tiny = "tiny", second = "zweite", weights = "weights";
  (void)co_await service.copy_model(tiny, second);
  (void)co_await service.warm(tiny, weights);
  EXPECT_THAT(service.metrics().text(), Not(HasSubstr("zweite:latest")));
  (void)co_await service.reload_configuration();
  EXPECT_THAT(service.metrics().text(), HasSubstr("zweite:latest"));
}

TEST_F(FrontChangesTest, AReloadMovesAModelToItsNewHolder) {
  load_config_ = [this]() -> Result<Config> {
    Config next = config_;
    next.models["zweite:latest"].name = "zweite:latest";
    next.models["zweite:latest"].keep_alive = KeepAlive::after(10min);
    return next;
  };
  open();
  run(reloads_with_a_new_holder(*service_));
}

Task<void> warm(FrontService& service, int& done) {
  std::string name = "tiny", weights = "weights";
  const auto warmed = co_await service.warm(std::move(name), std::move(weights));
  EXPECT_TRUE(warmed) << warmed.error().message();
  ++done;
}

Task<void> warms_thrice_at_once(EventLoop& loop, FrontService& service, std::string path) {
  std::ofstream{path, std::ios::binary | std::ios::app} << "more";
  int done = 0;
  for (int i = 0; i < 3; ++i) loop.spawn(warm(service, done));
  while (done < 3) co_await loop.sleep(1ms);
}

TEST_F(FrontChangesTest, WhoComesWhileAChangedFileIsLookedAtGetsTheModelToo) {
  open();
  run(warms_thrice_at_once(*loop_, *service_, directory_ / "tiny.gguf"));
}

}  // namespace
}  // namespace hearth::front
