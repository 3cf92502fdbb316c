// SPDX-License-Identifier: Apache-2.0
#include "lab/target/dialect.h"

#include <gtest/gtest.h>

#include "lab/target/fake_server.h"

namespace hearth::lab {
namespace {

using std::chrono::milliseconds;
using Ending = Answer::Ending;

Question question(milliseconds patience = milliseconds{10'000}) {
  Question question;
  question.prompt = "Hello";
  question.new_tokens = 2;
  question.patience = patience;
  return question;
}

Answer ask(Dialect dialect, const std::string& bytes) {
  const FakeServer server{[&](const std::string&, const FakeServer::Connection& connection) {
    connection.send(bytes);
  }};
  return ask_server(server.client(), {dialect, "lab", {}, nullptr}, question());
}

std::string stream(const std::string& body) { return FakeServer::kStream + body; }

TEST(AskServer, SendsAFixedGreedyRequest) {
  std::string seen;
  const FakeServer server{
      [&](const std::string& request, const FakeServer::Connection& connection) {
        seen = request;
        connection.send(stream("data: [DONE]\n\n"));
      }};
  const Answer answer =
      ask_server(server.client(), {Dialect::kCompletion, "lab", {}, nullptr}, question());
  EXPECT_EQ(answer.ending, Ending::kDone) << answer.problem;
  EXPECT_TRUE(seen.starts_with("POST /v1/completions HTTP/1.1\r\n"));
  for (const char* member : {R"("temperature":0)", R"("ignore_eos":true)", R"("max_tokens":2)",
                             R"("model":"lab")", R"("prompt":"Hello")", R"("stream":true)"}) {
    EXPECT_NE(seen.find(member), std::string::npos) << member;
  }
}

TEST(AskServer, ReadsHearthsReport) {
  const Answer answer =
      ask(Dialect::kCompletion,
          stream("data: {\"model\":\"lab:latest\",\"choices\":[{\"text\":\" fox\"}]}\n\n"
                 ": a comment\n\n"
                 "data: {\"choices\":[{\"text\":\" runs\"}]}\n\n"
                 "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}],"
                 "\"timings\":{\"cache_n\":64,\"prompt_n\":3,\"prompt_ms\":5,\"predicted_n\":2},"
                 "\"hearth\":{\"class\":\"load-cold\",\"overlap_ms\":1.5,\"other_ms\":0.25,"
                 "\"stages\":[{\"name\":\"read\",\"start_ms\":0,\"ms\":10},"
                 "{\"name\":\"read\",\"start_ms\":5,\"ms\":10},{\"name\":\"prefill\",\"start_ms\":"
                 "20,\"ms\":7}],"
                 "\"verdict\":{\"code\":\"weights.idle\",\"text\":\"It slept.\"}}}\n\n"
                 "data: [DONE]\n\n"));
  EXPECT_EQ(answer.ending, Ending::kDone) << answer.problem;
  EXPECT_EQ(answer.text, " fox runs");
  EXPECT_EQ(answer.model, "lab:latest");
  EXPECT_EQ(answer.response_class, "load-cold");
  EXPECT_EQ(answer.verdict_code, "weights.idle");
  EXPECT_EQ(answer.verdict_text, "It slept.");
  EXPECT_EQ(answer.timing.stages_ms.at("read"), 15);  // what they cover, not their sum
  EXPECT_EQ(answer.timing.stages_ms.at("prefill"), 7);
  EXPECT_EQ(answer.timing.overlap_ms, 1.5);
  EXPECT_EQ(answer.timing.other_ms, 0.25);
  EXPECT_EQ(answer.timing.prompt_tokens, 67);
  EXPECT_EQ(answer.timing.cached_tokens, 64);
  EXPECT_EQ(answer.timing.generated_tokens, 2);
  ASSERT_TRUE(answer.timing.first_token_ms.has_value());
  EXPECT_LE(*answer.timing.first_token_ms, answer.timing.total_ms);
  EXPECT_NE(answer.report.find("weights.idle"), std::string::npos);
}

TEST(AskServer, ReadsLlamaServersTimings) {
  const Answer answer = ask(
      Dialect::kCompletion,
      stream(
          "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"
          "data: "
          "{\"choices\":[{\"text\":\"\"}],\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":9,"
          "\"prompt_tokens_details\":{\"cached_tokens\":4}},"
          "\"timings\":{\"cache_n\":4,\"prompt_n\":5,\"prompt_ms\":45.8,\"predicted_n\":2,"
          "\"predicted_ms\":31.2}}\n\ndata: [DONE]\n\n"));
  EXPECT_EQ(answer.timing.prompt_tokens, 9);
  EXPECT_EQ(answer.timing.cached_tokens, 4);
  EXPECT_EQ(answer.timing.stages_ms.at("prefill"), 45.8);
  EXPECT_EQ(answer.timing.stages_ms.at("decode"), 31.2);
  EXPECT_FALSE(answer.timing.overlap_ms.has_value());
}

TEST(AskServer, ReadsOllamasDurations) {
  const Answer answer =
      ask(Dialect::kOllama,
          stream("{\"model\":\"lab\",\"response\":\" x\",\"done\":false}\n"
                 "{\"model\":\"lab\",\"response\":\"\",\"done\":true,\"load_duration\":2000000,"
                 "\"prompt_eval_count\":7,\"prompt_eval_duration\":3000000,\"eval_count\":2,"
                 "\"eval_duration\":4000000,\"context\":[1,2,3]}\n"));
  EXPECT_EQ(answer.ending, Ending::kDone) << answer.problem;
  EXPECT_EQ(answer.text, " x");
  EXPECT_EQ(answer.timing.stages_ms.at("load"), 2);
  EXPECT_EQ(answer.timing.stages_ms.at("prefill"), 3);
  EXPECT_EQ(answer.timing.stages_ms.at("decode"), 4);
  EXPECT_EQ(answer.timing.prompt_tokens, 7);
  EXPECT_EQ(answer.timing.generated_tokens, 2);
  EXPECT_EQ(answer.report.find("context"), std::string::npos);
}

TEST(AskServer, ChatCountsReasoningAsText) {
  const Answer answer =
      ask(Dialect::kChat,
          stream("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n"
                 "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n"
                 "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n"));
  EXPECT_EQ(answer.text, "hmHi");
  EXPECT_TRUE(answer.timing.first_token_ms.has_value());
}

struct BadCase {
  const char* name;
  std::string bytes;
  Ending ending;
  const char* problem;
};
void PrintTo(const BadCase& bad, std::ostream* out) { *out << bad.name; }

class BadServer : public testing::TestWithParam<BadCase> {};

TEST_P(BadServer, IsAFinding) {
  const Answer answer = ask(Dialect::kCompletion, GetParam().bytes);
  EXPECT_EQ(answer.ending, GetParam().ending) << answer.problem;
  EXPECT_NE(answer.problem.find(GetParam().problem), std::string::npos) << answer.problem;
}

INSTANTIATE_TEST_SUITE_P(
    AskServer, BadServer,
    testing::Values(
        BadCase{"NothingAtAll", "", Ending::kBroken, "without an answer"},
        BadCase{"NotHttp", "\x01\x02\x03 what is this\r\n\r\n", Ending::kGarbage, "bad HTTP"},
        BadCase{"NoEvents", stream("<html>hello</html>\n"), Ending::kGarbage, "<html>"},
        BadCase{"NoJson", stream("data: {\"choices\":[{\n\n"), Ending::kGarbage,
                "not the protocol"},
        BadCase{"NotUtf8", stream("data: {\"a\":\"\xff\xfe\"}\n\n"), Ending::kGarbage, "data:"},
        BadCase{"NoEnd", stream("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"), Ending::kBroken,
                "last words"},
        BadCase{"CutOff", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndata: {}\n\n",
                Ending::kBroken, "cut off"},
        BadCase{"Refused", FakeServer::answer("503 Busy", R"({"error":{"message":"too many"}})"),
                Ending::kRefused, "status 503: too many"},
        BadCase{"RefusedAsOllama", FakeServer::answer("404 No", R"({"error":"no such model"})"),
                Ending::kRefused, "status 404: no such model"},
        BadCase{"RefusedWithoutWords", FakeServer::answer("500 Oh", "<html>"), Ending::kRefused,
                "status 500: <html>"},
        BadCase{"ErrorInTheMiddle",
                stream("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"
                       "data: {\"error\":{\"message\":\"the worker died\"}}\n\n"),
                Ending::kBroken, "the worker died"},
        BadCase{"OddTypes",
                stream("data: {\"choices\":7,\"usage\":[],\"model\":{},"
                       "\"timings\":\"x\",\"hearth\":3}\n\ndata: [DONE]\n\n"),
                Ending::kDone, ""}),
    [](const auto& test) { return test.param.name; });

TEST(AskServer, HangsUpOnOneThatHangs) {
  const FakeServer server{[](const std::string&, const FakeServer::Connection& connection) {
    connection.send(stream("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"));
    connection.wait_for_end();
  }};
  const Answer answer = ask_server(server.client(), {Dialect::kCompletion, "lab", {}, nullptr},
                                   question(milliseconds{150}));
  EXPECT_EQ(answer.ending, Ending::kHung);
  EXPECT_EQ(answer.text, "a");
}

TEST(AskServer, LeavesAtInterrupt) {
  const FakeServer server{[](const std::string&, const FakeServer::Connection& connection) {
    connection.wait_for_end();
  }};
  const Asking asking{Dialect::kCompletion, "lab", {}, [] { return true; }};
  const Answer answer = ask_server(server.client(), asking, question());
  EXPECT_EQ(answer.ending, Ending::kBroken);
  EXPECT_EQ(answer.problem, "interrupted");
}

TEST(AskServer, NobodyListens) {
  http::Client nobody = *http::Client::to("127.0.0.1:1", 80);
  const Answer answer = ask_server(nobody, {Dialect::kCompletion, "lab", {}, nullptr}, question());
  EXPECT_EQ(answer.ending, Ending::kBroken);
  EXPECT_NE(answer.problem.find("connect to 127.0.0.1:1"), std::string::npos);
}

}  // namespace
}  // namespace hearth::lab
