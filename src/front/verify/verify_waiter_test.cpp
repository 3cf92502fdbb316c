// SPDX-License-Identifier: Apache-2.0
#include "front/verify/verify_waiter.h"

#include <gtest/gtest.h>

#include "front/testing/verify_front.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::VerifyFront;

class VerifyWaiterTest : public VerifyFront {
 protected:
  static Task<void> take_first(Transfer& from, std::optional<TransferEvent>* into) {
    into->emplace(co_await from.next());
  }
};

TEST_F(VerifyWaiterTest, ADetachedOneHearsOfAFreshVerify) {
  import_model("large", 40);
  busy_ = true;  // so that nothing goes on unasked
  std::unique_ptr<Transfer> waiter = verifier_->verify({"large", false});
  waiter->detach();
  std::optional<TransferEvent> first;
  loop_.spawn(take_first(*waiter, &first));
  files_.on_read = [&]() -> Result<> {
    if (first) waiter.reset();
    return {};
  };
  loop_.run_for(1s);
  files_.on_read = nullptr;
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::holds_alternative<TransferProgress>(*first));
  EXPECT_FALSE(waiter);
  EXPECT_TRUE(is_hashed("large")) << "it went on alone";
}

TEST_F(VerifyWaiterTest, ADetachedOneWhoStaysHearsTheEnd) {
  import_model("tiny");
  std::unique_ptr<Transfer> waiter = verifier_->verify({"tiny", false});
  waiter->detach();
  Heard heard;
  loop_.spawn(listen(std::move(waiter), &heard));
  loop_.run_for(1s);
  EXPECT_TRUE(heard.done);
}

}  // namespace
}  // namespace hearth::front
