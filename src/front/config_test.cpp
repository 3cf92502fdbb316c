// SPDX-License-Identifier: Apache-2.0
#include "front/config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Config> load(const std::string& path, Environment environment = {},
                    std::vector<Setting> arguments = {}) {
  return load_config({path, std::move(arguments), std::move(environment)});
}

class ConfigFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string{test->test_suite_name()} + "." + test->name();
    std::ranges::replace(name, '/', '.');
    path_ = ::testing::TempDir() + "/" + name + ".toml";
    std::ofstream{path_, std::ios::binary} << text;
    return path_;
  }
  ~ConfigFile() override {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }

  std::string path_;
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
  EXPECT_EQ(config->set_by.at("parallel").place, path_ + ":2:12");
  EXPECT_FALSE(config->set_by.contains("queue"));
}

TEST_F(ConfigFile, MayBeEmptyOrComeFromWindows) {
  EXPECT_TRUE(load(write("")));
  const auto config = load(write("\xEF\xBB\xBF# ours\r\nparallel = 2\r\n"));
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->parallel, 2);
}

TEST_F(ConfigFile, TakesTheFormsOfHostsAndOrigins) {
  const auto config =
      load(write("hosts = [\"ai.home.example\", \"*.home.example\", \"*\"]\n"
                 "origins = [\"*\", \"null\", \"https://a.example\", \"https://*.a.example/\", "
                 "\"http://box:*\", \"app://*\", \"a.example:8080\", \"http://[::1]:80\"]\n"));
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->access().hosts.size(), 3u);
  EXPECT_EQ(config->access().origins.size(), 8u);
}

TEST_F(ConfigFile, LaterSourcesWin) {
  const std::string path = write("parallel = 2\nqueue = 2\ncontext = 2\n");
  const Environment environment{{"OLLAMA_NUM_PARALLEL", "1"},
                                {"OLLAMA_MAX_QUEUE", "nonsense"},
                                {"HEARTH_QUEUE", "3"},
                                {"HEARTH_CONTEXT", "3"},
                                {"OLLAMA_KEEP_ALIVE", "1h"}};
  const auto config = load(path, environment, {{"context", "4", "--option"}});
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->parallel, 2);
  EXPECT_EQ(config->queue, 3);
  EXPECT_EQ(config->context, 4);
  EXPECT_EQ(config->keep_alive, KeepAlive::after(1h));
  EXPECT_EQ(config->keep_alive_source("any"), "OLLAMA_KEEP_ALIVE");
  EXPECT_EQ(config->set_by.at("context").source, Source::kArgument);
  ASSERT_EQ(config->notices.size(), 1u);
  EXPECT_EQ(config->notices[0].variable, "OLLAMA_KEEP_ALIVE");
}

TEST_F(ConfigFile, HasSectionsForModels) {
  const auto config =
      load(write("keep_alive = \"5m\"\nparallel = 8\n"
                 "[models.\"Qwen:9b\"]\naliases = [\"gpt-4o\", \"work/coder:1\"]\n"
                 "context = 4096\nkeep_alive = 90\n[models.tiny]\n"));
  ASSERT_TRUE(config) << config.error().message();
  const ModelOptions qwen = config->effective("qwen:9b");
  EXPECT_EQ(qwen.name, "Qwen:9b");
  EXPECT_THAT(qwen.aliases, ElementsAre("gpt-4o:latest", "work/coder:1"));
  EXPECT_EQ(qwen.context, 4096);
  EXPECT_EQ(qwen.parallel, 8);
  EXPECT_EQ(qwen.keep_alive, KeepAlive::after(90s));
  EXPECT_EQ(config->effective("tiny:latest").keep_alive, KeepAlive::after(5min));
  EXPECT_EQ(config->effective("unheard-of:latest").context, 0);
  EXPECT_EQ(config->keep_alive_source("qwen:9b"), "configuration");
  EXPECT_EQ(Config{}.keep_alive_source("qwen:9b"), "default");
}

TEST_F(ConfigFile, GroupsKeysForTheirPrompts) {
  const auto config =
      load(write("prefix_groups = [\"family: anna, ben\"]\n"
                 "prefix_normalise = [\"Current date: *\"]\n"));
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_THAT(config->prefix_groups, ElementsAre("family: anna, ben"));
  EXPECT_THAT(config->prefix_normalise, ElementsAre("Current date: *"));
  const auto variables = load(write(""), {{"HEARTH_PREFIX_GROUPS", "family:anna,family:ben"},
                                          {"HEARTH_PREFIX_MEMORY_MIB", "-1"}});
  ASSERT_TRUE(variables) << variables.error().message();
  EXPECT_THAT(variables->prefix_groups, ElementsAre("family:anna", "family:ben"));
  EXPECT_EQ(variables->prefix_memory_mib, -1);
  const auto wrong = load(write("prefix_groups = [\"family\"]\nprefix_memory_mib = -2\n"));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("prefix_groups must be groups of keys"));
  EXPECT_THAT(wrong.error().message(), HasSubstr("prefix_memory_mib must be from -1"));
}

TEST_F(ConfigFile, EverythingWrongIsSaidAtOnce) {
  const auto config = load(write("paralel = 2\nqueue = -1\n"), {{"HEARTH_THREADS", "x"}},
                           {{"contxt", "1", "--option"}});
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code(), ErrorCode::kInvalid);
  const std::string& said = config.error().message();
  EXPECT_EQ(std::ranges::count(said, '\n'), 3) << said;
  EXPECT_THAT(said, HasSubstr(path_ + ":1:1: there is no option \"paralel\""));
  EXPECT_THAT(said, HasSubstr(path_ + ":2:9: queue must be"));
  EXPECT_THAT(said, HasSubstr("HEARTH_THREADS: threads must be a whole number, not \"x\""));
  EXPECT_THAT(said, HasSubstr("--option: there is no option \"contxt\"; did you mean \"context\""));
}

TEST(Config, RefusesWhatIsNoFile) {
  for (const char* path : {"/nowhere/hearth.toml", "/", "/dev/zero"}) {
    const auto config = load(path);
    ASSERT_FALSE(config) << path;
    EXPECT_EQ(config.error().code(), ErrorCode::kInvalid);
    EXPECT_THAT(config.error().message(), ::testing::StartsWith(std::string{path} + ": "));
  }
}

struct BadCase {
  const char* name;
  std::string text;
  const char* says;
};
void PrintTo(const BadCase& bad, std::ostream* out) { *out << bad.name; }
class BadConfig : public ConfigFile, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadConfig, IsRefusedWithItsPlace) {
  const auto config = load(write(GetParam().text));
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(config.error().message(), HasSubstr(".toml:"));
  EXPECT_THAT(config.error().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadConfig,
    ::testing::Values(
        BadCase{"UnknownKey", "parallel = 2\nlisten_on = \"x\"\n",
                ".toml:2:1: there is no option \"listen_on\"; did you mean \"listen\"?"},
        BadCase{"Dashes", "keep-alive = \"5m\"\n", "did you mean \"keep_alive\"?"},
        BadCase{"WrongType", "parallel = \"two\"\n",
                ".toml:1:12: parallel must be a whole number, not a string"},
        BadCase{"Fraction", "parallel = 1.5\n", "a whole number, not a number with a fraction"},
        BadCase{"Boolean", "parallel = true\n", ":1:12: parallel must be a whole number, not true"},
        BadCase{"Date", "data = 2026-01-01\n", "data must be a string, not a date"},
        BadCase{"Section", "[listen]\n", "listen must be a string, not a section"},
        BadCase{"OutOfBounds", "queue = -1\n",
                ".toml:1:9: queue must be from 0 to 1000000, not -1"},
        BadCase{"Huge", "queue = 99999999999999999999\n", ".toml:1:"},
        BadCase{"Syntax", "parallel = \n", ".toml:1:"},
        BadCase{"Twice", "queue = 1\nqueue = 2\n", ".toml:2:"},
        BadCase{"NotUtf8", "data = \"\xff\"\n", ".toml:1:"},
        BadCase{"Nul", "data = \"a\\u0000b\"\n", ":1:8: data has a NUL in it"},
        BadCase{"NoSuchLayer", "layers_off = [\"pages\", \"prefx\"]\n",
                ":1:24: layers_off must be artifact, pages, weights, compiled or prefix, not "
                "\"prefx\"; did you mean \"prefix\"?"},
        BadCase{"NotAList", "layers_off = \"prefix\"\n", "layers_off must be a list of strings"},
        BadCase{"NumberInList", "hosts = [\"a\", 1]\n",
                ":1:15: hosts must be a list of strings, not a whole number"},
        BadCase{"BadPort", "listen = \"127.0.0.1:99999\"\n", ":1:10: listen cannot be used: the"},
        BadCase{"Url", "listen = \"http://0.0.0.0:80\"\n", ":1:10: listen must be ADDRESS:PORT"},
        BadCase{"BadLevel", "log_level = \"loud\"\n",
                ":1:13: log_level must be debug, info, warn or error, not \"loud\"; did you mean"},
        BadCase{"BadDuration", "keep_alive = \"5 minutes\"\n", ":1:14: keep_alive is wrong"},
        BadCase{"KeepAliveForEver", "keep_alive = 1e30\n", ":1:14: keep_alive is longer than"},
        BadCase{"HostWithPort", "hosts = [\"box:80\"]\n", ":1:10: hosts must be names such as"},
        BadCase{"HostPattern", "hosts = [\"box.*\"]\n", ":1:10: hosts must be names such as"},
        BadCase{"OriginPattern", "origins = [\"http://10.0.*\"]\n", ":1:12: origins must be"},
        BadCase{"OriginPort", "origins = [\"http://box:http\"]\n", ":1:12: origins must be"},
        BadCase{"OriginWithPath", "origins = [\"https://box/x\"]\n", "without a path"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Sections, BadConfig,
    ::testing::Values(
        BadCase{"SectionName", "[model.a]\n",
                ":1:2: there is no section or option \"model\"; did you mean \"models\"?"},
        BadCase{"NotSections", "models = 1\n", ":1:10: models must be sections such as"},
        BadCase{"NotASection", "[models]\na = 1\n", ":2:1: models.\"a\" must be a section, not a"},
        BadCase{"ModelName", "[models.\"../x\"]\n", ":1:9: model name:"},
        BadCase{"UnknownKey", "[models.a]\ncontxt = 1\n",
                ":2:1: there is no option \"contxt\" of a model; did you mean \"context\"?"},
        BadCase{"GeneralKey", "[models.a]\nlisten = \"x\"\n",
                ":2:1: listen is no option of a single model"},
        BadCase{"Unquoted", "[models.qwen2.5]\ncontext = 1\n", "wants quotes"},
        BadCase{"Bounds", "[models.a]\nparallel = 65\n", ":2:12: parallel must be from 1 to 64"},
        BadCase{"SameModel", "[models.A]\n[models.\"a:latest\"]\n", "is already the name of a"},
        BadCase{"AliasTwice",
                "[models.a]\naliases = [\"x\"]\n[models.b]\naliases = [\"X:latest\"]\n",
                ":4:12: \"X:latest\" is already the name of an alias at"},
        BadCase{"AliasIsSection", "[models.a]\naliases = [\"b\"]\n[models.b]\n",
                ":2:12: \"b:latest\" is already the name of a section at"},
        BadCase{"AliasIsNoName", "[models.a]\naliases = [\"..\"]\n",
                ":2:12: aliases must be model names"}),
    [](const auto& test) { return test.param.name; });

struct OllamaCase {
  const char* name;
  const char* variable;
  const char* value;
  std::string (*got)(const Config&);
  const char* expected;
};
class Ollama : public ::testing::TestWithParam<OllamaCase> {};

TEST_P(Ollama, StandsIn) {
  const auto config = load("/dev/null", {{GetParam().variable, GetParam().value}});
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(GetParam().got(*config), GetParam().expected);
}

std::string listen_of(const Config& c) { return c.listen; }
std::string keep_of(const Config& c) { return c.keep_alive.text(); }
std::string parallel_of(const Config& c) { return std::to_string(c.parallel); }
std::string queue_of(const Config& c) { return std::to_string(c.queue); }
std::string context_of(const Config& c) { return std::to_string(c.context); }
std::string level_of(const Config& c) { return c.log_level; }
std::string hang_of(const Config& c) { return std::to_string(c.hang_seconds); }
std::string origins_of(const Config& c) { return c.origins.at(0) + "|" + c.origins.back(); }

INSTANTIATE_TEST_SUITE_P(
    Variables, Ollama,
    ::testing::Values(
        OllamaCase{"Host", "OLLAMA_HOST", "0.0.0.0", listen_of, "0.0.0.0:11434"},
        OllamaCase{"HostAndPort", "OLLAMA_HOST", "\"10.0.0.1:80\"", listen_of, "10.0.0.1:80"},
        OllamaCase{"PortOnly", "OLLAMA_HOST", ":8080", listen_of, ":8080"},
        OllamaCase{"Url", "OLLAMA_HOST", "http://box:1234/", listen_of, "box:1234"},
        OllamaCase{"UrlWithoutPort", "OLLAMA_HOST", "http://box", listen_of, "box:80"},
        OllamaCase{"V6", "OLLAMA_HOST", "::1", listen_of, "[::1]:11434"},
        OllamaCase{"V6InBrackets", "OLLAMA_HOST", "[::]", listen_of, "[::]:11434"},
        OllamaCase{"Empty", "OLLAMA_HOST", " ", listen_of, "127.0.0.1:11435"},
        OllamaCase{"KeepAlive", "OLLAMA_KEEP_ALIVE", "10m", keep_of, "10m0s"},
        OllamaCase{"KeepAliveForEver", "OLLAMA_KEEP_ALIVE", "-1", keep_of, "-1"},
        OllamaCase{"KeepAliveSeconds", "OLLAMA_KEEP_ALIVE", "0", keep_of, "0s"},
        OllamaCase{"Parallel", "OLLAMA_NUM_PARALLEL", "2", parallel_of, "2"},
        OllamaCase{"ParallelUnset", "OLLAMA_NUM_PARALLEL", "0", parallel_of, "4"},
        OllamaCase{"Queue", "OLLAMA_MAX_QUEUE", "7", queue_of, "7"},
        OllamaCase{"Context", "OLLAMA_CONTEXT_LENGTH", "8192", context_of, "8192"},
        OllamaCase{"Debug", "OLLAMA_DEBUG", "1", level_of, "debug"},
        OllamaCase{"Trace", "OLLAMA_DEBUG", "2", level_of, "debug"},
        OllamaCase{"NoDebug", "OLLAMA_DEBUG", "false", level_of, "info"},
        OllamaCase{"Load", "OLLAMA_LOAD_TIMEOUT", "1m30s", hang_of, "90"},
        OllamaCase{"LoadUpwards", "OLLAMA_LOAD_TIMEOUT", "1500ms", hang_of, "2"},
        OllamaCase{"LoadTooLong", "OLLAMA_LOAD_TIMEOUT", "72h", hang_of, "86400"},
        OllamaCase{"NoLimit", "OLLAMA_LOAD_TIMEOUT", "0", hang_of, "0"},
        OllamaCase{"NegativeLimit", "OLLAMA_LOAD_TIMEOUT", "-5m", hang_of, "0"},
        OllamaCase{"Origins", "OLLAMA_ORIGINS", "http://a.example,chrome-extension://*", origins_of,
                   "http://a.example|chrome-extension://*"}),
    [](const auto& test) { return test.param.name; });

struct BadVariable {
  const char* name;
  const char* variable;
  const char* value;
};
class BadEnvironment : public ::testing::TestWithParam<BadVariable> {};

TEST_P(BadEnvironment, IsRefusedByName) {
  const auto config = load("/dev/null", {{GetParam().variable, GetParam().value}});
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message(),
              ::testing::StartsWith(std::string{GetParam().variable} + ": "));
}

INSTANTIATE_TEST_SUITE_P(
    Variables, BadEnvironment,
    ::testing::Values(BadVariable{"KeepAlive", "OLLAMA_KEEP_ALIVE", "forever"},
                      BadVariable{"Parallel", "OLLAMA_NUM_PARALLEL", "many"},
                      BadVariable{"ParallelBounds", "OLLAMA_NUM_PARALLEL", "1000"},
                      BadVariable{"Https", "OLLAMA_HOST", "https://box"},
                      BadVariable{"Port", "OLLAMA_HOST", "box:99999"},
                      BadVariable{"Debug", "OLLAMA_DEBUG", "maybe"},
                      BadVariable{"Load", "OLLAMA_LOAD_TIMEOUT", "soon"},
                      BadVariable{"Origin", "HEARTH_ORIGINS", "http://a/b"},
                      BadVariable{"LoadBounds", "HEARTH_HANG_SECONDS", "86401"},
                      BadVariable{"Number", "HEARTH_QUEUE", "12x"},
                      BadVariable{"Huge", "HEARTH_QUEUE", "99999999999999999999"},
                      BadVariable{"EmptyNumber", "HEARTH_QUEUE", ""},
                      BadVariable{"NotUtf8", "HEARTH_DATA", "\xff"},
                      BadVariable{"Word", "HEARTH_LOG_LEVEL", "INFO "}),
    [](const auto& test) { return test.param.name; });

TEST(Environment, UnknownVariablesAreNoted) {
  const auto config = load("/dev/null", {{"HEARTH_LISTN", "x"},
                                         {"HEARTH_API_KEY", "x"},
                                         {"OLLAMA_FLASH_ATTENTION", "1"},
                                         {"PATH", "/bin"}});
  ASSERT_TRUE(config);
  ASSERT_EQ(config->notices.size(), 2u);
  EXPECT_EQ(config->notices[0].variable, "HEARTH_LISTN");
  EXPECT_EQ(config->notices[0].option, "HEARTH_LISTEN");
  EXPECT_EQ(config->notices[1].kind, Notice::Kind::kOllamaIgnored);
}

std::string notices_of(const Config& config) {
  std::string all;
  for (const Notice& notice : config.notices) {
    const bool in_part = notice.kind == Notice::Kind::kOllamaInPart;
    all += fmt::format("{}{}: {};", in_part ? "part of " : "", notice.variable, notice.reason);
  }
  return all;
}

TEST(Environment, WhatOllamaTakesAndHearthDoesNotIsToldAndLeftOut) {
  const auto some = load("/dev/null", {{"OLLAMA_ORIGINS", "http://192.168.1.*,http://a.example"}});
  ASSERT_TRUE(some) << some.error().message();
  EXPECT_THAT(some->origins, ::testing::ElementsAre("http://a.example"));
  EXPECT_THAT(notices_of(*some),
              ::testing::MatchesRegex("part of OLLAMA_ORIGINS: origins must be .*192.168.1.*;"
                                      "OLLAMA_ORIGINS: ;"));
  const auto none = load("/dev/null", {{"OLLAMA_ORIGINS", "http://a/b"}});
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_TRUE(none->origins.empty());
  EXPECT_FALSE(none->set_by.contains("origins"));
  EXPECT_EQ(none->notices.size(), 1u);
  const auto longest = load("/dev/null", {{"OLLAMA_LOAD_TIMEOUT", "72h"}});
  ASSERT_TRUE(longest) << longest.error().message();
  EXPECT_EQ(notices_of(*longest),
            "part of OLLAMA_LOAD_TIMEOUT: hang_seconds must be from 0 to 86400, not 259200;"
            "OLLAMA_LOAD_TIMEOUT: ;");
}

TEST_F(ConfigFile, IsFoundWhereItBelongs) {
  const std::string path = write("");
  EXPECT_EQ(config_file({path, {}, {{"HEARTH_CONFIG", "/other"}}}), path);
  EXPECT_EQ(config_file({"", {}, {{"HEARTH_CONFIG", "/other"}}}), "/other");
  const std::string home = ::testing::TempDir() + "/config_test_home";
  std::filesystem::create_directories(home + "/.config/hearth");
  std::ofstream{home + "/.config/hearth/hearth.toml"} << "queue = 9\n";
  EXPECT_EQ(config_file({"", {}, {{"HOME", home}}}), home + "/.config/hearth/hearth.toml");
  EXPECT_EQ(load("", {{"XDG_CONFIG_HOME", home + "/.config"}})->queue, 9);
  std::filesystem::remove_all(home);
}

struct ListenCase {
  const char* name;
  const char* text;
  const char* host;
  int port;
  bool loopback;
};
class Listen : public ::testing::TestWithParam<ListenCase> {};
TEST_P(Listen, Parses) {
  const auto address = parse_listen(GetParam().text);
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, GetParam().host);
  EXPECT_EQ(address->port, GetParam().port);
  EXPECT_EQ(address->is_loopback(), GetParam().loopback);
}
INSTANTIATE_TEST_SUITE_P(
    Addresses, Listen,
    ::testing::Values(ListenCase{"HostAndPort", "10.0.0.1:80", "10.0.0.1", 80, false},
                      ListenCase{"HostOnly", "localhost", "localhost", 11435, true},
                      ListenCase{"PortOnly", ":0", "127.0.0.1", 0, true},
                      ListenCase{"All", "0.0.0.0", "0.0.0.0", 11435, false},
                      ListenCase{"V6", "[::1]:8080", "::1", 8080, true},
                      ListenCase{"AllV6", "[::]:1", "::", 1, false},
                      ListenCase{"BareV6", "::1", "::1", 11435, true}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::front
