// SPDX-License-Identifier: Apache-2.0
// Every way a load can take gives the same answers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/temporary_directory.h"
#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker {
namespace {

using test::greedy;
using test::Reply;
using test::TestFront;
using wire::FrameType;

constexpr const char* kKing = "Once upon a time there was a king who lived in";
constexpr const char* kContent = "0123456789abcdef";

wire::LoadOptions options() {
  wire::LoadOptions out;
  out.context_limit = 512;
  out.exact = true;
  return out;
}

class Loads : public testing::Test {
 protected:
  void open(const char* name) {
    const auto model = engine::test::model_path(name);
    if (!model) GTEST_SKIP() << name << " is not there; `make models` brings it";
    path_ = *model;
    ready_ = front_.open(path_, options());
  }
  static void drop(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    ::fdatasync(file.get());
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
  std::string text() { return front_.generate(greedy(kKing, 6)).text; }
  Fd new_file(const char* name) const {
    const std::string path = directory_.path() + "/" + name;
    return Fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  }
  static wire::LoadMessage stored_load() {
    wire::LoadMessage how;
    how.stored = true;
    how.content = kContent;
    return how;
  }

  TemporaryDirectory directory_;
  std::string path_;
  TestFront front_;
  wire::ReadyMessage ready_;
};

TEST_F(Loads, EveryWayToReadGivesTheSameText) {
  open(engine::test::kSmol);
  if (IsSkipped()) return;
  EXPECT_TRUE(ready_.streams);
  front_.load();
  const std::string wanted = text();
  for (const auto mode :
       {wire::ReadMode::kMapped, wire::ReadMode::kBuffered, wire::ReadMode::kDirect}) {
    front_.unload();
    drop(path_);
    wire::LoadMessage how;
    how.read = mode;
    how.block = Bytes{1 << 20};
    const wire::LoadedMessage loaded = front_.load(how);
    EXPECT_EQ(text(), wanted) << wire::name_of(mode);
    EXPECT_EQ(loaded.repack, "none");
    const bool mapped = mode != wire::ReadMode::kDirect;
    EXPECT_EQ(loaded.memory.mapped > loaded.memory.weights, mapped);
  }
}

TEST_F(Loads, TellsOfTheLoadBeforeTheFirstToken) {
  open(engine::test::kGemma);
  if (IsSkipped()) return;
  front_.send(FrameType::kGenerate, 1, wire::encode(greedy(kKing, 2)));
  front_.next(FrameType::kTokenized);
  front_.send(FrameType::kLoad, 0);
  bool loaded = false;
  for (;;) {
    const wire::Frame frame = front_.next();
    loaded = loaded || frame.type == FrameType::kLoaded;
    if (frame.type == FrameType::kStarted) break;
    ASSERT_NE(frame.type, FrameType::kFailed) << frame.payload;
  }
  EXPECT_TRUE(loaded);
}

TEST_F(Loads, AStoredRepackIsUsedAndGivesTheSameText) {
  open(engine::test::kGemma);
  if (IsSkipped()) return;
  EXPECT_GT(ready_.estimate.repacked, Bytes{});
  const wire::LoadedMessage first = front_.load();
  EXPECT_EQ(first.repack, "built");
  const std::string wanted = text();
  const Fd file = new_file("stored");
  const wire::StoredMessage stored = front_.store(kContent, file);
  EXPECT_EQ(stored.error, "");
  EXPECT_GE(stored.bytes, ready_.estimate.repacked);
  EXPECT_EQ(text(), wanted);  // from the file now
  front_.unload();

  const wire::LoadedMessage second = front_.load(stored_load(), file);
  EXPECT_EQ(second.repack, "stored");
  EXPECT_EQ(second.stored_refused, "");
  EXPECT_EQ(second.memory.repacked, first.memory.repacked);
  EXPECT_LT(second.memory.weights, first.memory.weights);
  EXPECT_EQ(text(), wanted);
}

TEST_F(Loads, WrongStoredBytesAreComputedAnew) {
  open(engine::test::kGemma);
  if (IsSkipped()) return;
  front_.load();
  const std::string wanted = text();
  const Fd file = new_file("stored");
  const Bytes size = front_.store(kContent, file).bytes;
  front_.unload();
  char byte = 0;
  const auto at = static_cast<off_t>(size.count() / 2);
  ASSERT_EQ(::pread(file.get(), &byte, 1, at), 1);
  byte = static_cast<char>(byte ^ 1);
  ASSERT_EQ(::pwrite(file.get(), &byte, 1, at), 1);
  const wire::LoadedMessage loaded = front_.load(stored_load(), file);
  EXPECT_EQ(loaded.stored_refused, "checksum");
  EXPECT_EQ(text(), wanted);
}

TEST_F(Loads, AStoredRepackOfAnotherModelIsRefused) {
  open(engine::test::kGemma);
  if (IsSkipped()) return;
  front_.load();
  const std::string wanted = text();
  const Fd file = new_file("stored");
  front_.store("another model", file);
  front_.unload();
  const wire::LoadedMessage loaded = front_.load(stored_load(), file);
  EXPECT_EQ(loaded.stored_refused, "model");
  EXPECT_EQ(loaded.repack, "built");
  EXPECT_EQ(text(), wanted);
  front_.unload();
  const Fd empty = new_file("empty");
  EXPECT_NE(front_.load(stored_load(), empty).stored_refused, "");
  EXPECT_EQ(text(), wanted);
}

TEST_F(Loads, NothingIsStoredOfAModelThatIsNotRepacked) {
  open(engine::test::kSmol);
  if (IsSkipped()) return;
  front_.load();
  EXPECT_NE(front_.store(kContent, new_file("stored")).error, "");
}

TEST_F(Loads, AFileThatHasBecomeShorterFailsTheLoad) {
  const auto model = engine::test::model_path(engine::test::kSmol);
  if (!model) GTEST_SKIP() << "no model";
  path_ = directory_.path() + "/model.gguf";
  std::filesystem::copy_file(*model, path_);
  front_.open(path_, options());
  ASSERT_EQ(::truncate(path_.c_str(), 50 << 20), 0);
  front_.send(FrameType::kLoad, 0);
  const wire::Frame failed = front_.next(FrameType::kLoaded);
  EXPECT_EQ(failed.type, FrameType::kFailed);
  EXPECT_EQ(wire::decode_failed(failed.payload)->code, "corrupt");
}

}  // namespace
}  // namespace hearth::worker
