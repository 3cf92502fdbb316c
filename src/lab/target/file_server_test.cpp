// SPDX-License-Identifier: Apache-2.0
#include "lab/target/file_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/temporary_directory.h"
#include "http/client.h"

namespace hearth::lab {
namespace {

class FileServerTest : public testing::Test {
 protected:
  void SetUp() override { std::ofstream{folder_ / "model"} << "0123456789"; }

  http::HttpResponse get(const FileServer& server, http::Client::Call call) const {
    const auto client = http::Client::to(server.origin(), 80);
    auto answer = client->call(call);
    EXPECT_TRUE(answer.has_value());
    return answer ? *answer : http::HttpResponse{};
  }

  TemporaryDirectory folder_;
};

TEST_F(FileServerTest, HandsTheFileOut) {
  const auto server = FileServer::serve({folder_ / "model", {}});
  ASSERT_TRUE(server.has_value());
  http::Client::Call call;
  call.target = "/lab.gguf";
  const http::HttpResponse answer = get(**server, call);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "0123456789");
  EXPECT_EQ((*server)->url(), (*server)->origin() + "/lab.gguf");
}

struct RangeCase {
  const char* name;
  const char* range;
  int status;
  const char* body;
};
class FileServerRange : public FileServerTest, public testing::WithParamInterface<RangeCase> {};

TEST_P(FileServerRange, Answers) {
  const auto server = FileServer::serve({folder_ / "model", {}});
  http::Client::Call call;
  call.target = "/lab.gguf";
  call.headers = {{"Range", GetParam().range}};
  const http::HttpResponse answer = get(**server, call);
  EXPECT_EQ(answer.status, GetParam().status);
  EXPECT_EQ(answer.body, GetParam().body);
}

INSTANTIATE_TEST_SUITE_P(FileServer, FileServerRange,
                         testing::Values(RangeCase{"Inner", "bytes=2-4", 206, "234"},
                                         RangeCase{"Open", "bytes=7-", 206, "789"},
                                         RangeCase{"Beyond", "bytes=8-100", 206, "89"},
                                         RangeCase{"Outside", "bytes=10-", 416, ""},
                                         RangeCase{"NoSense", "bytes=x", 200, "0123456789"}),
                         [](const auto& test) { return test.param.name; });

TEST_F(FileServerTest, NothingElseIsThere) {
  const auto server = FileServer::serve({folder_ / "model", {}});
  http::Client::Call call;
  call.target = "/etc/passwd";
  EXPECT_EQ(get(**server, call).status, 404);
  call.method = "HEAD";
  call.target = "/lab.gguf";
  EXPECT_EQ(get(**server, call).status, 200);
}

TEST_F(FileServerTest, KeepsToItsRate) {
  std::ofstream{folder_ / "model"} << std::string(256U << 10U, 'x');
  const auto server = FileServer::serve({folder_ / "model", Bytes{1U << 20U}});
  http::Client::Call call;
  call.target = "/lab.gguf";
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(get(**server, call).body.size(), 256U << 10U);
  // The last of four pieces may begin after three pieces' time.
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds{180});
}

TEST_F(FileServerTest, NoSuchFile) {
  EXPECT_EQ(FileServer::serve({folder_ / "other", {}}).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hearth::lab
