// SPDX-License-Identifier: Apache-2.0
#include "cli/server_address.h"

#include <gtest/gtest.h>

#include <map>

namespace hearth::cli {
namespace {

struct Given {
  std::string flag{};
  std::string hearth{};
  std::string ollama{};
};

Result<ServerAddress> address_of(const Given& given) {
  return server_address(given.flag, [&given](const char* name) {
    return std::string_view{name} == "HEARTH_HOST" ? given.hearth : given.ollama;
  });
}

struct AddressCase {
  const char* label;
  Given given;
  const char* text;
  const char* prefix;
  const char* origin;
};
class ServerAddressOf : public testing::TestWithParam<AddressCase> {};
TEST_P(ServerAddressOf, IsRead) {
  const auto address = address_of(GetParam().given);
  ASSERT_TRUE(address) << address.error().message();
  EXPECT_EQ(address->text(), GetParam().text);
  EXPECT_EQ(address->prefix, GetParam().prefix);
  EXPECT_EQ(address->origin, GetParam().origin);
}
INSTANTIATE_TEST_SUITE_P(
    Forms, ServerAddressOf,
    testing::Values(
        AddressCase{"Default", {}, "127.0.0.1:11435", "", ""},
        AddressCase{"FlagFirst", {"a", "b", "c"}, "a:11435", "", "--host=a"},
        AddressCase{"OursBeforeOllamas", {"", "b", "c"}, "b:11435", "", "HEARTH_HOST=b"},
        AddressCase{"OllamasPort", {"", "", "c"}, "c:11434", "", "OLLAMA_HOST=c"},
        AddressCase{"OllamasUrl", {"", "", "http://c"}, "c:80", "", "OLLAMA_HOST=http://c"},
        AddressCase{"OurUrl", {"http://c"}, "c:11435", "", "--host=http://c"},
        AddressCase{"HostPort", {"", "", "c:9"}, "c:9", "", "OLLAMA_HOST=c:9"},
        AddressCase{"OnlyPort", {"", "", ":9"}, "127.0.0.1:9", "", "OLLAMA_HOST=:9"},
        AddressCase{
            "Everywhere", {"", "", "0.0.0.0"}, "127.0.0.1:11434", "", "OLLAMA_HOST=0.0.0.0"},
        AddressCase{"EverywherePort", {"0.0.0.0:80"}, "127.0.0.1:80", "", "--host=0.0.0.0:80"},
        AddressCase{"EverywhereSix", {"[::]:9"}, "[::1]:9", "", "--host=[::]:9"},
        AddressCase{"Six", {"[::1]:11434"}, "[::1]:11434", "", "--host=[::1]:11434"},
        AddressCase{"BareSix", {"fe80::2"}, "[fe80::2]:11435", "", "--host=fe80::2"},
        AddressCase{
            "Path", {"http://box:8080/lab/"}, "box:8080", "/lab", "--host=http://box:8080/lab/"},
        AddressCase{"Slash", {"http://box:8080/"}, "box:8080", "", "--host=http://box:8080/"},
        AddressCase{"Quoted", {"", "", " \"c:9\" "}, "c:9", "", "OLLAMA_HOST= \"c:9\" "}),
    [](const auto& test) { return test.param.label; });

class NoServerAddress : public testing::TestWithParam<const char*> {};
TEST_P(NoServerAddress, IsRefusedByItsOrigin) {
  const auto address = address_of({.ollama = GetParam()});
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(address.error().message().find(std::string{"OLLAMA_HOST="} + GetParam()), 0U);
}
INSTANTIATE_TEST_SUITE_P(Forms, NoServerAddress,
                         testing::Values("https://box", "ftp://box", "box:port", "box:0",
                                         "box:70000", "box:", "[::1", "[::1]9", "a b",
                                         "http://me@box"));

TEST(ServerAddress, SaysWhatStartsAServerThere) {
  EXPECT_EQ(ServerAddress{}.start_command(), "hearth serve");
  EXPECT_EQ(address_of({":9"})->start_command(), "hearth serve --listen 127.0.0.1:9");
  EXPECT_EQ(address_of({"[::1]"})->start_command(), "hearth serve --listen [::1]:11435");
  EXPECT_EQ(address_of({"box"})->start_command(), "");
}

}  // namespace
}  // namespace hearth::cli
