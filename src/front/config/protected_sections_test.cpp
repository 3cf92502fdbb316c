// SPDX-License-Identifier: Apache-2.0
#include "front/config/protected_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "front/config/change.h"
#include "front/config/describe.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using hearth::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProtectedSections : public ::testing::Test {
 protected:
  Result<Config> load(const std::string& text) {
    return load_config({directory_.write("hearth.toml", text), {}, {}});
  }
  TempDir directory_;
};

TEST_F(ProtectedSections, NameServices) {
  const auto config = load(
      "[protected.\"recorder\"]\nprocess = \"frigate\"\n"
      "[protected.db]\ncgroup = \"system.slice/postgresql@15.service\"\npsi_limit = 0\n"
      "[protected.home]\nurl = \"http://127.0.0.1:8123/manifest.json?x=1\"\np99_percent = 150\n"
      "release_pins = true\n[protected.v6]\nurl = \"http://[::1]:80\"\n");
  ASSERT_TRUE(config) << config.error().message();
  ASSERT_EQ(config->protected_services.size(), 4U);
  const ProtectedOptions& recorder = config->protected_services.at("recorder");
  EXPECT_EQ(recorder, (ProtectedOptions{"recorder", "frigate", "", "", 110, 10, false}));
  EXPECT_EQ(config->protected_services.at("db").cgroup, "system.slice/postgresql@15.service");
  EXPECT_EQ(config->protected_services.at("db").psi_limit, 0);
  const ProtectedOptions& home = config->protected_services.at("home");
  EXPECT_EQ(home.url, "http://127.0.0.1:8123/manifest.json?x=1");
  EXPECT_EQ(home.p99_percent, 150);
  EXPECT_TRUE(home.release_pins);
  const auto shown = boost::json::parse(config_json(*config)).at("protected");
  EXPECT_EQ(shown.at("home").at("p99_percent").as_int64(), 150);
  EXPECT_EQ(shown.at("db").at("cgroup").as_string(), "system.slice/postgresql@15.service");
  EXPECT_THAT(std::string{shown.at("recorder").at("origin").as_string()},
              HasSubstr("hearth.toml:1:"));
}

struct WrongCase {
  const char* name;
  const char* text;
  const char* complaint;
};
void PrintTo(const WrongCase& c, std::ostream* out) { *out << c.name; }

class WrongProtectedSections : public ProtectedSections,
                               public ::testing::WithParamInterface<WrongCase> {};

TEST_P(WrongProtectedSections, SayWhatIsWrong) {
  const auto config = load(GetParam().text);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message(), HasSubstr(GetParam().complaint));
  EXPECT_THAT(config.error().message(), HasSubstr("hearth.toml:"));
}

INSTANTIATE_TEST_SUITE_P(
    Config, WrongProtectedSections,
    ::testing::Values(
        WrongCase{"NoSection", "protected = 3\n", "must be sections"},
        WrongCase{"NoTable", "[protected]\na = \"x\"\n", "must be a section, not a string"},
        WrongCase{"None", "[protected.a]\npsi_limit = 5\n", "exactly one of"},
        WrongCase{"Two", "[protected.a]\nprocess = \"x\"\ncgroup = \"y\"\n", "exactly one of"},
        WrongCase{"Name", "[protected.\"a b\"]\nprocess = \"x\"\n", "is no name"},
        WrongCase{"NoName", "[protected.\"\"]\nprocess = \"x\"\n", "is no name"},
        WrongCase{"Key", "[protected.a]\nproces = \"x\"\n", "did you mean \"process\""},
        WrongCase{"Number", "[protected.a]\nprocess = 3\n", "process must be a string"},
        WrongCase{"Path", "[protected.a]\nprocess = \"/usr/bin/x\"\n", "without a path"},
        WrongCase{"EmptyProcess", "[protected.a]\nprocess = \"\"\n", "a program's name"},
        WrongCase{"AbsoluteGroup", "[protected.a]\ncgroup = \"/system.slice\"\n", "slash"},
        WrongCase{"GroupWithRoot", "[protected.a]\ncgroup = \"sys/fs/cgroup/a\"\n", "below"},
        WrongCase{"GroupUpwards", "[protected.a]\ncgroup = \"a/../../b\"\n", "below"},
        WrongCase{"Https", "[protected.a]\nurl = \"https://a/\"\n", "an address such as"},
        WrongCase{"User", "[protected.a]\nurl = \"http://me:pw@a/\"\n", "without a user"},
        WrongCase{"NoHost", "[protected.a]\nurl = \"http:///x\"\n", "an address such as"},
        WrongCase{"AnyHost", "[protected.a]\nurl = \"http://*.a/\"\n", "an address such as"},
        WrongCase{"AnyPort", "[protected.a]\nurl = \"http://a:*/\"\n", "an address such as"},
        WrongCase{"Newline", "[protected.a]\nurl = \"http://a/\\r\\nX: y\"\n", "an address such"},
        WrongCase{"Percent", "[protected.a]\nprocess = \"x\"\np99_percent = 100\n",
                  "p99_percent must be from 101 to 10000, not 100"},
        WrongCase{"Fraction", "[protected.a]\nprocess = \"x\"\npsi_limit = 1.5\n",
                  "psi_limit must be a whole number"},
        WrongCase{"Word", "[protected.a]\nprocess = \"x\"\nrelease_pins = \"yes\"\n",
                  "release_pins must be true or false"}),
    [](const auto& test) { return test.param.name; });

TEST_F(ProtectedSections, AreNotTooMany) {
  std::string text;
  for (std::size_t i = 0; i <= kMostProtected; ++i) {
    text += "[protected.a" + std::to_string(i) + "]\nprocess = \"x\"\n";
  }
  const auto config = load(text);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message(), HasSubstr("at most 16 protected services"));
}

TEST_F(ProtectedSections, AreTakenOverByAReload) {
  auto running = load("[protected.a]\nprocess = \"x\"\n[protected.b]\nprocess = \"y\"\n");
  const auto next = load("[protected.a]\nprocess = \"x\"\n[protected.c]\nprocess = \"z\"\n");
  ASSERT_TRUE(running && next);
  const ConfigChange change = take_over(*running, *next);
  EXPECT_THAT(change.changed, ElementsAre("protected.\"b\"", "protected.\"c\""));
  EXPECT_TRUE(change.needs_restart.empty());
  EXPECT_FALSE(running->protected_services.contains("b"));
  EXPECT_EQ(running->protected_services.at("c").process, "z");
}

}  // namespace
}  // namespace hearth::front
