// SPDX-License-Identifier: Apache-2.0
#include "front/config/module_sections.h"

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

class ModuleSections : public ::testing::Test {
 protected:
  Result<Config> load(const std::string& text) {
    return load_config({directory_.write("hearth.toml", text), {}, {}});
  }
  TempDir directory_;
};

TEST_F(ModuleSections, DeclareTexts) {
  const auto config = load(
      "[modules.\"house\"]\ntext = \"be brief\"\nmodels = [\"smol\", \"Smol:latest\", \"b\"]\n"
      "[modules.manual]\nfile = \"texts/manual.txt\"\n[modules.far]\nfile = \"/srv/far.txt\"\n");
  ASSERT_TRUE(config) << config.error().message();
  ASSERT_EQ(config->modules.size(), 3U);
  const ModuleOptions& house = config->modules.at("house");
  EXPECT_EQ(house.text, "be brief");
  EXPECT_EQ(house.models.front(), "smol:latest");
  EXPECT_EQ(config->modules.at("manual").file, directory_ / "texts/manual.txt");
  EXPECT_EQ(config->modules.at("far").file, "/srv/far.txt");
  const auto shown = boost::json::parse(config_json(*config));
  EXPECT_EQ(shown.at("modules").at("house").at("bytes").as_int64(), 8);
  EXPECT_EQ(shown.at("modules").at("far").at("file").as_string(), "/srv/far.txt");
}

struct WrongCase {
  const char* name;
  const char* text;
  const char* complaint;
};

class WrongModuleSections : public ModuleSections,
                            public ::testing::WithParamInterface<WrongCase> {};

TEST_P(WrongModuleSections, SayWhatIsWrong) {
  const auto config = load(GetParam().text);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message(), HasSubstr(GetParam().complaint));
  EXPECT_THAT(config.error().message(), HasSubstr("hearth.toml:"));
}

INSTANTIATE_TEST_SUITE_P(
    Config, WrongModuleSections,
    ::testing::Values(
        WrongCase{"NoSection", "modules = 3\n", "must be sections"},
        WrongCase{"NoTable", "[modules]\nhouse = \"x\"\n", "must be a section, not a string"},
        WrongCase{"Neither", "[modules.a]\nmodels = []\n", "either text or file"},
        WrongCase{"Both", "[modules.a]\ntext = \"x\"\nfile = \"y\"\n", "either text or file"},
        WrongCase{"Name", "[modules.\"a b\"]\ntext = \"x\"\n", "a module's name is"},
        WrongCase{"Key", "[modules.a]\ntxt = \"x\"\n", "did you mean \"text\""},
        WrongCase{"Number", "[modules.a]\ntext = 3\n", "text must be a string"},
        WrongCase{"Empty", "[modules.a]\ntext = \"\"\n", "must not be empty"},
        WrongCase{"Models", "[modules.a]\ntext = \"x\"\nmodels = [3]\n", "list of strings"},
        WrongCase{"Model", "[modules.a]\ntext = \"x\"\nmodels = [\"../up\"]\n", "models: "}),
    [](const auto& test) { return test.param.name; });

TEST_F(ModuleSections, AreTakenOverByAReload) {
  auto running = load("[modules.a]\ntext = \"x\"\n[modules.b]\ntext = \"y\"\n");
  const auto next = load("[modules.a]\ntext = \"x\"\n[modules.b]\ntext = \"z\"\n");
  ASSERT_TRUE(running && next);
  const ConfigChange change = take_over(*running, *next);
  EXPECT_THAT(change.changed, ElementsAre("modules.\"b\""));
  EXPECT_TRUE(change.needs_restart.empty());
  EXPECT_EQ(running->modules.at("b").text, "z");
}

}  // namespace
}  // namespace hearth::front
