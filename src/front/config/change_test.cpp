// SPDX-License-Identifier: Apache-2.0
#include "front/config/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "front/config/describe.h"
#include "front/config/options.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelOptions section(const std::string& name) {
  ModelOptions model;
  model.name = name;
  return model;
}

TEST(ConfigChange, TakesOverWhatCanChangeLive) {
  Config running;
  Config next;
  next.log_level = "debug";
  next.set_by["log_level"] = {Source::kFile, "h.toml:1:13"};
  next.parallel = 9;
  next.set_by["parallel"] = {Source::kFile, "h.toml:2:12"};
  const ConfigChange change = take_over(running, next);
  EXPECT_THAT(change.changed, ElementsAre("log_level"));
  EXPECT_THAT(change.needs_restart, ElementsAre("parallel"));
  EXPECT_EQ(running.log_level, "debug");
  EXPECT_EQ(running.set_by.at("log_level").place, "h.toml:1:13");
  EXPECT_EQ(running.parallel, 4);
  EXPECT_FALSE(running.set_by.contains("parallel"));
}

TEST(ConfigChange, SectionsComeAndGo) {
  Config running;
  running.models["old:latest"] = section("old:latest");
  running.models["old:latest"].aliases = {"x:latest"};
  running.models["both:latest"] = section("both:latest");
  running.models["both:latest"].context = 5;
  Config next;
  next.models["both:latest"] = section("both:latest");
  next.models["both:latest"].keep_alive = KeepAlive::after(1min);
  const ConfigChange change = take_over(running, next);
  EXPECT_THAT(change.changed,
              ElementsAre("models.\"both:latest\".keep_alive", "models.\"old:latest\".aliases"));
  EXPECT_THAT(change.needs_restart, ElementsAre("models.\"both:latest\".context"));
  EXPECT_FALSE(running.models.contains("old:latest"));
  EXPECT_EQ(running.effective("both:latest").keep_alive, KeepAlive::after(1min));
  EXPECT_EQ(running.effective("both:latest").context, 5);
}

TEST(ConfigChange, NothingIsNothing) {
  Config running;
  running.models["a:latest"] = section("a:latest");
  const ConfigChange change = take_over(running, Config{running});
  EXPECT_THAT(change.changed, IsEmpty());
  EXPECT_THAT(change.needs_restart, IsEmpty());
  EXPECT_TRUE(running.models.contains("a:latest"));
}

TEST(Options, EveryOneIsDescribed) {
  const Config config;
  const auto json = boost::json::parse(config_json(config));
  EXPECT_EQ(json.at("options").as_array().size(), options().size());
  for (const Option& option : options()) {
    const std::string name{option.name};
    EXPECT_THAT(options_help(), HasSubstr(name));
    EXPECT_THAT(options_markdown(), HasSubstr("### " + name + "\n"));
    EXPECT_FALSE(option.help.empty()) << name;
  }
}

TEST(Options, AModelsOptionHasRules) {
  for (const ModelOption& option : model_options()) {
    EXPECT_EQ(rules_of(option).name, option.name);
  }
}

}  // namespace
}  // namespace hearth::front
