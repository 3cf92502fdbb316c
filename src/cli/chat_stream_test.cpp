// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_stream.h"

#include <gtest/gtest.h>

#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kStream =
    ": progress {\"stage\":\"read\",\"fraction\":0.4,\"done_bytes\":4,\"total_bytes\":10}\n"
    "\n"
    ": keep-alive\n"
    "\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null},"
    "\"finish_reason\":null}]}\r\n"
    "\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"Hm.\"}}]}\n"
    "\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\u00fc\u00df\"}}]}\n"
    "\n"
    "data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"e\\n\"}}]}\n"
    "\n"
    "data: not json\n"
    "\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
    "\"hearth\":{\"class\":\"warm\"},\"timings\":{\"predicted_per_second\":61.5}}\n"
    "\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n"
    "\n"
    "data: [DONE]\n"
    "\n";

struct Seen {
  std::string text;
  std::string reasoning;
  std::vector<ProgressNote> progress;
  ReplyEnd end;
};

// Feeds `bytes` in pieces of `piece`.
Seen read_stream(std::string_view bytes, std::size_t piece) {
  Seen seen;
  ChatStream stream{
      {.on_progress = [&](const ProgressNote& note) { seen.progress.push_back(note); },
       .on_text = [&](std::string_view text) { seen.text += text; },
       .on_reasoning = [&](std::string_view text) { seen.reasoning += text; }}};
  for (std::size_t at = 0; at < bytes.size(); at += piece) stream.feed(bytes.substr(at, piece));
  seen.end = stream.end();
  return seen;
}

class ChatStreamPieces : public testing::TestWithParam<std::size_t> {};
TEST_P(ChatStreamPieces, ReadTheSameWhateverTheirSize) {
  const Seen seen = read_stream(kStream, GetParam());
  EXPECT_EQ(seen.text, "Gr\u00fc\u00dfe\n");
  EXPECT_EQ(seen.reasoning, "Hm.");
  ASSERT_EQ(seen.progress.size(), 1U);
  EXPECT_EQ(seen.progress[0].stage, "read");
  EXPECT_DOUBLE_EQ(seen.progress[0].fraction, 0.4);
  EXPECT_EQ(seen.progress[0].done, Bytes{4});
  EXPECT_EQ(seen.progress[0].total, Bytes{10});
  EXPECT_EQ(seen.end.finish_reason, "stop");
  EXPECT_EQ(seen.end.error, "");
  EXPECT_EQ(text_in(seen.end.hearth, "class"), "warm");
  EXPECT_EQ(number_in(seen.end.timings, "predicted_per_second"), 61.5);
}
INSTANTIATE_TEST_SUITE_P(Sizes, ChatStreamPieces, testing::Values(1, 7, 100'000));

TEST(ChatStream, TellsAnErrorInsideTheStream) {
  const Seen seen =
      read_stream("data: {\"error\":{\"message\":\"the worker died\",\"type\":\"x\"}}\n\n", 1000);
  EXPECT_EQ(seen.end.error, "the worker died");
  EXPECT_EQ(seen.end.finish_reason, "");
}

TEST(ChatStream, ABrokenStreamHasNoFinishReason) {
  const Seen seen = read_stream(kStream.substr(0, kStream.find("\"stop\"")), 1000);
  EXPECT_EQ(seen.text, "Gr\u00fc\u00dfe\n");
  EXPECT_EQ(seen.end.finish_reason, "");
}

}  // namespace
}  // namespace hearth::cli
