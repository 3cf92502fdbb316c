// SPDX-License-Identifier: Apache-2.0
// Downloads in bad luck: whatever happens, what is called complete is right, and what arrived
// counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/temporary_directory.h"
#include "base/testing/faulty_files.h"
#include "transfer/download.h"
#include "transfer/part_digests.h"
#include "transfer/testing/fake_network.h"

namespace hearth::transfer {
namespace {

using hearth::testing::FaultyFiles;
using testing::Content;
using testing::content_of;
using testing::digest_of;
using testing::FakeNetwork;
using testing::FakeServer;
using testing::Weather;

constexpr int kRuns = 600;
constexpr int kAttempts = 12;
constexpr int kPatience = 100'000;

Content content_at(const std::string& path) {
  const Files& files = Files::real();
  const Result<Fd> file = files.open_read(path);
  const Result<FileInfo> info = files.info(*file);
  Content content(info->size.count());
  EXPECT_TRUE(files.read_at(*file, 0, content));
  return content;
}

// One file, one server, and everything that can go wrong between them, as a seed has it.
class Ordeal {
 public:
  Ordeal(std::uint64_t seed, const std::string& directory)
      : seed_{seed},
        random_{seed},
        files_{seed, directory + "/graves"},
        data_{directory + "/data"},
        journal_{directory + "/journal"} {
    (void)Files::real().make_directories(directory + "/graves", 0700);
    publish(std::make_shared<Content>(content_of(random_, random_.next() % 40'000)));
    constexpr FakeServer::Kind kKinds[] = {FakeServer::Kind::kRanges, FakeServer::Kind::kRanges,
                                           FakeServer::Kind::kWholeOnly,
                                           FakeServer::Kind::kWholeWithoutLength};
    server_.kind = kKinds[random_.next() % 4];
    wanted_.geometry = {Bytes{1024}, Bytes{4096}, Bytes{16 * 1024}, Bytes{4096}, 3};
    if (random_.next() % 4 != 0) wanted_.promised = digest_of(*server_.content);
    if (random_.next() % 2 == 0) wanted_.size = Bytes{server_.content->size()};
    // Nobody could tell another file, or a flipped bit, without a promise.
    if (!wanted_.promised) (void)Files::real().remove(journal_);
    weather_ = {bad(40), wanted_.promised ? bad(8) : 0, bad(50)};
    faults_ = {bad(4), bad(4)};
  }

  void run() {
    for (int i = 0; i < kAttempts; ++i) {
      if (i == kAttempts - 1) calm_down();
      const Result<bool> complete = attempt();
      if (HasFatalFailure()) return;
      if (complete && *complete) return check();
      // A server that is wrong once may be right the next time.
      if (i == kAttempts - 1) FAIL() << (complete ? "not complete" : complete.error().message());
    }
  }

 private:
  static bool HasFatalFailure() { return ::testing::Test::HasFatalFailure(); }
  int bad(int most) {
    return random_.next() % 2 == 0 ? 0 : static_cast<int>(random_.next() % (most + 1));
  }

  void calm_down() {
    weather_ = {};
    faults_ = {};
  }

  // Whether it is complete and installed; what follows is the worst that may come after it.
  Result<bool> attempt() {
    wanted_.boot = std::to_string(boot_);
    files_.set_faults(faults_);
    const Result<bool> complete = go();
    files_.set_faults({});
    const std::uint64_t dice = random_.next() % 4;
    if (dice == 0 || (complete && *complete)) {
      files_.power_cut();
      ++boot_;
    }
    if (dice == 1 && !(complete && *complete)) change_server();
    return complete;
  }

  Result<bool> go() {
    Result<Fd> data = files_.open_write(data_, Files::Create::kIfMissing);
    Result<Fd> journal = files_.open_write(journal_, Files::Create::kIfMissing);
    if (!data || !journal) return fail(ErrorCode::kUnavailable, "no files");
    // A caller's business: names last, too.
    if (!files_.sync_directory(parent())) return fail(ErrorCode::kUnavailable, "no names");
    auto download = Download::open(files_, std::move(*data), std::move(*journal), wanted_);
    if (!download) return Failed{download.error()};
    FakeNetwork network{server_, **download, random_, weather_};
    const bool last = faults_.io_error + faults_.no_space + weather_.flips + weather_.cuts == 0;
    const int steps = last ? kPatience : static_cast<int>(random_.next() % 600);
    const Result<HashStep> hashed = network.run(steps);
    if (!hashed) return Failed{hashed.error()};
    if (*hashed != HashStep::kComplete) return false;
    const Result<Finished> finished = (*download)->finish();
    if (!finished) return Failed{finished.error()};
    finished_ = *finished;
    return true;
  }

  // Under another name, and with another content where nobody promised the old one.
  void change_server() {
    const bool held = wanted_.promised || wanted_.size;
    publish(held ? server_.content
                 : std::make_shared<Content>(content_of(random_, random_.next() % 40'000)));
  }

  void publish(std::shared_ptr<const Content> content) {
    server_.validator = fmt::format("\"{}-{}\"", seed_, versions_.size());
    server_.content = std::move(content);
    versions_[server_.validator] = server_.content;
  }

  void check() {
    const Content content = content_at(data_);
    // What was promised, or the version that it says it is.
    const Content& right = wanted_.promised ? *server_.content : *versions_.at(finished_.validator);
    ASSERT_EQ(content.size(), right.size());
    ASSERT_TRUE(content == right);
    ASSERT_EQ(finished_.sha256, digest_of(content));
    ASSERT_EQ(finished_.size, Bytes{content.size()});
    const Result<Fd> journal = Files::real().open_read(journal_);
    const Result<PartDigests> digests =
        digests_of_journal(Files::real(), *journal, finished_.sha256);
    ASSERT_TRUE(digests) << digests.error().message();
    ASSERT_EQ(digests->parts.size(), (content.size() + 1023) / 1024);
  }

  std::string parent() const { return data_.substr(0, data_.rfind('/')); }

  const std::uint64_t seed_;
  Random random_;
  FaultyFiles files_;
  const std::string data_;
  const std::string journal_;
  FakeServer server_;
  Wanted wanted_;
  Weather weather_;
  FaultyFiles::Faults faults_;
  Finished finished_;
  int boot_ = 1;
  std::map<std::string, std::shared_ptr<const Content>> versions_;  // by validator
};

TEST(DownloadFaults, WhatIsCompleteIsRight) {
  // One directory for all: each begins with what the one before has left.
  const TemporaryDirectory directory;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Ordeal{seed, directory.path()}.run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hearth::transfer
