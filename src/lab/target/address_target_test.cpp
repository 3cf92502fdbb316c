// SPDX-License-Identifier: Apache-2.0
#include "lab/target/address_target.h"

#include <gtest/gtest.h>

#include <map>

#include "lab/target/fake_server.h"

namespace hearth::lab {
namespace {

constexpr const char* kModels = R"({"object":"list","data":[{"id":"first"},{"id":"second"}]})";

// Answers by the first line of a request; what is not listed is 404.
FakeServer::Handler routes(std::map<std::string, std::string> answers) {
  return [answers = std::move(answers)](const std::string& request,
                                        const FakeServer::Connection& connection) {
    const std::string line = request.substr(0, request.find(" HTTP/"));
    const auto found = answers.find(line);
    connection.send(found == answers.end() ? FakeServer::answer("404 No", R"({"error":"no"})")
                                           : found->second);
  };
}

std::string ok(const std::string& body) { return FakeServer::answer("200 OK", body); }

Result<std::unique_ptr<Target>> open(const FakeServer& server, const std::string& model = {}) {
  TargetOptions options;
  options.server = server.url();
  options.model = model;
  return open_target(options);
}

TEST(AddressTarget, AsksTheFirstModelOfAServerOfUnknownKind) {
  const std::string chat =
      std::string{FakeServer::kStream} +
      "data: {\"model\":\"first\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n"
      "data: [DONE]\n\n";
  const FakeServer server{
      routes({{"GET /v1/models", ok(kModels)}, {"POST /v1/chat/completions", chat}})};
  const auto target = open(server);
  ASSERT_TRUE(target.has_value()) << target.error().message();
  // It knows no completions: found out by asking, once.
  const Answer answer = (*target)->ask({});
  EXPECT_EQ(answer.ending, Answer::Ending::kDone) << answer.problem;
  EXPECT_EQ(answer.text, "Hi");
  EXPECT_TRUE((*target)->levels().empty());
  EXPECT_EQ((*target)->processes(), std::vector<pid_t>{::getpid()});
  EXPECT_TRUE((*target)->take(Step::kLoad).has_value());
  EXPECT_TRUE((*target)->take(Step::kStart).has_value());
}

TEST(AddressTarget, NothingIsDoneToIt) {
  const FakeServer server{routes({{"GET /v1/models", ok(kModels)}})};
  const auto target = open(server);
  for (const Step step : {Step::kStop, Step::kUnload, Step::kEndWorker, Step::kForgetPrompts,
                          Step::kPromptsToDisk, Step::kPromptsToMemory, Step::kRemoveModel}) {
    EXPECT_EQ((*target)->take(step).error().code(), ErrorCode::kUnsupported) << name_of(step);
  }
}

TEST(AddressTarget, FindsOllamaOut) {
  const std::string reply = std::string{FakeServer::kStream} +
                            "{\"model\":\"second\",\"response\":\"x\",\"done\":true}\n";
  const FakeServer server{
      routes({{"GET /api/version", ok(R"({"version":"0.9.1"})")},
              {"POST /api/show", ok(R"({"modelfile":"# x\nFROM /etc/hostname\n"})")},
              {"POST /api/generate", reply}})};
  const auto target = open(server, "second");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ((*target)->version(), "Ollama 0.9.1");
  EXPECT_EQ((*target)->ask({}).model, "second");
  EXPECT_EQ((*target)->paths().model, std::vector<std::string>{"/etc/hostname"});
}

TEST(AddressTarget, FindsLlamaSwapOut) {
  const std::string reply = std::string{FakeServer::kStream} +
                            "data: {\"choices\":[{\"text\":\"x\"}]}\n\ndata: [DONE]\n\n";
  const FakeServer server{routes({{"GET /api/version", ok(R"({"version":"v250"})")},
                                  {"GET /running", ok(R"({"running":[]})")},
                                  {"POST /v1/completions", reply}})};
  const auto target = open(server, "m");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ((*target)->version(), "llama-swap v250");
  EXPECT_EQ((*target)->ask({}).text, "x");
}

TEST(AddressTarget, FindsHearthOut) {
  const FakeServer server{
      routes({{"GET /api/version", ok(R"({"version":"0.32.15","hearth":"0.1.0"})")},
              {"GET /api/hearth/models/m",
               ok(R"({"layers":{"weights":{"level":"hollow"},"prefix":{"level":"live"}}})")}})};
  const auto target = open(server, "m");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ((*target)->version(), "Hearth 0.1.0");
  EXPECT_EQ((*target)->levels().at("weights"), "hollow");
}

TEST(AddressTarget, NobodyThere) {
  TargetOptions options;
  options.server = "http://127.0.0.1:1";
  EXPECT_EQ(open_target(options).error().code(), ErrorCode::kUnavailable);
}

TEST(AddressTarget, WithoutModels) {
  const FakeServer server{routes({})};
  EXPECT_EQ(open(server).error().code(), ErrorCode::kNotFound);
}

TEST(OpenTarget, UnknownKind) {
  TargetOptions options;
  options.server = "llamafile";
  EXPECT_EQ(open_target(options).error().code(), ErrorCode::kInvalid);
  options.server = "https://example.com/x";
  EXPECT_EQ(open_target(options).error().code(), ErrorCode::kInvalid);
}

TEST(OpenTarget, MissingModelAndProgram) {
  TargetOptions options;
  options.server = "llama-server";
  options.model = "/nonexistent.gguf";
  EXPECT_EQ(open_target(options).error().code(), ErrorCode::kNotFound);
  options.model = "/etc/hostname";
  options.program = "/nonexistent/llama-server";
  const auto target = open_target(options);
  ASSERT_FALSE(target.has_value());
  EXPECT_NE(target.error().message().find("/nonexistent/llama-server"), std::string::npos);
}

}  // namespace
}  // namespace hearth::lab
