// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sim_event_loop.h"
#include "base/testing/forwarding_files.h"
#include "front/verify/verifier.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front::testing {

// The real file system; a test is told of each read, and may fail it.
class WatchedFiles : public hearth::testing::ForwardingFiles {
 public:
  Result<std::size_t> read_at(const Fd& file, std::uint64_t offset,
                              std::span<std::byte> into) const override {
    ++reads;
    bytes += into.size();
    if (on_read) {
      if (auto fine = on_read(); !fine) return Failed{std::move(fine).error()};
    }
    return ForwardingFiles::read_at(file, offset, into);
  }

  mutable int reads = 0;
  mutable std::size_t bytes = 0;
  std::function<Result<>()> on_read;
};

// A verifier with a catalogue of its own over real files, on a loop with virtual time.
class VerifyFront : public ::testing::Test {
 protected:
  VerifyFront() { open(); }
  ~VerifyFront() override { close(); }

  void open() {
    auto opened = Catalogue::open(directory_ / "catalogue.db", files_, loop_.clock());
    ASSERT_TRUE(opened) << opened.error().message();
    catalogue_.emplace(std::move(*opened));
    ASSERT_TRUE(refresh());
    verifier_ = std::make_unique<Verifier>(world());
    verifier_->start();
  }

  // As a stop of the server does.
  void close() {
    if (!verifier_) return;
    loop_.spawn(verifier_->stop());
    loop_.run_for(std::chrono::seconds{10});
    verifier_.reset();
    catalogue_.reset();
  }

  Verifier::World world() {
    ModelCheck::World check{loop_,
                            pool_,
                            notes_,
                            files_,
                            store_,
                            [this]() -> const std::vector<NamedModel>& { return named_; },
                            [this](std::string id) { return recheck(this, std::move(id)); },
                            [this](std::string id, std::vector<std::string> sha256) {
                              return note_hashed(this, std::move(id), std::move(sha256));
                            }};
    return {std::move(check),
            loop_.clock(),
            metrics_,
            [this] { return busy_; },
            [this] { return verify_days_; },
            repair_};
  }

  Result<> refresh() {
    Result<std::vector<NamedModel>> listed = catalogue_->list();
    if (!listed) return Failed{std::move(listed).error()};
    named_ = std::move(*listed);
    return {};
  }
  static Task<Result<>> recheck(VerifyFront* front, std::string id) {
    const Result<Artifact> seen = front->catalogue_->recheck(id);
    if (!seen) co_return Failed{seen.error()};
    co_return front->refresh();
  }
  static Task<Result<ArtifactStatus>> note_hashed(VerifyFront* front, std::string id,
                                                  std::vector<std::string> sha256) {
    ++front->noted_;
    Result<ArtifactStatus> status = front->catalogue_->note_hashed(id, sha256);
    if (status) {
      EXPECT_TRUE(front->refresh());
    }
    co_return status;
  }

  // A sound model of about `mib`, or of 20 KiB.
  std::string write_model(const std::string& name, std::uint64_t mib = 0) {
    hearth::testing::GgufBuilder file = hearth::testing::GgufBuilder::small_model();
    file.text("test.name", name);
    if (mib > 0) file.tensor("blk.0.ffn_up.weight", {1024, 256 * mib}, 0, mib << 20);
    return directory_.write(name + ".gguf", file.bytes());
  }
  std::string import_model(const std::string& name, std::uint64_t mib = 0) {
    std::string path = write_model(name, mib);
    auto imported = catalogue_->import(path, *ModelName::parse(name));
    EXPECT_TRUE(imported) << imported.error().message();
    EXPECT_TRUE(refresh());
    return path;
  }
  const NamedModel& model(const std::string& name) {
    EXPECT_TRUE(refresh());
    const std::string key = ModelName::parse(name)->key();
    for (const NamedModel& named : named_) {
      if (named.key == key) return named;
    }
    ADD_FAILURE() << "no model " << name;
    std::abort();
  }
  bool is_hashed(const std::string& name) { return model(name).artifact.content().has_value(); }

  static std::string read_file(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
  }
  static std::string sha_of_file(const std::string& path) {
    return hex_of(Sha256{}.add(read_file(path)).finish());
  }
  static void flip_byte(const std::string& path, std::uint64_t at) {
    std::fstream file{path, std::ios::binary | std::ios::in | std::ios::out};
    file.seekg(static_cast<std::streamoff>(at));
    const int old = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(old ^ 0x10));
  }
  // As a device does it: nothing else about the file changes.
  static void rot(const std::string& path, std::uint64_t at) {
    const FileInfo before = *Files::real().info(path);
    flip_byte(path, at);
    Result<Fd> file = Files::real().open_write(path, Files::Create::kNever);
    ASSERT_TRUE(file && Files::real().set_modified(*file, before.modified_ns));
  }
  // As a repair does it, in miniature.
  static Task<Result<Bytes>> repair_by(VerifyFront* front, std::string path, std::uint64_t at) {
    flip_byte(path, at);
    front->touch(path);
    co_return Bytes{1234};
  }
  // A later time than any before, whatever the clock's grain.
  void touch(const std::string& path) {
    Result<Fd> file = Files::real().open_write(path, Files::Create::kNever);
    const FileInfo before = *Files::real().info(path);
    ASSERT_TRUE(file && Files::real().set_modified(*file, before.modified_ns + 1'000'000'000));
  }

  // All that one who waits hears.
  struct Heard {
    std::vector<TransferProgress> progress;
    std::vector<Verified> verified;
    std::optional<TransferDone> done;
    std::optional<Error> error;
  };
  static Task<void> listen(std::unique_ptr<Transfer> transfer, Heard* heard) {
    while (!heard->done && !heard->error) {
      TransferEvent event = co_await transfer->next();
      if (auto* progress = std::get_if<TransferProgress>(&event)) {
        heard->progress.push_back(*progress);
      }
      if (auto* verified = std::get_if<Verified>(&event)) heard->verified.push_back(*verified);
      if (auto* done = std::get_if<TransferDone>(&event)) heard->done = *done;
      if (auto* error = std::get_if<Error>(&event)) heard->error = *error;
    }
  }
  enum class Repair { kNo, kYes };
  Heard verify(const std::string& name = "", Repair repair = Repair::kNo) {
    Heard heard;
    loop_.spawn(listen(verifier_->verify({name, repair == Repair::kYes}), &heard));
    loop_.run_for(std::chrono::seconds{1});
    EXPECT_TRUE(heard.done || heard.error);
    return heard;
  }
  std::string verdict(const std::string& name) {
    const Heard heard = verify(name);
    if (heard.error) return "error: " + heard.error->message();
    return heard.verified.size() == 1 ? heard.verified[0].verdict : "?";
  }

  hearth::testing::TempDir directory_;
  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  WatchedFiles files_;
  HashNotes notes_{files_, directory_ / "models/verify"};
  BlobStore store_{files_, directory_ / "models"};
  Metrics metrics_{BuildInfo{}};
  bool busy_ = false;
  int verify_days_ = 0;
  int noted_ = 0;
  decltype(Verifier::World::repair) repair_;
  std::vector<NamedModel> named_;
  std::optional<Catalogue> catalogue_;
  std::unique_ptr<Verifier> verifier_;
};

}  // namespace hearth::front::testing
