// SPDX-License-Identifier: Apache-2.0
#include "api/errors.h"

#include <gtest/gtest.h>

namespace hearth::api {
namespace {

struct CodeCase {
  ErrorCode code;
  int status;
  const char* type;
};

class Mapping : public testing::TestWithParam<CodeCase> {};

TEST_P(Mapping, GivesStatusAndType) {
  EXPECT_EQ(status_of(GetParam().code), GetParam().status);
  EXPECT_EQ(type_of(GetParam().code), GetParam().type);
}

INSTANTIATE_TEST_SUITE_P(
    Codes, Mapping,
    testing::Values(CodeCase{ErrorCode::kNotFound, 404, "not_found_error"},
                    CodeCase{ErrorCode::kNoSpace, 503, "unavailable_error"},
                    CodeCase{ErrorCode::kCorrupt, 422, "invalid_model_error"},
                    CodeCase{ErrorCode::kInvalid, 400, "invalid_request_error"},
                    CodeCase{ErrorCode::kTooLong, 400, "exceed_context_size_error"},
                    CodeCase{ErrorCode::kUnsupported, 501, "not_supported_error"},
                    CodeCase{ErrorCode::kBusy, 503, "unavailable_error"},
                    CodeCase{ErrorCode::kConflict, 409, "conflict_error"},
                    CodeCase{ErrorCode::kInternal, 500, "server_error"}));

front::Refused refused(Error error) { return front::Refused{std::move(error), {}, {}, {}}; }

std::string body(Dialect dialect, Error error) {
  return error_body(dialect, Audience::kClients, refused(std::move(error)));
}

TEST(ErrorJson, OpenAiShape) {
  EXPECT_EQ(
      body(Dialect::kOpenAi, Error{ErrorCode::kInvalid, "n: no"}.at("n")),
      R"({"error":{"message":"n: no","type":"invalid_request_error","param":"n","code":400}})");
}

TEST(ErrorJson, HearthShape) {
  EXPECT_EQ(body(Dialect::kHearth, Error{ErrorCode::kNotFound, "no"}),
            R"({"error":{"message":"no","type":"not_found_error","field":null}})");
}

TEST(ErrorJson, OllamaShape) {
  EXPECT_EQ(body(Dialect::kOllama, Error{ErrorCode::kInvalid, "n: no"}.at("n")),
            R"({"error":"n: no","field":"n"})");
}

TEST(ErrorJson, AnthropicShape) {
  front::Refused busy = refused(Error{ErrorCode::kBusy, "full"});
  busy.report.request_id = "r9";
  EXPECT_EQ(
      error_body(Dialect::kAnthropic, Audience::kClients, busy),
      R"({"type":"error","error":{"type":"overloaded_error","message":"full"},"request_id":"r9"})");
}

TEST(ErrorJson, AnthropicClientsReadTheirOwnNameOfTheField) {
  EXPECT_EQ(body(Dialect::kAnthropic, Error{ErrorCode::kInvalid, "no"}.at("think")),
            R"({"type":"error","error":{"type":"invalid_request_error","message":"no",)"
            R"("field":"thinking"},"request_id":null})");
}

TEST(ErrorJson, OnlyTheAdminReadsPaths) {
  const front::Refused gone = refused(Error{ErrorCode::kNotFound, "open /m/a.gguf: not there"});
  EXPECT_NE(error_body(Dialect::kHearth, Audience::kAdmin, gone).find("/m/a"), std::string::npos);
  for (const Dialect dialect :
       {Dialect::kOpenAi, Dialect::kAnthropic, Dialect::kOllama, Dialect::kHearth}) {
    EXPECT_EQ(error_body(dialect, Audience::kClients, gone).find("/m/"), std::string::npos);
  }
}

TEST(ErrorJson, TooLongHasBothCounts) {
  const auto text =
      body(Dialect::kOpenAi, Error{ErrorCode::kTooLong, "too long"}.with_counts({90, 40}));
  EXPECT_NE(text.find(R"("n_prompt_tokens":90,"n_ctx":40)"), std::string::npos);
}

TEST(ErrorResponse, BusySaysWhenToComeBack) {
  front::Refused busy = refused(Error{ErrorCode::kBusy, "full"});
  EXPECT_EQ(http::header_of(error_response(Dialect::kOpenAi, Audience::kClients, busy).headers,
                            "Retry-After"),
            "1");
  busy.retry_after_s = 7;
  busy.eta_ms = 6500;
  const auto response = error_response(Dialect::kOpenAi, Audience::kClients, busy);
  EXPECT_EQ(http::header_of(response.headers, "retry-after"), "7");
  EXPECT_NE(response.body.find(R"("eta_ms":6500)"), std::string::npos);
}

TEST(WithoutDirectories, LeavesOtherSlashesAlone) {
  EXPECT_EQ(without_directories("model a/b:c at 3 tokens/s"), "model a/b:c at 3 tokens/s");
  EXPECT_EQ(without_directories("in '/a/b c' and (/x/y/)"), "in 'b c' and (y)");
  EXPECT_EQ(without_directories("/"), "/");
}

}  // namespace
}  // namespace hearth::api
