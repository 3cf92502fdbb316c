// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/circumstances.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "lab/doctor/past_reply.h"

namespace hearth::lab {
namespace {

using namespace literals;

boost::json::object object(const char* text) { return parse_json(text)->as_object(); }

TEST(Circumstances, AreReadFromAnswers) {
  Circumstances facts;
  add_version(facts, object(R"({"layers": {"pages": "on", "prefix": "off"}, "devices": [
    {"name": "sda", "kind": "ssd", "file_system": "ext4", "read_ahead_bytes": 131072,
     "rates": [{"bytes_per_s": 100}, {"bytes_per_s": 900.5}]}]})"));
  add_memory(facts, object(R"({"limit_bytes": 1024, "limit_reason": "as configured",
    "machine": {"total": 4096, "available": null}, "cgroup": null, "pressure": {}})"));
  add_models(facts, object(R"({"models": [{"name": "a", "size": 10, "keep_alive": "5m",
    "keep_alive_source": "default", "pinned": ["weights"], "store": "user",
    "need": {"weights_bytes": 1, "mapped_bytes": 2, "context_bytes": 3, "compute_bytes": 4},
    "layers": {"compiled": {"bytes": 5}}}, {"name": "b"}]})"));
  add_configuration(facts, object(R"({"options": [{"name": "queue", "value": 5, "source": "file",
    "origin": "hearth.toml:1"}, {"name": "data", "value": "", "source": "default"}]})"));
  add_prefix(facts, object(R"({"memory": {"bytes": 1, "limit": 2}, "disk": {},
    "findings": [{"model": "a", "text": "t", "remedy": "r", "requests": 3}]})"));
  ASSERT_EQ(facts.disks.size(), 1U);
  EXPECT_DOUBLE_EQ(*facts.disks.front().bytes_per_s, 900.5);
  EXPECT_EQ(facts.layers_off, std::vector<std::string>{"prefix"});
  EXPECT_EQ(facts.memory.limit, 1_KiB);
  EXPECT_FALSE(facts.memory.available);
  EXPECT_FALSE(facts.memory.cgroup_limit);
  ASSERT_NE(facts.model("a"), nullptr);
  EXPECT_EQ(facts.model("a")->need, Bytes{10});
  EXPECT_EQ(facts.model("b")->need, std::nullopt);
  ASSERT_EQ(facts.options.size(), 1U);
  EXPECT_EQ(facts.options.front().value, "5");
  EXPECT_EQ(facts.volatile_heads.front().requests, 3);
  EXPECT_EQ(to_json(facts).at("memory").at("limit_bytes").to_number<int>(), 1024);
}

TEST(Circumstances, OtherAnswersAreNoCrash) {
  Circumstances facts;
  for (const char* text : {"{}", R"({"devices": 1, "layers": [], "models": [1, null],
       "options": {"a": 1}, "machine": "x", "findings": [2]})"}) {
    add_version(facts, object(text));
    add_memory(facts, object(text));
    add_models(facts, object(text));
    add_configuration(facts, object(text));
    add_prefix(facts, object(text));
  }
  EXPECT_TRUE(facts.models.empty() && facts.disks.empty());
  EXPECT_FALSE(to_json(facts).empty());
}

TEST(Circumstances, SwapAndKillsAreReadFromTheKernelsTexts) {
  const auto swaps = swaps_in(
      "Filename\tType\tSize\tUsed\tPriority\n"
      "/dev/zram0 partition 2048 1024 100\n/swap.img file 4096 0 -2\nbroken\n");
  ASSERT_EQ(swaps.size(), 2U);
  EXPECT_TRUE(swaps[0].compressed);
  EXPECT_EQ(swaps[0].used, 1_MiB);
  EXPECT_FALSE(swaps[1].compressed);
  EXPECT_EQ(killed_in("a 1\noom_kill 4\n"), 4);
  EXPECT_FALSE(killed_in("a 1\n"));
}

TEST(PastReply, KnowsWhatItWasBlamedOnAndWhatItRead) {
  const auto reply = past_reply_of(object(R"({"model": "a", "class": "storage-cold",
    "outcome": "ok", "started_us": 77, "verdict": {"code": "pages.dropped", "cost_ms": 12.5,
    "text": "so"}, "stages": [{"name": "read", "ms": 10, "bytes": 2048}, {"name": "load", "ms": 9},
    {"name": "read", "ms": 5, "bytes": 1024}]})"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, "pages.dropped");
  EXPECT_EQ(reply->started_us, 77);
  EXPECT_EQ(reply->read, 3_KiB);
  EXPECT_DOUBLE_EQ(reply->read_ms, 15);
}

TEST(PastReply, WhatMetNoCacheIsNone) {
  EXPECT_FALSE(past_reply_of(object(R"({"model": "a", "outcome": "ok"})")));
  EXPECT_FALSE(past_reply_of(object(R"({"class": "warm", "outcome": "ok"})")));
  EXPECT_FALSE(past_reply_of(object(R"({"model": "a", "class": "warm", "outcome": "error"})")));
  EXPECT_FALSE(past_reply_of(
      object(R"({"model": "a", "class": "load-cold", "outcome": "ok", "prompt_tokens": 0})")));
  EXPECT_FALSE(past_reply_of({}));
}

}  // namespace
}  // namespace hearth::lab
