// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "front/pulls/install.h"
#include "front/pulls/pulls.h"
#include "front/pulls/testing/sim_fetchers.h"
#include "layers/artifact/blob_name.h"
#include "layers/artifact/catalogue.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front::testing {

// What one who waits was told.
struct Told {
  std::vector<TransferProgress> progress;
  std::optional<TransferDone> done;
  std::optional<Error> error;
  std::unique_ptr<PullWaiter> waiter;

  bool over() const { return done || error; }
  std::set<std::string> stages() const {
    std::set<std::string> stages;
    for (const TransferProgress& one : progress) stages.insert(one.stage);
    return stages;
  }
};

inline Task<void> follow(Told* told) {
  while (!told->over()) {
    TransferEvent event = co_await told->waiter->next();
    if (auto* progress = std::get_if<TransferProgress>(&event)) {
      told->progress.push_back(std::move(*progress));
    }
    if (auto* done = std::get_if<TransferDone>(&event)) told->done = std::move(*done);
    if (auto* error = std::get_if<Error>(&event)) told->error = std::move(*error);
  }
}

// All pulls over scripted fetchers, a real store and a real catalogue, in virtual time.
class SimPulls : public ::testing::Test {
 protected:
  using GgufBuilder = hearth::testing::GgufBuilder;

  ~SimPulls() override { close(); }

  void open() {
    auto catalogue = Catalogue::open(directory_ / "catalogue.db", files(), loop_.clock());
    ASSERT_TRUE(catalogue) << catalogue.error().message();
    catalogue_.emplace(std::move(*catalogue));
    store_ = std::make_unique<BlobStore>(files(), directory_ / "models");
    fetchers_ = std::make_unique<SimFetchers>(loop_, web_, files());
    Pull::World world{loop_,
                      pool_,
                      files(),
                      *store_,
                      {loop_, pool_, *fetchers_, "scripted", {}},
                      [this] { return pull_rules(config_); },
                      [this] { return token_; },
                      [this](const std::string& url) { return fetched_from(url); },
                      [this](PulledModel model) { return install(std::move(model)); },
                      [this](const BlobStore::Blob& blob) { return rotten_.contains(blob.path); }};
    pulls_ = std::make_unique<Pulls>(
        Pulls::World{std::move(world), loop_.clock(), events_, paused_parts_});
    loop_.spawn(pulls_->look_for_parts());
    loop_.run_ready();
  }
  // As a server that stops.
  void close() {
    if (!pulls_) return;
    loop_.spawn(pulls_->stop());
    fetchers_->settle();
    pulls_.reset();
    EXPECT_EQ(fetchers_->living(), 0U);
    fetchers_.reset();
    catalogue_.reset();
  }

  std::optional<hearth::Origin::File> fetched_from(const std::string& url) {
    const auto models = catalogue_->list();
    for (const NamedModel& one : *models) {
      for (const hearth::Origin::File& file : one.artifact.origin.files) {
        if (file.url == url) return file;
      }
    }
    return std::nullopt;
  }
  Task<Result<>> install(PulledModel model) {
    while (hold_installs_) co_await installs_go_on_.wait();
    co_return install_pulled(*catalogue_, *store_, std::move(model));
  }

  // A sound model of about 20 KiB, another for each number.
  static std::string model(int number) {
    GgufBuilder file = GgufBuilder::small_model();
    file.u32("test.number", static_cast<std::uint32_t>(number));
    return file.bytes();
  }
  static std::string digest(std::string_view content) {
    const Digest whole = Sha256{}.add(content).finish();
    return hex_of(whole);
  }
  // A file of a web server, and its source.
  std::string publish(const std::string& name, const std::string& content) {
    const std::string url = "https://models.example/" + name + ".gguf";
    web_.files[url] = content;
    return url;
  }
  // The same with an index that promises a digest.
  std::string publish_repository(const std::string& name, const std::string& content) {
    const std::string file = name + "-Q4_K_M.gguf";
    web_.texts["https://huggingface.co/api/models/org/" + name + "/revision/main?blobs=true"] = {
        200, R"({"id":"org/)" + name + R"(","sha":"0123456789abcdef0123456789abcdef01234567",)" +
                 R"("siblings":[{"rfilename":")" + file + R"(","size":)" +
                 std::to_string(content.size()) + R"(,"lfs":{"sha256":")" + digest(content) +
                 R"(","size":)" + std::to_string(content.size()) + R"(}}]})"};
    web_.files["https://huggingface.co/org/" + name +
               "/resolve/0123456789abcdef0123456789abcdef01234567/" + file] = content;
    return "hf.co/org/" + name;
  }

  void ask(Told& told, const std::string& source, const std::string& name = "",
           std::optional<FetchPlan> again = std::nullopt) {
    const auto parsed = parse_source(source, SourceServers{});
    ASSERT_TRUE(parsed) << parsed.error().message();
    told.waiter = pulls_->join(*parsed, name, std::move(again));
    loop_.spawn(follow(&told));
    fetchers_->settle();
  }
  // To the end.
  void pull(Told& told, const std::string& source, const std::string& name = "") {
    ask(told, source, name);
    for (int i = 0; i < 1000 && !told.over(); ++i) fetchers_->step();
    EXPECT_TRUE(told.over());
  }
  void cancel(Told& told) {
    told.waiter->cancel();
    fetchers_->settle();
    told.waiter.reset();
    fetchers_->settle();
  }

  std::optional<NamedModel> listed(const std::string& name) {
    const auto found = catalogue_->find(*ModelName::parse(name));
    return found ? std::optional{*found} : std::nullopt;
  }
  std::vector<std::string> names_in(const std::string& where) const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator{directory_ / where, none}) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  static std::string content_of(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
  }

  virtual const Files& files() const { return Files::real(); }

  hearth::testing::TempDir directory_;
  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  EventBus events_{loop_};
  Config config_;
  std::string token_;
  std::set<std::string> rotten_;  // paths
  bool hold_installs_ = false;
  Notify installs_go_on_{loop_};
  SimWeb web_;
  Pulls::PausedParts paused_parts_ = Pulls::PausedParts::kKept;
  std::optional<Catalogue> catalogue_;
  std::unique_ptr<BlobStore> store_;
  std::unique_ptr<SimFetchers> fetchers_;
  std::unique_ptr<Pulls> pulls_;
};

}  // namespace hearth::front::testing
