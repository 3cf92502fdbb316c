// SPDX-License-Identifier: Apache-2.0
//
// What starts compute, kept and handed out by the whole front, over scripted workers.
#include <gtest/gtest.h>

#include "front/testing/whole_front.h"
#include "repack/repack_file.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using testing::well_behaved;
using wire::BlockingChannel;
using wire::Frame;
using wire::FrameType;

constexpr std::size_t kSize = 10'000;

// A worker that repacks, and stores what it is asked to.
struct Repacker {
  wire::CompileKey key{"engine", "", "cpu", "layout"};
  std::vector<wire::LoadMessage> loads;
  int stores = 0;
  std::string refuses;  // what was stored, and why
  bool full = false;    // the disk

  bool operator()(BlockingChannel& channel, const Frame& frame) {
    if (frame.type == FrameType::kOpen) {
      wire::ReadyMessage ready;
      ready.backend = "scripted";
      ready.context_limit = ready.trained_context = 2048;
      ready.compile_key = key;
      ready.estimate.repacked = Bytes{kSize};
      answer(channel, FrameType::kReady, 0, wire::encode(ready));
      return true;
    }
    if (frame.type == FrameType::kLoad) return load(channel, frame);
    if (frame.type == FrameType::kStore) return store(channel, frame);
    return well_behaved(channel, frame);
  }

  bool load(BlockingChannel& channel, const Frame& frame) {
    loads.push_back(*wire::decode_load(frame.payload));
    const bool stored = loads.back().stored && refuses.empty();
    wire::LoadedMessage loaded;
    loaded.repack = stored ? "stored" : "built";
    if (loads.back().stored) loaded.stored_refused = std::exchange(refuses, {});
    loaded.memory.repacked = Bytes{kSize};
    const TimePoint now = Clock::real().now();
    if (!stored) loaded.stages.push_back({StageKind::kCompile, now - 50ms, now, Bytes{kSize}});
    answer(channel, FrameType::kLoaded, 0, wire::encode(loaded));
    return true;
  }

  bool store(BlockingChannel& channel, const Frame& frame) {
    ++stores;
    wire::StoredMessage stored;
    if (full) stored.error = "no space left on device";
    if (!full) {
      const repack::Key whole{wire::decode_store(frame.payload)->content, key.engine, key.driver,
                              key.hardware, key.layout};
      std::vector<repack::Entry> entries(1);
      entries[0].source_size = Bytes{8};
      entries[0].size = Bytes{kSize};
      auto writer = repack::Writer::begin(Files::real(), frame.descriptors.at(0), whole, entries);
      if (!writer || !writer->add(0, std::vector<std::byte>(kSize))) return false;
      stored.bytes = writer->finish().value_or(Bytes{});
    }
    answer(channel, FrameType::kStored, 0, wire::encode(stored));
    return true;
  }
};

class FrontCompiledTest : public testing::WholeFront {
 protected:
  void open_with(Repacker& repacker) {
    open([&repacker](BlockingChannel& channel, const Frame& frame) {
      return repacker(channel, frame);
    });
  }
  std::size_t files() const {
    std::size_t count = 0;
    const auto names = Files::real().list(directory_.path() + "/compiled");
    for (const std::string& name : names.value_or(std::vector<std::string>{})) {
      if (name.ends_with(".repack")) ++count;
    }
    return count;
  }
  static std::string level(FrontService& service) { return service.model("tiny")->layers[3].level; }

  static Task<void> stores_and_uses(FrontCompiledTest* test, Repacker& repacker) {
    std::string tiny = "tiny", compiled = "compiled", weights = "weights";
    FrontService& service = *test->service_;
    const auto warmed = co_await service.warm(tiny, compiled);
    EXPECT_TRUE(warmed) << warmed.error().message();
    EXPECT_EQ(test->files(), 1u);
    EXPECT_EQ(level(service), "live");
    (void)co_await service.unload(tiny);
    EXPECT_EQ(level(service), "stored");
    (void)co_await service.warm(tiny, weights);
    EXPECT_EQ(repacker.loads.size(), 2u);
    EXPECT_FALSE(repacker.loads[0].stored);
    EXPECT_TRUE(repacker.loads[1].stored);
    EXPECT_TRUE(repacker.loads[1].check_stored);
    const auto preview = co_await service.preview_cool(tiny, compiled);
    EXPECT_GT(preview->freed_bytes, std::int64_t{kSize});
    (void)co_await service.cool(tiny, compiled);
    EXPECT_EQ(test->files(), 0u);
    EXPECT_EQ(repacker.stores, 1);
  }

  static Task<void> builds_anew(FrontCompiledTest* test, Repacker& repacker) {
    std::string tiny = "tiny", compiled = "compiled", weights = "weights";
    FrontService& service = *test->service_;
    (void)co_await service.warm(tiny, compiled);
    (void)co_await service.unload(tiny);
    repacker.refuses = "entry 0 fails its checksum";
    (void)co_await service.warm(tiny, weights);
    while (repacker.stores < 2 || test->files() == 0) co_await test->loop_->sleep(5ms);
    EXPECT_EQ(repacker.stores, 2);
  }

  static Task<void> tells_that_it_is_full(FrontCompiledTest* test) {
    std::string tiny = "tiny", compiled = "compiled";
    const auto warmed = co_await test->service_->warm(tiny, compiled);
    EXPECT_FALSE(warmed);
    EXPECT_EQ(test->files(), 0u);
    const std::string detail = test->service_->model("tiny")->layers[3].detail;
    EXPECT_NE(detail.find("no space"), std::string::npos) << detail;
    EXPECT_EQ(level(*test->service_), "live");
  }
};

TEST_F(FrontCompiledTest, WhatAStartComputedIsStoredAndUsedByTheNext) {
  Repacker repacker;
  open_with(repacker);
  run(stores_and_uses(this, repacker));
}

TEST_F(FrontCompiledTest, WhatAWorkerRefusesIsBuiltAnewByItself) {
  Repacker repacker;
  open_with(repacker);
  run(builds_anew(this, repacker));
}

TEST_F(FrontCompiledTest, AFullDiskCostsTheFileAlone) {
  Repacker repacker;
  repacker.full = true;
  open_with(repacker);
  run(tells_that_it_is_full(this));
}

}  // namespace
}  // namespace hearth::front
