// SPDX-License-Identifier: Apache-2.0
#include "front/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "front/config/describe.h"

namespace hearth::front {
namespace {

Result<Config> load(const std::string& path, Environment environment = {},
                    std::vector<Setting> arguments = {}) {
  return load_config({path, std::move(arguments), std::move(environment)});
}

class ConfigFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = ::testing::TempDir() + "/hearth_config_test.toml";
    std::ofstream{path} << text;
    return path;
  }
};

TEST_F(ConfigFile, SetsWhatItNames) {
  const auto config =
      load(write("listen = \"127.0.0.1:0\"\nparallel = 2\nlayers_off = [\"prefix\", \"pages\"]\n"));
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->listen, "127.0.0.1:0");
  EXPECT_EQ(config->parallel, 2);
  EXPECT_FALSE(config->switches.prefix);
  EXPECT_FALSE(config->switches.pages);
  EXPECT_TRUE(config->switches.weights);
}

TEST_F(ConfigFile, ArgumentsWin) {
  const auto config = load(write("parallel = 2\n"), {}, {Setting{"parallel", "3", "--parallel"}});
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->parallel, 3);
}

struct BadCase {
  const char* name;
  const char* text;
  const char* says;
};
class BadConfig : public ConfigFile, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadConfig, IsRefusedWithItsPlace) {
  const auto config = load(write(GetParam().text));
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code(), ErrorCode::kInvalid);
  EXPECT_NE(config.error().message().find(GetParam().says), std::string::npos)
      << config.error().message();
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadConfig,
    ::testing::Values(
        BadCase{"UnknownKey", "parallel = 2\nlisten_on = \"x\"\n",
                ".toml:2:1: there is no option \"listen_on\"; did you mean \"listen\"?"},
        BadCase{"WrongType", "parallel = \"two\"\n", ".toml:1:12: parallel must be a whole number"},
        BadCase{"OutOfBounds", "queue = -1\n",
                ".toml:1:9: queue must be from 0 to 1000000, not -1"},
        BadCase{"Syntax", "parallel = \n", ".toml:1:"},
        BadCase{"NoSuchLayer", "layers_off = [\"disk\"]\n", "disk"},
        BadCase{"NotAList", "layers_off = \"prefix\"\n", "layers_off must be a list of strings"},
        BadCase{"BadPort", "listen = \"127.0.0.1:99999\"\n", "no number from 0 to 65535"},
        BadCase{"BadLevel", "log_level = \"loud\"\n", "must be debug, info, warn or error"}),
    [](const auto& test) { return test.param.name; });

struct ListenCase {
  const char* name;
  const char* text;
  const char* host;
  int port;
};
class Listen : public ::testing::TestWithParam<ListenCase> {};
TEST_P(Listen, Parses) {
  const auto address = parse_listen(GetParam().text);
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, GetParam().host);
  EXPECT_EQ(address->port, GetParam().port);
}
INSTANTIATE_TEST_SUITE_P(Addresses, Listen,
                         ::testing::Values(ListenCase{"HostAndPort", "10.0.0.1:80", "10.0.0.1", 80},
                                           ListenCase{"HostOnly", "localhost", "localhost", 11435},
                                           ListenCase{"PortOnly", ":0", "127.0.0.1", 0},
                                           ListenCase{"V6", "[::1]:8080", "::1", 8080},
                                           ListenCase{"BareV6", "::1", "::1", 11435}),
                         [](const auto& test) { return test.param.name; });

TEST(Options, EveryOneIsDescribed) {
  const std::string text = options_help();
  for (const char* name : {"listen", "data", "layers_off", "parallel", "hang_seconds"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace hearth::front
