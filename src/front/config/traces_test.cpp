// SPDX-License-Identifier: Apache-2.0
#include "front/config/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "front/config.h"
#include "front/config/describe.h"

namespace hearth::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(TracesEndpoint, IsAPlainAddress) {
  for (const char* right :
       {"", "http://127.0.0.1:4318/v1/traces", "http://box", "http://[::1]:1/"}) {
    EXPECT_TRUE(check_traces_endpoint(right)) << right;
  }
  for (const char* wrong : {"127.0.0.1:4318", "http://", "http://u:p@box/", "http://box/?key=1",
                            "grpc://box", "http://box/a b", "http://box/#a"}) {
    EXPECT_FALSE(check_traces_endpoint(wrong)) << wrong;
  }
  const auto encrypted = check_traces_endpoint("https://api.example/v1/traces");
  ASSERT_FALSE(encrypted);
  EXPECT_THAT(encrypted.error().message(), HasSubstr("a collector on this machine"));
}

TEST(TracesEndpoint, HasThePathOfCollectorsIfNone) {
  EXPECT_EQ(full_traces_endpoint("http://box:4318"), "http://box:4318/v1/traces");
  EXPECT_EQ(full_traces_endpoint("http://box:4318/"), "http://box:4318/");
  EXPECT_EQ(full_traces_endpoint("http://box/otlp/v1/traces"), "http://box/otlp/v1/traces");
  EXPECT_EQ(full_traces_endpoint(""), "");
}

TEST(TracesHeader, IsDecoded) {
  const auto bearer = parse_traces_header(" Authorization = Bearer%20a%3Db==");
  ASSERT_TRUE(bearer) << bearer.error().message();
  EXPECT_EQ(bearer->first, "authorization");
  EXPECT_EQ(bearer->second, "Bearer a=b==");
  EXPECT_EQ(parse_traces_header("x=100%")->second, "100%");
  EXPECT_EQ(parse_traces_header("x=")->second, "");
}

TEST(TracesHeader, IsRefusedWithoutItsValue) {
  for (const char* wrong : {"s3cret", "=s3cret", "a b=s3cret", "x=s3cret%0d%0aEvil:%201",
                            "x=s3cret%00", "Host=s3cret", "content-length=s3cret", "x=s3cret%ff"}) {
    const auto header = check_traces_header(wrong);
    ASSERT_FALSE(header) << wrong;
    EXPECT_THAT(header.error().message(), Not(HasSubstr("s3cret")));
  }
}

class TracesConfig : public ::testing::Test {
 protected:
  Result<Config> load(const std::string& text, Environment environment = {}) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = test->name();
    std::ranges::replace(name, '/', '.');
    path_ = ::testing::TempDir() + "/traces." + name + ".toml";
    std::ofstream{path_, std::ios::binary} << text;
    return load_config({path_, {}, std::move(environment)});
  }
  ~TracesConfig() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  static std::vector<std::string> notices_of(const Config& config) {
    std::vector<std::string> notices;
    for (const Notice& notice : config.notices) {
      const bool used = notice.kind == Notice::Kind::kFromOtel;
      notices.push_back((used ? "used " : "ignored ") + notice.variable + " " + notice.value);
    }
    return notices;
  }

  std::string path_;
};

TEST_F(TracesConfig, HasASectionOfItsOwn) {
  const auto config = load(
      "[traces]\nendpoint = \"http://box:4318\"\nheaders = [\"x-key=a b\"]\n"
      "sample_percent = 5\nservice_name = \"attic\"\n");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->traces_endpoint, "http://box:4318");
  EXPECT_THAT(config->traces_headers, ElementsAre("x-key=a b"));
  EXPECT_EQ(config->traces_sample_percent, 5);
  EXPECT_EQ(config->traces_service_name, "attic");
  EXPECT_EQ(config->set_by.at("traces_sample_percent").place, path_ + ":4:18");
  EXPECT_EQ(load("traces_sample_percent = 6\n")->traces_sample_percent, 6);
}

TEST_F(TracesConfig, SaysWhatIsWrongInIt) {
  const auto config = load(
      "[traces]\nendpont = \"x\"\nendpoint = \"https://x\"\nheaders = [\"s3cret\"]\n"
      "sample_percent = 101\n");
  ASSERT_FALSE(config);
  const std::string& message = config.error().message();
  EXPECT_THAT(message, HasSubstr(path_ + ":2:1: "));
  EXPECT_THAT(message, HasSubstr("did you mean \"traces_endpoint\""));
  EXPECT_THAT(message, HasSubstr(":3:12: traces_endpoint cannot be https://"));
  EXPECT_THAT(message, HasSubstr(":5:18: "));
  EXPECT_THAT(message, Not(HasSubstr("s3cret")));
  EXPECT_THAT(load("traces = 1\n").error().message(), HasSubstr("must be a section"));
}

TEST_F(TracesConfig, ShowsNoSecret) {
  const auto config = load("[traces]\nheaders = [\"x-key=s3cret\", \"y=t0p\"]\n");
  ASSERT_TRUE(config) << config.error().message();
  const std::string shown = config_json(*config);
  EXPECT_THAT(shown, HasSubstr(R"("x-key=***", "y=***")"));
  EXPECT_THAT(shown, Not(HasSubstr("s3cret")));
  EXPECT_THAT(shown, Not(HasSubstr("t0p")));
}

struct OtelCase {
  const char* name;
  Environment environment;
  std::string endpoint;
  std::vector<std::string> notices;
};

class OtelVariables : public TracesConfig, public ::testing::WithParamInterface<OtelCase> {};

TEST_P(OtelVariables, StandInForTheEndpoint) {
  const auto config = load("", GetParam().environment);
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->traces_endpoint, GetParam().endpoint);
  EXPECT_EQ(notices_of(*config), GetParam().notices);
}

constexpr const char* kGeneral = "OTEL_EXPORTER_OTLP_ENDPOINT";
constexpr const char* kOwn = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

INSTANTIATE_TEST_SUITE_P(
    Endpoints, OtelVariables,
    testing::Values(
        OtelCase{"None", {}, "", {}},
        OtelCase{"General",
                 {{kGeneral, "http://c:4318"}},
                 "http://c:4318/v1/traces",
                 {std::string{"used "} + kGeneral + " http://c:4318/v1/traces"}},
        OtelCase{"GeneralWithAPath",
                 {{kGeneral, "http://c/otlp/"}},
                 "http://c/otlp/v1/traces",
                 {std::string{"used "} + kGeneral + " http://c/otlp/v1/traces"}},
        OtelCase{"OwnIsTakenAsItIs",
                 {{kOwn, "http://c:4318"}, {kGeneral, "http://d"}},
                 "http://c:4318/",
                 {std::string{"used "} + kOwn + " http://c:4318/"}},
        OtelCase{"Encrypted",
                 {{kGeneral, "https://c:4318"}},
                 "",
                 {std::string{"ignored "} + kGeneral + " "}},
        OtelCase{"Grpc",
                 {{kGeneral, "http://c:4317"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}},
                 "",
                 {std::string{"ignored "} + kGeneral + " "}},
        OtelCase{"OtherProtocolForTraces",
                 {{kGeneral, "http://c"},
                  {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                  {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"}},
                 "http://c/v1/traces",
                 {std::string{"used "} + kGeneral + " http://c/v1/traces"}},
        OtelCase{"Disabled", {{kGeneral, "http://c"}, {"OTEL_SDK_DISABLED", "TRUE"}}, "", {}},
        OtelCase{"NoTraces", {{kGeneral, "http://c"}, {"OTEL_TRACES_EXPORTER", "none"}}, "", {}},
        OtelCase{"NameAlone", {{"OTEL_SERVICE_NAME", "x"}}, "", {}}),
    [](const auto& test) { return test.param.name; });

TEST_F(TracesConfig, OursGoesBeforeOtels) {
  const Environment environment{{kGeneral, "http://theirs"},
                                {"OTEL_EXPORTER_OTLP_HEADERS", "x-key=s3cret%20key,y=2"},
                                {"OTEL_SERVICE_NAME", "attic"}};
  const auto config = load("[traces]\nendpoint = \"http://ours\"\n", environment);
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->traces_endpoint, "http://ours");
  EXPECT_EQ(config->traces_service_name, "attic");
  EXPECT_THAT(config->traces_headers, ElementsAre("x-key=s3cret%20key", "y=2"));
  EXPECT_THAT(notices_of(*config),
              ElementsAre("used OTEL_EXPORTER_OTLP_HEADERS ", "used OTEL_SERVICE_NAME attic"));
  EXPECT_EQ(config->set_by.at("traces_headers").place, "OTEL_EXPORTER_OTLP_HEADERS");
  const auto off = load("[traces]\nendpoint = \"\"\n", environment);
  EXPECT_THAT(off->traces_endpoint, IsEmpty());
}

}  // namespace
}  // namespace hearth::front
