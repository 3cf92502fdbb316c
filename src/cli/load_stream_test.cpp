// SPDX-License-Identifier: Apache-2.0
#include "cli/load_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth::cli {
namespace {

struct StreamCase {
  const char* label;
  const char* bytes;
  std::vector<std::string> stages;
  const char* model;  // or what went wrong
};

class LoadStreamOf : public testing::TestWithParam<StreamCase> {
 protected:
  // One byte at a time, so that no line comes whole.
  Result<std::string> read() {
    LoadStream stream{[this](const ProgressNote& note) { stages.push_back(note.stage); }};
    for (const char* c = GetParam().bytes; *c != '\0'; ++c) stream.feed({c, 1});
    return stream.finish();
  }

  std::vector<std::string> stages;
};

TEST_P(LoadStreamOf, EndsInAModelOrAnError) {
  const auto model = read();
  EXPECT_EQ(model ? *model : model.error().message(), GetParam().model);
  EXPECT_EQ(stages, GetParam().stages);
}

INSTANTIATE_TEST_SUITE_P(
    Streams, LoadStreamOf,
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
                   "the connection broke before the model was ready"}),
    [](const auto& test) { return test.param.label; });

}  // namespace
}  // namespace hearth::cli
