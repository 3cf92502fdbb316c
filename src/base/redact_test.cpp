// SPDX-License-Identifier: Apache-2.0
#include "base/redact.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

struct RedactCase {
  const char* label;
  const char* text;
  const char* expected;
};
class WithoutDirectories : public ::testing::TestWithParam<RedactCase> {};

TEST_P(WithoutDirectories, LeavesNames) {
  EXPECT_EQ(without_directories(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, WithoutDirectories,
    ::testing::Values(
        RedactCase{"Nothing", "", ""},
        RedactCase{"Prose", "a/b:c at 3 tokens/s", "a/b:c at 3 tokens/s"},
        RedactCase{"Root", "/", "/"}, RedactCase{"RootInProse", "list / first", "list / first"},
        RedactCase{"Fraction", "3 / 4 of it", "3 / 4 of it"},
        RedactCase{"Url", "see http://box:1/a b", "see http://box:1/a b"},
        RedactCase{"FileUrl", "file:///srv/x.gguf", "file:x.gguf"},
        RedactCase{"Plain", "open /m/models/a.gguf", "open a.gguf"},
        RedactCase{"WordsBehind", "/m/a.gguf is not there", "a.gguf is not there"},
        RedactCase{"Folder", "/m/models/ is full, (/x/y/)", "y)"},
        RedactCase{"Parentheses", "it (/x/y/)", "it (y)"},
        RedactCase{"Blank", "open /srv/Anna Private/llm/x.gguf: permission denied",
                   "open x.gguf: permission denied"},
        RedactCase{"BlankAtTheEnd", "open /srv/Anna Private/llm/x.gguf", "open x.gguf"},
        RedactCase{"Place", "/etc/My Home/hearth.toml:3:9: wrong", "hearth.toml:3:9: wrong"},
        RedactCase{"TwoSentences", "/a b/c: no; /d e/f: no", "c: no; f: no"},
        RedactCase{"TwoPaths", "rename /a/b to /c/d: no", "rename d: no"},
        RedactCase{"Lines", "/a b/c\n/d e/f\nand/or", "c\nf\nand/or"},
        RedactCase{"Quoted", "in '/a/b c' and \"/x y/z: w/v\"", "in 'b c' and \"v\""},
        RedactCase{"Apostrophe", "/srv/Anna's models/x: no", "x: no"},
        RedactCase{"QuotedApostrophe", "'/srv/Anna's models/x' is gone", "'x' is gone"},
        RedactCase{"Unclosed", "'/srv/Anna's models/x: no", "'x: no"},
        RedactCase{"Json", "{\"path\":\"/a b/c\",\"n\":1}", "{\"path\":\"c\",\"n\":1}"},
        RedactCase{"Value", "path=/a b/c", "path=c"}),
    [](const auto& test) { return test.param.label; });

}  // namespace
}  // namespace hearth
