// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_json.h"

#include <gtest/gtest.h>

namespace hearth::front {
namespace {

TEST(PrefixJson, NothingIsKept) {
  EXPECT_EQ(to_json(PrefixView{}),
            R"({"memory":{"bytes":0,"limit":0,"blocks":0},)"
            R"("disk":{"bytes":0,"limit":0,"blocks":0,"written_today":0,"daily_limit":0},)"
            R"("lookups":0,"hit_tokens":0,"missed_tokens":0,"evicted":{"memory":0,"disk":0},)"
            R"("refused":{},"restore":{"memory_bytes_per_s":0,"disk_bytes_per_s":0},)"
            R"("saved_seconds":0,"models":[],"modules":[],"findings":[]})");
}

TEST(PrefixJson, SaysWhatIsKeptOfEachModel) {
  PrefixView view;
  view.figures.memory = Bytes{10};
  view.figures.refused = {{"checksum", 2}, {"io", 1}};
  view.figures.restore_disk_rate = 1.5e9;
  PrefixView::OfModel model;
  model.name = "smol:latest";
  model.live_tokens = 5;
  model.stored = {64, 128, Bytes{10}, Bytes{20}};
  model.slots = {{5, true}, {0, false}};
  view.models.push_back(model);
  model.not_restorable = "its layers are recurrent";
  model.slots.clear();
  view.models.push_back(model);
  const std::string json = to_json(view);
  const std::string first =
      R"({"model":"smol:latest","live_tokens":5,"memory_tokens":64,"disk_tokens":128,)"
      R"("memory_bytes":10,"disk_bytes":20,)"
      R"("slots":[{"tokens":5,"busy":true},{"tokens":0,"busy":false}]})";
  EXPECT_NE(json.find(first), std::string::npos) << json;
  EXPECT_NE(json.find(R"("not_restorable":"its layers are recurrent","slots":[])"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("refused":{"checksum":2,"io":1})"), std::string::npos) << json;
}

TEST(PrefixJson, AFindingHasTextsOnceTheyAreKnown) {
  VolatileHead head;
  head.model = "smol:latest";
  head.position = 12;
  head.requests = 4;
  const std::string unknown = to_json(std::vector{head});
  EXPECT_EQ(unknown.find("\"had\""), std::string::npos);
  EXPECT_NE(unknown.find(R"("code":"prefix.volatile_head","model":"smol:latest","position":12,)"),
            std::string::npos);
  head.character = 80;
  head.had = "\"28";
  head.has = "29";
  const std::string known = to_json(std::vector{head});
  EXPECT_NE(known.find(R"("character":80,"had":"\"28","has":"29","requests":4)"), std::string::npos)
      << known;
  EXPECT_NE(known.find("prefix_normalise"), std::string::npos);
}

}  // namespace
}  // namespace hearth::front
