// SPDX-License-Identifier: Apache-2.0
#include "cli/api_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "cli/session.h"

namespace hearth::cli {
namespace {

// A port that is taken, so that nobody else gets it, but that nobody listens on.
class DeafPort {
 public:
  DeafPort() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    void* any = &address;
    ::bind(socket_.get(), static_cast<sockaddr*>(any), size);
    ::getsockname(socket_.get(), static_cast<sockaddr*>(any), &size);
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }

 private:
  Fd socket_;
  int port_ = 0;
};

TEST(ApiClient, SaysHowToStartAServerWhereNoneAnswers) {
  const DeafPort deaf;
  const std::string host = fmt::format("127.0.0.1:{}", deaf.port());
  const auto api = ApiClient::to(
      {"127.0.0.1", static_cast<std::uint16_t>(deaf.port()), "", "OLLAMA_HOST=" + host});
  ASSERT_TRUE(api);
  const auto answer = api->get("/health");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().message(),
            fmt::format("no Hearth server answers at {0} (OLLAMA_HOST={0}); start one with "
                        "`hearth serve --listen {0}`",
                        host));
  EXPECT_EQ(report(answer.error(), {}), kExitNoServer);
}

TEST(ApiClient, IsAtItsAddress) {
  EXPECT_EQ(ApiClient::to({})->address(), "127.0.0.1:11435");
  EXPECT_EQ(ApiClient::to({"::1", 9, "", ""})->address(), "[::1]:9");
}

struct KeyCase {
  const char* label;
  const char* flag;
  const char* hearth;
  const char* ollama;
  const char* origin;  // of the address
  const char* key;
};
class ApiKey : public testing::TestWithParam<KeyCase> {};
TEST_P(ApiKey, IsTheFirstThatSaysSomething) {
  const KeyCase& given = GetParam();
  const auto environment = [&given](const char* name) -> std::string {
    return std::string{name} == "HEARTH_API_KEY"   ? given.hearth
           : std::string{name} == "OLLAMA_API_KEY" ? given.ollama
                                                   : "";
  };
  ServerAddress server;
  server.origin = given.origin;
  EXPECT_EQ(api_key(given.flag, server, environment), given.key);
}
INSTANTIATE_TEST_SUITE_P(Sources, ApiKey,
                         testing::Values(KeyCase{"Nobody", "", "", "", "OLLAMA_HOST=x", ""},
                                         KeyCase{"Flag", "a", "b", "c", "OLLAMA_HOST=x", "a"},
                                         KeyCase{"Hearth", "", "b", "c", "OLLAMA_HOST=x", "b"},
                                         KeyCase{"HearthAnywhere", "", "b", "c", "--host=x", "b"},
                                         KeyCase{"Ollama", "", "", "c", "OLLAMA_HOST=x", "c"},
                                         KeyCase{"NotForAHost", "", "", "c", "--host=x", ""},
                                         KeyCase{"NotForOurs", "", "", "c", "HEARTH_HOST=x", ""},
                                         KeyCase{"NotForTheDefault", "", "", "c", "", ""}),
                         [](const auto& test) { return test.param.label; });

TEST(ApiClient, RefusesAKeyThatWouldBreakAHeader) {
  auto api = ApiClient::to(ServerAddress{});
  ASSERT_TRUE(api);
  for (const char* key : {"a b", "a\r\nX: y", "\xC3\xA9", "a\x7f"}) {
    EXPECT_FALSE(api->use_key(key)) << key;
  }
  EXPECT_TRUE(api->use_key("hearth-A_z-9"));
  EXPECT_TRUE(api->use_key(""));
}

struct ErrorCase {
  const char* label;
  int status;
  const char* body;
  ErrorCode code;
  const char* message;
};
class ApiError : public testing::TestWithParam<ErrorCase> {};
TEST_P(ApiError, BecomesAnError) {
  const Error error = error_of(GetParam().status, GetParam().body);
  EXPECT_EQ(error.code(), GetParam().code);
  EXPECT_EQ(error.message(), GetParam().message);
  EXPECT_EQ(report(error, {}), kExitFailed);
}
INSTANTIATE_TEST_SUITE_P(
    Answers, ApiError,
    testing::Values(
        ErrorCase{"Hearth", 404, R"({"error":{"message":"no model x","type":"not_found_error"}})",
                  ErrorCode::kNotFound, "no model x"},
        ErrorCase{"PlainText", 409, R"({"error":"in use"})", ErrorCode::kConflict, "in use"},
        ErrorCase{"Busy", 503, R"({"error":{"message":"later"}})", ErrorCode::kBusy, "later"},
        ErrorCase{"NoJson", 502, "<html>", ErrorCode::kInternal,
                  "the server answered with status 502"},
        ErrorCase{"Empty", 500, "", ErrorCode::kInternal, "the server answered with status 500"}),
    [](const auto& test) { return test.param.label; });

TEST(PercentEncode, LeavesModelNamesReadable) {
  EXPECT_EQ(percent_encode("smollm2:latest"), "smollm2:latest");
  EXPECT_EQ(percent_encode("hf.co/a b?"), "hf.co%2Fa%20b%3F");
  EXPECT_EQ(percent_encode("\xC3\xA9"), "%C3%A9");
}

}  // namespace
}  // namespace hearth::cli
