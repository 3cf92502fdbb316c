// SPDX-License-Identifier: Apache-2.0
#include "front/config/options.h"

#include <gtest/gtest.h>

#include "wire/frame.h"

namespace hearth::front {
namespace {

// A larger one would be read, and then refused for what it is.
TEST(Options, NoBodyIsLargerThanAMessageToAWorker) {
  const Option& limit = *find_option("max_body_mib");
  EXPECT_LE(limit.most << 20, static_cast<std::int64_t>(wire::kMaxPayload));
  EXPECT_LE(Config{}.max_body_mib, limit.most);
  EXPECT_GE(Config{}.max_bodies_mib, Config{}.max_body_mib);
}

}  // namespace
}  // namespace hearth::front
