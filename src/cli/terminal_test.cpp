// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <map>

#include "base/fd.h"

namespace hearth::cli {
namespace {

// The master side of a pseudo terminal is a terminal too, which is all that matters here.
Fd terminal(unsigned short columns) {
  Fd fd{::posix_openpt(O_RDWR | O_NOCTTY)};
  winsize size{};
  size.ws_col = columns;
  ::ioctl(fd.get(), TIOCSWINSZ, &size);
  return fd;
}

Environment with(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string{} : found->second;
  };
}

TEST(Terminal, APipeGetsNeitherColourNorUnicode) {
  const Fd file{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  const OutputStyle style = style_of(file.get(), with({{"LANG", "C.UTF-8"}}));
  EXPECT_FALSE(style.terminal);
  EXPECT_FALSE(style.colour);
  EXPECT_FALSE(style.unicode);
  EXPECT_EQ(style.width, 80U);
  EXPECT_EQ(style.paint(Paint::kRed, "x"), "x");
}

struct LocaleCase {
  const char* label;
  std::map<std::string, std::string> environment;
  bool colour;
  bool unicode;
};
class TerminalStyle : public testing::TestWithParam<LocaleCase> {};
TEST_P(TerminalStyle, FollowsTheEnvironment) {
  const Fd fd = terminal(100);
  const OutputStyle style = style_of(fd.get(), with(GetParam().environment));
  EXPECT_TRUE(style.terminal);
  EXPECT_EQ(style.width, 100U);
  EXPECT_EQ(style.colour, GetParam().colour);
  EXPECT_EQ(style.unicode, GetParam().unicode);
}
INSTANTIATE_TEST_SUITE_P(
    Environment, TerminalStyle,
    testing::Values(LocaleCase{"Plain", {}, true, false},
                    LocaleCase{"Utf8", {{"LANG", "de_DE.UTF-8"}}, true, true},
                    LocaleCase{"LcAllWins", {{"LC_ALL", "C"}, {"LANG", "en_GB.utf8"}}, true, false},
                    LocaleCase{
                        "EmptyIsUnset", {{"LC_ALL", ""}, {"LC_CTYPE", "C.utf8"}}, true, true},
                    LocaleCase{"NoColor", {{"NO_COLOR", "1"}}, false, false},
                    LocaleCase{"Dumb", {{"TERM", "dumb"}}, false, false}),
    [](const auto& test) { return test.param.label; });

TEST(Terminal, AnUnknownWidthIsEighty) {
  const Fd fd = terminal(0);
  EXPECT_EQ(style_of(fd.get(), with({})).width, 80U);
}

}  // namespace
}  // namespace hearth::cli
