// SPDX-License-Identifier: Apache-2.0
#include "cli/model_view.h"

#include <gtest/gtest.h>

namespace hearth::cli {
namespace {

constexpr std::int64_t kNow = 1'700'007'200'000'000;

boost::json::object warm_model() {
  return boost::json::parse(R"({
    "name": "smollm2:latest", "artifact": "a1b2", "status": "ok", "paths": ["/m/smol.gguf"],
    "size": 95700000, "imported_at_us": 1700000000000000, "last_used_us": 0,
    "architecture": "llama", "quantization": "Q4_1", "parameters": 134515008,
    "trained_context": 8192, "embedding_length": 576, "has_chat_template": true,
    "license": null,
    "layers": {
      "artifact": {"level": "local", "fraction": 1, "bytes": 95700000, "total": 95700000},
      "pages": {"level": "resident", "fraction": 0.998, "bytes": 95600000, "total": 95700000,
                "detail": "4 ranges"},
      "weights": {"level": "resident", "fraction": 1, "bytes": 95700000, "total": 95700000},
      "compiled": {"level": "none", "fraction": 0, "bytes": 0, "total": 0},
      "prefix": {"level": "none", "fraction": 0, "bytes": 0, "total": 0}},
    "worker": {"pid": 42, "uptime_ms": 65000, "resident_bytes": 147000000,
               "anonymous_bytes": 30000000, "device_bytes": 0, "backend": "CPU haswell",
               "engine": "b6123", "context": 8192},
    "predicted_ttft_ms": 21.4, "active": 2, "queued": 1})")
      .get_object();
}

boost::json::object cold_model() {
  boost::json::object model = warm_model();
  model.erase("worker");
  model.erase("predicted_ttft_ms");
  model["name"] = "cold:4b";
  model["active"] = model["queued"] = 0;
  model["status"] = "broken";
  model["reason"] = "the header is cut off";
  model["last_used_us"] = 1'700'000'000'000'000;
  auto& layers = model["layers"].get_object();
  layers["pages"] = {{"level", "resident"}, {"fraction", 0.002}};
  layers["weights"] = {{"level", "none"}};
  return model;
}

TEST(ModelView, ListsModels) {
  EXPECT_EQ(
      models_table({warm_model(), cold_model()}, kNow, {.terminal = true}),
      "NAME                SIZE  QUANT  PARAMS  CONTEXT  LAST USED  STATUS\n"
      "smollm2:latest  91.3 MiB  Q4_1     135M    8,192  never      ok\n"
      "cold:4b         91.3 MiB  Q4_1     135M    8,192  2 h ago    broken: the header is cut "
      "off\n");
}

TEST(ModelView, ListsLevels) {
  EXPECT_EQ(levels_table({warm_model(), cold_model()}, {}),
            "NAME\tARTIFACT\tPAGES\tWEIGHTS\tCOMPILED\tPREFIX\tMEMORY\tTTFT NOW\tBUSY\n"
            "smollm2:latest\tlocal\tresident 99%\tresident\tnone\tnone\t140 MiB\t21 ms\t"
            "2 active, 1 queued\n"
            "cold:4b\tlocal\tresident 1%\tnone\tnone\tnone\t-\t-\t-\n");
  EXPECT_EQ(levels_table({}, {}), "");
}

TEST(ModelView, ShowsOneModel) {
  EXPECT_EQ(model_details(warm_model(), kNow, {.terminal = true}),
            "name          smollm2:latest\n"
            "status        ok\n"
            "size          91.3 MiB\n"
            "architecture  llama\n"
            "quantization  Q4_1\n"
            "parameters    135M\n"
            "context       8,192\n"
            "embedding     576\n"
            "template      the model's own\n"
            "artifact      a1b2\n"
            "file          /m/smol.gguf\n"
            "imported      2 h ago\n"
            "last used     never\n"
            "ttft now      21 ms\n"
            "busy          2 active, 1 queued\n"
            "artifact      local            91.3 MiB of 91.3 MiB\n"
            "pages         resident 99%     91.2 MiB of 91.3 MiB  4 ranges\n"
            "weights       resident         91.3 MiB of 91.3 MiB\n"
            "compiled      none\n"
            "prefix        none\n"
            "worker        pid 42, up 1 min 5 s\n"
            "memory        140 MiB, of it 28.6 MiB private\n"
            "backend       CPU haswell\n"
            "engine        b6123\n"
            "cells         8,192 tokens\n");
}

TEST(ModelView, ColdMeansThatNothingIsInMemory) {
  EXPECT_FALSE(is_stone_cold(warm_model()));
  EXPECT_TRUE(is_stone_cold(cold_model()));
  EXPECT_TRUE(is_stone_cold({}));
  boost::json::object in_pages = cold_model();
  in_pages["layers"].get_object()["pages"] = {{"level", "resident"}, {"fraction", 0.5}};
  EXPECT_FALSE(is_stone_cold(in_pages));
  boost::json::object in_prefix = cold_model();
  in_prefix["layers"].get_object()["prefix"] = {{"level", "in RAM"}};
  EXPECT_FALSE(is_stone_cold(in_prefix));
}

TEST(ModelView, SaysWhatAChangeLedTo) {
  EXPECT_EQ(level_sentence(warm_model(), "pages"),
            "smollm2:latest: pages resident 99%, the worker holds 140 MiB\n");
  EXPECT_EQ(level_sentence(cold_model(), "weights"), "cold:4b: weights none\n");
}

TEST(ModelView, AStrangersTextCannotSteerTheTerminal) {
  boost::json::object model = warm_model();
  model["license"] = "MIT\033]0;owned\007\nline two";
  const std::string details = model_details(model, kNow, {.terminal = true});
  EXPECT_EQ(details.find('\033'), std::string::npos);
  EXPECT_NE(details.find("license       MIT]0;owned line two\n"), std::string::npos);
}

}  // namespace
}  // namespace hearth::cli
