// SPDX-License-Identifier: Apache-2.0
#include "front/compiled_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "base/testing/faulty_files.h"
#include "base/testing/forwarding_files.h"
#include "layers/testing/run_task.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front {
namespace {

using namespace literals;
using namespace std::chrono_literals;
using hearth::testing::FaultyFiles;
using hearth::testing::run_task;

constexpr std::size_t kEntry = 5000;

std::vector<std::byte> entry_bytes() {
  std::vector<std::byte> bytes(kEntry);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 3 + 1);
  return bytes;
}

Result<Bytes> write_repack(const Files& files, const Fd& file, const repack::Key& key) {
  std::vector<repack::Entry> entries(1);
  entries[0].name = "w";
  entries[0].source_size = entries[0].size = Bytes{kEntry};
  Result<repack::Writer> writer = repack::Writer::begin(files, file, key, std::move(entries));
  if (!writer) return Failed{writer.error()};
  if (const Result<> added = writer->add(0, entry_bytes()); !added) return Failed{added.error()};
  return writer->finish();
}

class CompiledStoreTest : public ::testing::Test {
 protected:
  void reopen(const Files& files = Files::real()) {
    store_ = std::make_unique<CompiledStore>(CompiledStore::World{
        loop_, pool_, files, clock_, directory_.path() + "/compiled", [this] { return room_; },
        [this](const std::string& artifact) {
          const auto found = content_.find(artifact);
          return found == content_.end() ? std::nullopt : std::optional{found->second};
        },
        [this](const std::string& content) {
          return static_cast<int>(
              std::count_if(content_.begin(), content_.end(),
                            [&](const auto& each) { return each.second == content; }));
        },
        [](const std::string& artifact) { return artifact.substr(0, artifact.find('@')); }});
  }

  // A start without a stored repack that took this long, and what it computed stored.
  Result<> store(const std::string& artifact, Duration took = 50ms,
                 const Files& files = Files::real(), StoreWish wish = StoreWish::kIfItPays) {
    load(artifact, "built", took);
    auto draft = run_task(loop_, store_->begin(artifact, key_, Bytes{kEntry}, wish));
    if (!draft) return Failed{draft.error()};
    if (auto written = write_repack(files, draft->file, draft->key); !written) {
      run_task(loop_, give_up(std::move(*draft)));
      return Failed{written.error()};
    }
    return run_task(loop_, store_->keep(std::move(*draft)));
  }
  Task<int> give_up(CompiledStore::Draft draft) {
    co_await store_->give_up(std::move(draft));
    co_return 0;
  }
  void load(const std::string& artifact, const std::string& repack, Duration took = {}) {
    wire::LoadedMessage loaded;
    loaded.repack = repack;
    loaded.stages.push_back({StageKind::kCompile, TimePoint{}, TimePoint{} + took, Bytes{}});
    store_->note_load(artifact, loaded);
  }
  StoredRepack find(const std::string& artifact) {
    return run_task(loop_, store_->find(artifact, key_));
  }
  std::vector<std::string> names() const {
    return Files::real().list(directory_.path() + "/compiled").value_or(std::vector<std::string>{});
  }
  Bytes used() const {
    Bytes sum;
    for (const std::string& name : names()) {
      sum += Files::real().info(directory_.path() + "/compiled/" + name)->size;
    }
    return sum;
  }
  std::string only_path() const { return directory_.path() + "/compiled/" + names().at(0); }
  void overwrite(std::uint64_t at, std::string_view text) const {
    const Fd file = std::move(*Files::real().open_write(only_path(), Files::Create::kNever));
    ASSERT_TRUE(Files::real().write_at(file, at, std::as_bytes(std::span{text})));
  }

  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  ManualClock clock_;
  hearth::testing::TempDir directory_;
  Bytes room_ = 1_GiB;
  std::map<std::string, std::string> content_{{"a@1", "aaaa"}, {"b@1", "bbbb"}, {"c@1", "cccc"}};
  wire::CompileKey key_{"engine", "", "cpu", "all"};
  std::unique_ptr<CompiledStore> store_;
};

TEST_F(CompiledStoreTest, KeepsWhatIsWrittenAndFindsItAgainAfterARestart) {
  reopen();
  EXPECT_FALSE(find("a@1").file);
  EXPECT_EQ(store_->cause("a@1"), CompiledCause::kFirst);
  ASSERT_TRUE(store("a@1"));
  for (int round = 0; round < 2; ++round) {
    const StoredRepack found = find("a@1");
    ASSERT_TRUE(found.file);
    EXPECT_TRUE(found.check);
    EXPECT_EQ(found.content, "aaaa");
    load("a@1", "stored");
    EXPECT_FALSE(find("a@1").check) << "checked since the start, and the same file";
    reopen();
  }
  struct stat info{};
  ASSERT_EQ(::stat(only_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((directory_.path() + "/compiled").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

struct StaleCase {
  const char* name;
  std::string wire::CompileKey::* part;
  CompiledCause cause;
  std::size_t left = 1;
};
class StaleRepack : public CompiledStoreTest, public ::testing::WithParamInterface<StaleCase> {};
TEST_P(StaleRepack, IsToldWhyAndDeletedUnlessItMayFitAgain) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  ASSERT_TRUE(store("b@1"));
  key_.*GetParam().part += "x";
  EXPECT_FALSE(find("a@1").file);
  EXPECT_EQ(store_->cause("a@1"), GetParam().cause);
  EXPECT_EQ(names().size(), GetParam().left) << "the other model's stays";
  ASSERT_TRUE(store("a@1"));
  EXPECT_TRUE(find("a@1").file);
}
INSTANTIATE_TEST_SUITE_P(
    Compiled, StaleRepack,
    ::testing::Values(StaleCase{"Engine", &wire::CompileKey::engine, CompiledCause::kEngine},
                      StaleCase{"Driver", &wire::CompileKey::driver, CompiledCause::kDriver},
                      StaleCase{"Hardware", &wire::CompileKey::hardware, CompiledCause::kHardware},
                      StaleCase{"Layout", &wire::CompileKey::layout, CompiledCause::kShape, 2}),
    [](const auto& test) { return test.param.name; });

TEST_F(CompiledStoreTest, AReplacedModelIsToldAndItsOldFileGoes) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  content_ = {{"a@2", "a2a2"}};
  EXPECT_FALSE(find("a@2").file);
  EXPECT_EQ(store_->cause("a@2"), CompiledCause::kModel);
  EXPECT_EQ(code_of(store_->cause("a@2")), "compiled.model");
  EXPECT_TRUE(names().empty());
}

TEST_F(CompiledStoreTest, NothingIsFoundBeforeTheContentIsKnown) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  content_.erase("a@1");
  EXPECT_FALSE(find("a@1").file);
  EXPECT_EQ(names().size(), 1u);
  EXPECT_FALSE(store("a@1"));
}

TEST_F(CompiledStoreTest, WhatTheWorkerRefusesGoes) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  ASSERT_TRUE(find("a@1").file);
  wire::LoadedMessage loaded;
  loaded.repack = "built";
  loaded.stored_refused = "entry w fails its checksum";
  store_->note_load("a@1", loaded);
  loop_.run_for(1s);
  EXPECT_TRUE(names().empty());
  EXPECT_NE(store_->note("a@1").find("fails its checksum"), std::string::npos);
  ASSERT_TRUE(store("a@1"));
  EXPECT_EQ(store_->note("a@1"), "");
}

TEST_F(CompiledStoreTest, AChangedFileIsCheckedAgainAndABrokenTableRefused) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  ASSERT_TRUE(find("a@1").file);
  load("a@1", "stored");
  ASSERT_FALSE(find("a@1").check);
  overwrite(repack::kAlignment + 100, "x");  // in the entry
  EXPECT_TRUE(find("a@1").check);
  overwrite(60, "x");  // in the table
  EXPECT_FALSE(find("a@1").file);
  EXPECT_NE(store_->note("a@1"), "");
  EXPECT_TRUE(names().empty());
}

TEST_F(CompiledStoreTest, OnlyALoadThatUsedItHasCheckedIt) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  for (const char* repack : {"none", "built"}) {
    ASSERT_TRUE(find("a@1").file);
    load("a@1", repack);
    EXPECT_TRUE(find("a@1").check) << repack;
  }
  load("a@1", "stored");
  EXPECT_FALSE(find("a@1").check);
}

// Files of which none can be opened, for a reason that passes.
class NoMoreFiles : public hearth::testing::ForwardingFiles {
 public:
  Result<Fd> open_read(const std::string& path) const override {
    if (full) return fail(ErrorCode::kUnavailable, "too many open files");
    return ForwardingFiles::open_read(path);
  }
  bool full = false;
};

TEST_F(CompiledStoreTest, WhatCannotBeOpenedJustNowStays) {
  NoMoreFiles files;
  reopen(files);
  ASSERT_TRUE(store("a@1"));
  files.full = true;
  EXPECT_FALSE(find("a@1").file);
  EXPECT_NE(store_->note("a@1").find("too many open files"), std::string::npos);
  EXPECT_EQ(names().size(), 1u);
  files.full = false;
  EXPECT_TRUE(find("a@1").file);
  std::filesystem::remove(only_path());
  EXPECT_FALSE(find("a@1").file);
  EXPECT_EQ(store_->stored("a@1", key_), nullptr) << "gone is gone";
}

TEST_F(CompiledStoreTest, AStartRemovesLeftoversAndForeignersUnderItsNamesOnly) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  const std::string whole = only_path();
  const std::string at = directory_.path() + "/compiled/";
  const auto write = [&](const std::string& name, std::string_view text) {
    const Fd file = std::move(*Files::real().open_write(at + name, Files::Create::kAlways));
    ASSERT_TRUE(Files::real().write_at(file, 0, std::as_bytes(std::span{text})));
  };
  write(std::string(32, 'a') + ".repack", "not a stored repack at all, but longer than its head");
  write(std::string(32, 'b') + ".repack.part", "half");
  write("notes.txt", "somebody's");
  std::filesystem::copy_file(whole, at + std::string(32, 'c') + ".repack");
  reopen();
  EXPECT_TRUE(find("a@1").file);
  EXPECT_EQ(names().size(), 2u);
  EXPECT_TRUE(Files::real().info(at + "notes.txt"));
}

TEST_F(CompiledStoreTest, TheBudgetHoldsAndTheLeastWorthGoes) {
  reopen();
  room_ = Bytes{2 * 2 * repack::kAlignment + kEntry};
  ASSERT_TRUE(store("a@1", 10ms));
  ASSERT_TRUE(store("b@1", 30ms));
  ASSERT_TRUE(store("c@1", 20ms));
  EXPECT_LE(used(), room_);
  EXPECT_FALSE(find("a@1").file);
  EXPECT_TRUE(find("b@1").file);
  EXPECT_TRUE(find("c@1").file);
  const Result<> refused = store("a@1", 5ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kNoSpace);
  EXPECT_TRUE(store("a@1", 5ms, Files::real(), StoreWish::kAsked));
  EXPECT_LE(used(), room_);
}

TEST_F(CompiledStoreTest, NoBudgetKeepsNothing) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  room_ = {};
  reopen();
  EXPECT_FALSE(find("a@1").file);
  EXPECT_TRUE(names().empty());
  EXPECT_FALSE(store("a@1", 1s, Files::real(), StoreWish::kAsked));
}

TEST_F(CompiledStoreTest, DropDeletesAndSaysHowMuch) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  const Bytes size = used();
  EXPECT_GT(size, Bytes{kEntry});
  EXPECT_EQ(run_task(loop_, store_->drop("a@1")).value(), size);
  EXPECT_EQ(run_task(loop_, store_->drop("a@1")).value(), Bytes{});
  EXPECT_TRUE(names().empty());
}

// A full disk, an error or a power cut at any step costs this file at most, and never the truth.
TEST_F(CompiledStoreTest, FaultsAtEveryStepCostOneFile) {
  reopen();
  ASSERT_TRUE(store("a@1"));
  const std::string grave = directory_.path() + "/grave";
  ASSERT_TRUE(Files::real().make_directories(grave, 0700));
  for (int step = 1; step < 16; ++step) {
    FaultyFiles files{static_cast<std::uint64_t>(step), grave};
    reopen(files);
    ASSERT_TRUE(find("a@1").file);
    files.fail_change(step, step % 2 == 0 ? ErrorCode::kNoSpace : ErrorCode::kUnavailable);
    const bool kept = store("b@1", 50ms, files).has_value();
    EXPECT_EQ(kept, find("b@1").file.has_value());
    files.fail_change(0, ErrorCode::kNoSpace);
    files.power_cut();
    reopen();
    EXPECT_TRUE(find("a@1").file) << step;
    const StoredRepack after = find("b@1");
    EXPECT_TRUE(!kept || after.file) << step;
    if (after.file) {
      const auto table = repack::read_table(Files::real(), *after.file);
      ASSERT_TRUE(table);
      std::vector<std::byte> bytes(kEntry);
      ASSERT_TRUE(Files::real().read_at(*after.file, table->entries[0].offset, bytes));
      EXPECT_EQ(bytes, entry_bytes());
      run_task(loop_, store_->drop("b@1"));
    }
    EXPECT_EQ(names().size(), 1u) << step;
  }
}

}  // namespace
}  // namespace hearth::front
