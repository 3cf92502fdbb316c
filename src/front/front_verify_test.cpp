// SPDX-License-Identifier: Apache-2.0
//
// Verify, create and blobs through the whole front.
#include <gmock/gmock.h>

#include <filesystem>
#include <optional>

#include "front/testing/whole_front.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::WholeFront;

class FrontVerifyTest : public WholeFront {
 protected:
  std::string path(const std::string& name) { return directory_ / (name + ".gguf"); }
  void rot(const std::string& name) {
    const FileInfo before = *Files::real().info(path(name));
    {
      std::fstream file{path(name), std::ios::binary | std::ios::in | std::ios::out};
      file.seekp(9000);
      file.put('\xEE');
    }
    const Result<Fd> file = Files::real().open_write(path(name), Files::Create::kNever);
    ASSERT_TRUE(file && Files::real().set_modified(*file, before.modified_ns));
  }
};

Task<TransferDone> verified(FrontService* service, std::string name) {
  VerifyRequest request;
  request.model = std::move(name);
  std::unique_ptr<Transfer> transfer = service->verify(std::move(request));
  for (;;) {
    TransferEvent event = co_await transfer->next();
    if (auto* error = std::get_if<Error>(&event)) {
      ADD_FAILURE() << error->message();
      co_return TransferDone{};
    }
    if (auto* done = std::get_if<TransferDone>(&event)) co_return std::move(*done);
  }
}

Task<std::optional<Refused>> refusal(FrontService* service, TimePoint now) {
  GenerateRequest request;
  request.context.model = "tiny";
  request.context.first_byte = now;
  request.message.prompt = "hi";
  std::unique_ptr<Reply> reply = service->generate(std::move(request), Delivery::kWhole);
  for (;;) {
    Event event = co_await reply->next();
    if (auto* refused = std::get_if<Refused>(&event)) {
      reply->sent(422);
      std::optional<Refused> heard{std::move(*refused)};
      co_return heard;
    }
    if (std::holds_alternative<Finished>(event)) {
      ADD_FAILURE() << "it was answered";
      reply->sent(200);
      co_return std::nullopt;
    }
  }
}

Task<void> rot_is_refused(FrontVerifyTest* test, FrontService* service, EventLoop* loop,
                          std::function<void()> rot) {
  EXPECT_EQ(service->model("tiny")->digest, "") << "an import does not wait for its hash";
  const TransferDone good = co_await verified(service, "tiny");
  EXPECT_EQ(good.verified.at(0).verdict, "good");
  EXPECT_EQ(service->model("tiny")->digest, good.verified.at(0).sha256);
  EXPECT_GT(service->model("tiny")->verified_us, 0);
  rot();
  const TransferDone bad = co_await verified(service, "tiny");
  EXPECT_EQ(bad.verified.at(0).verdict, "rotten");
  EXPECT_EQ(service->model("tiny")->status, "rotten");
  EXPECT_EQ(service->model("tiny")->digest, "");
  const std::optional<Refused> refused = co_await refusal(service, loop->now());
  EXPECT_TRUE(refused);
  if (!refused) co_return;
  EXPECT_EQ(refused->error.code(), ErrorCode::kCorrupt);
  EXPECT_THAT(refused->error.message(), HasSubstr("backup"));
  (void)test;
}

TEST_F(FrontVerifyTest, ARottenModelIsRefused) {
  open();
  run(rot_is_refused(this, service_.get(), loop_.get(), [this] { rot("tiny"); }));
}

Task<std::string> upload(FrontService* service, std::string digest, std::string content) {
  const Bytes size{content.size()};
  auto upload = co_await service->receive_blob(digest, size);
  if (!upload) co_return upload.error().message();
  Result<> kept = co_await (*upload)->write(std::move(content));
  if (kept) kept = co_await (*upload)->finish();
  co_return kept ? "" : kept.error().message();
}

Task<void> made_of_a_blob(FrontService* service, std::string content) {
  const std::string digest = "sha256:" + hex_of(Sha256{}.add(content).finish());
  const auto before = co_await service->blob(digest);
  EXPECT_EQ(before.error().code(), ErrorCode::kNotFound);
  const std::string wrong = co_await upload(service, digest, "something else");
  EXPECT_THAT(wrong, HasSubstr("the content is"));
  const std::string right = co_await upload(service, digest, content);
  EXPECT_EQ(right, "");
  const auto size = co_await service->blob(digest);
  EXPECT_EQ(*size, Bytes{content.size()});
  CreateRequest request;
  request.name = "made";
  request.files = {{"m.gguf", digest}};
  request.system = "Hi.";
  const auto made = co_await service->create_model(request);
  EXPECT_TRUE(made) << made.error().message();
  EXPECT_EQ("sha256:" + made->digest, digest);
  EXPECT_EQ(made->store, "hearth");
  EXPECT_EQ(made->settings.system, "Hi.");
  EXPECT_EQ(made->shared_bytes, 0);
  CreateRequest second;
  second.name = "other-name";
  second.from = "made";
  const auto shared = co_await service->create_model(second);
  EXPECT_EQ(shared->shared_bytes, shared->size);
  EXPECT_EQ(shared->settings.system, "Hi.");
}

TEST_F(FrontVerifyTest, AModelIsMadeOfABlob) {
  open();
  GgufBuilder file = GgufBuilder::small_model();
  file.text("test.name", "made");
  run(made_of_a_blob(service_.get(), file.bytes()));
}

Task<void> replaced(FrontService* service, std::string content) {
  const std::string digest = "sha256:" + hex_of(Sha256{}.add(content).finish());
  (void)co_await upload(service, digest, content);
  CreateRequest request;
  request.name = "made";
  request.files = {{"m.gguf", digest}};
  (void)co_await service->create_model(request);
  CreateRequest again;
  again.name = "made";
  again.from = "tiny";
  const auto made = co_await service->create_model(again);
  EXPECT_EQ(made->store, "user");
}

TEST_F(FrontVerifyTest, FilesOfAModelThatIsReplacedGo) {
  open();
  GgufBuilder file = GgufBuilder::small_model();
  file.text("test.name", "made");
  run(replaced(service_.get(), file.bytes()));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "models/blobs"));
  EXPECT_TRUE(std::filesystem::exists(path("tiny")));
}

}  // namespace
}  // namespace hearth::front
