// SPDX-License-Identifier: Apache-2.0
#include "cli/answer_lines.h"

#include <gtest/gtest.h>

#include <vector>

#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

struct StreamCase {
  const char* label;
  const char* bytes;
  std::vector<std::string> stages;
  const char* model;  // or what went wrong
};

class AnswerLinesOf : public testing::TestWithParam<StreamCase> {
 protected:
  // One byte at a time, so that no line comes whole.
  Result<std::string> read() {
    AnswerLines stream{[this](const boost::json::object& line) {
      const auto* progress = object_in(line, "progress");
      if (progress != nullptr) stages.push_back(text_in(*progress, "stage"));
      return progress != nullptr;
    }};
    for (const char* c = GetParam().bytes; *c != '\0'; ++c) stream.feed({c, 1});
    return stream.finish();
  }

  std::vector<std::string> stages;
};

TEST_P(AnswerLinesOf, EndsInAResultOrAnError) {
  const auto model = read();
  EXPECT_EQ(model ? *model : model.error().message(), GetParam().model);
  EXPECT_EQ(stages, GetParam().stages);
}

INSTANTIATE_TEST_SUITE_P(
    Streams, AnswerLinesOf,
    testing::Values(
        StreamCase{"Progress",
                   "{\"progress\":{\"stage\":\"read\"}}\n{\"progress\":{\"stage\":\"load\"}}\n"
                   "{\"name\":\"x\"}\n",
                   {"read", "load"},
                   "{\"name\":\"x\"}"},
        StreamCase{"NoNewline", "{\"name\":\"x\"}", {}, "{\"name\":\"x\"}"},
        StreamCase{"Error",
                   "{\"progress\":{\"stage\":\"read\"}}\n{\"error\":{\"message\":\"no room\"}}\n",
                   {"read"},
                   "no room"},
        StreamCase{"Noise", "\n[1]\nhm\n{\"name\":\"x\"}\n", {}, "{\"name\":\"x\"}"},
        StreamCase{"BrokenOff",
                   "{\"progress\":{\"stage\":\"read\"}}\n{\"na",
                   {"read"},
                   "the connection broke before it was done"}),
    [](const auto& test) { return test.param.label; });

}  // namespace
}  // namespace hearth::cli
