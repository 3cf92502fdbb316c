// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "front/modules/module_rules.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using hearth::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModuleSet::Declared declared(const std::string& name, const std::string& text) {
  ModuleSet::Declared one;
  one.options.name = name;
  one.text = text;
  return one;
}

std::vector<ModuleSet::Declared> only(ModuleSet::Declared one) {
  std::vector<ModuleSet::Declared> list;
  list.push_back(std::move(one));
  return list;
}

TEST(ModuleSet, CountsVersionsByTheText) {
  ModuleSet set;
  ASSERT_TRUE(set.put("house", "be brief", {"smol"}));
  EXPECT_EQ(set.find("house")->version, 1);
  EXPECT_THAT(set.find("house")->version_name(), HasSubstr("1-"));
  EXPECT_EQ(set.find("house")->version_name().size(), 10U);
  ASSERT_TRUE(set.put("house", "be brief", {}));
  EXPECT_EQ(set.find("house")->version, 1) << "only its models are others";
  ASSERT_TRUE(set.put("house", "be verbose", {}));
  EXPECT_EQ(set.find("house")->version, 2);
  ASSERT_TRUE(set.remove("house"));
  ASSERT_TRUE(set.put("house", "be brief", {}));
  EXPECT_EQ(set.find("house")->version, 3) << "also over a removal";
}

TEST(ModuleSet, GoesOnCountingFromWhatIsStored) {
  ModuleSet first;
  ASSERT_TRUE(first.put("house", "be brief", {"smol"}));
  first.declare(only(declared("tools", "none")));
  ModuleSet second{first.stored()};
  ASSERT_NE(second.find("house"), nullptr);
  EXPECT_EQ(second.find("house")->version, 1);
  EXPECT_THAT(second.find("house")->models, ElementsAre("smol:latest"));
  EXPECT_EQ(second.find("tools"), nullptr) << "the configuration declares it each time";
  second.declare(only(declared("tools", "two")));
  EXPECT_EQ(second.find("tools")->version, 2);
}

TEST(ModuleSet, LeavesTheConfigurationsNamesAlone) {
  ModuleSet set;
  ASSERT_TRUE(set.put("house", "mine", {}));
  EXPECT_TRUE(set.declare(only(declared("house", "ours"))));
  EXPECT_FALSE(set.declare(only(declared("house", "ours")))) << "nothing has changed";
  EXPECT_EQ(set.find("house")->text, "ours");
  EXPECT_EQ(set.all().size(), 1U);
  EXPECT_EQ(set.put("house", "other", {}).error().code(), ErrorCode::kConflict);
  EXPECT_EQ(set.remove("house").error().code(), ErrorCode::kConflict);
  EXPECT_TRUE(set.declare({}));
  EXPECT_EQ(set.find("house")->text, "mine");
}

TEST(ModuleSet, RefusesWhatIsNoModule) {
  ModuleSet set;
  const auto field = [&](const std::string& name, std::string text,
                         const std::vector<std::string>& models) {
    const auto put = set.put(name, std::move(text), models);
    return put ? std::string{"taken"} : put.error().field();
  };
  EXPECT_EQ(field("", "x", {}), "name");
  EXPECT_EQ(field(".x", "x", {}), "name");
  EXPECT_EQ(field("a b", "x", {}), "name");
  EXPECT_EQ(field("a, b", "x", {}), "name");
  EXPECT_EQ(field(std::string(65, 'a'), "x", {}), "name");
  EXPECT_EQ(field(std::string(64, 'a'), "x", {}), "taken");
  EXPECT_EQ(field("a", "", {}), "text");
  EXPECT_EQ(field("a", "\xff", {}), "text");
  EXPECT_EQ(field("a", std::string(kMostModuleText + 1, 'x'), {}), "text");
  EXPECT_EQ(field("a", std::string(kMostModuleText, 'x'), {}), "taken");
  EXPECT_EQ(field("a", "x", {"smol", "../up"}), "models[1]");
  EXPECT_EQ(set.remove("b").error().code(), ErrorCode::kNotFound);
  for (std::size_t i = set.all().size(); i < kMostModules; ++i) {
    ASSERT_TRUE(set.put("m" + std::to_string(i), "x", {}));
  }
  EXPECT_EQ(set.put("more", "x", {}).error().code(), ErrorCode::kInvalid);
  EXPECT_TRUE(set.put("a", "y", {})) << "one that is there can be changed";
}

TEST(ModuleSet, FindsWhatARequestNames) {
  ModuleSet set;
  ASSERT_TRUE(set.put("a", "A", {}));
  ASSERT_TRUE(set.put("b", "B", {}));
  ModuleSet::Declared lost = declared("lost", "");
  lost.broken = "open /x: no such file";
  set.declare(only(std::move(lost)));
  const auto named = [&](std::vector<std::string> names) { return set.named(names); };
  const auto both = named({"b", "a"});
  ASSERT_TRUE(both);
  EXPECT_EQ((*both)[0]->text + (*both)[1]->text, "BA");
  struct Wrong {
    std::vector<std::string> names;
    ErrorCode code;
    const char* field;
  };
  for (const Wrong& wrong : {Wrong{{"a", "c"}, ErrorCode::kNotFound, "hearth.modules[1]"},
                             Wrong{{"a", "a"}, ErrorCode::kInvalid, "hearth.modules[1]"},
                             Wrong{{"lost"}, ErrorCode::kUnavailable, "hearth.modules[0]"}}) {
    const auto refused = named(wrong.names);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), wrong.code);
    EXPECT_EQ(refused.error().field(), wrong.field);
    EXPECT_THAT(refused.error().message(), HasSubstr(wrong.names.back()));
  }
}

TEST(ModuleFiles, AreReadOrTheirModulesBroken) {
  const TempDir directory;
  std::map<std::string, ModuleOptions> options;
  options["good"] = {"good", "", directory.write("good.txt", "rules"), {}};
  options["missing"] = {"missing", "", directory / "missing.txt", {}};
  options["empty"] = {"empty", "", directory.write("empty.txt", ""), {}};
  options["folder"] = {"folder", "", directory.path(), {}};
  ModuleSet set;
  set.declare(ModuleSet::read_declared(Files::real(), options));
  EXPECT_EQ(set.find("good")->text, "rules");
  EXPECT_TRUE(set.find("good")->broken.empty());
  EXPECT_THAT(set.find("missing")->broken, HasSubstr("missing.txt"));
  EXPECT_FALSE(set.find("empty")->broken.empty());
  EXPECT_FALSE(set.find("folder")->broken.empty());
  directory.write("missing.txt", "found again");
  EXPECT_TRUE(set.declare(ModuleSet::read_declared(Files::real(), options)));
  EXPECT_EQ(set.find("missing")->text, "found again");
}

TEST(ModuleStore, KeepsWhatIsNotInTheConfiguration) {
  const TempDir directory;
  const ModuleStore store{Files::real(), directory / "modules.json"};
  EXPECT_TRUE(store.load().entries.empty()) << "there is no file yet";
  ModuleSet set;
  ASSERT_TRUE(set.put("house", "be brief\n\"always\"", {"smol"}));
  ASSERT_TRUE(store.save(set.stored()));
  struct stat info{};
  ASSERT_EQ(::stat((directory / "modules.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  const ModuleSet again{store.load()};
  ASSERT_NE(again.find("house"), nullptr);
  EXPECT_EQ(again.find("house")->text, "be brief\n\"always\"");
  EXPECT_EQ(again.find("house")->version_name(), set.find("house")->version_name());
}

TEST(ModuleStore, PutsAsideWhatItCannotRead) {
  for (const char* content : {"", "{", "[]", R"({"modules":[{"name":"a b"}],"versions":{}})"}) {
    const TempDir directory;
    const std::string path = directory.write("modules.json", content);
    EXPECT_TRUE((ModuleStore{Files::real(), path}.load().entries.empty()));
    EXPECT_FALSE(Files::real().info(path));
    EXPECT_TRUE(Files::real().info(path + ".unreadable"));
  }
}

}  // namespace
}  // namespace hearth::front
