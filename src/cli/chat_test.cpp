// SPDX-License-Identifier: Apache-2.0
#include "cli/chat.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

TEST(ChatBody, LeavesOutWhatNobodyAskedFor) {
  EXPECT_EQ(chat_body({.model = "m"}, {{"user", "hi \"you\""}}, Streaming::kNo),
            R"({"model":"m","messages":[{"role":"user","content":"hi \"you\""}]})");
}

TEST(ChatBody, PutsTheSystemMessageFirst) {
  const ChatOptions options{
      .model = "m", .system = "Be brief.", .max_tokens = 20, .temperature = 0.5, .seed = -7};
  EXPECT_EQ(chat_body(options, {{"user", "a"}, {"assistant", "b"}, {"user", "c"}}, Streaming::kYes),
            R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)"
            R"({"role":"user","content":"a"},{"role":"assistant","content":"b"},)"
            R"({"role":"user","content":"c"}],"max_tokens":20,"temperature":5E-1,"seed":-7,)"
            R"("stream":true,"return_progress":true})");
}

}  // namespace
}  // namespace hearth::cli
