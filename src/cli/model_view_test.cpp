// SPDX-License-Identifier: Apache-2.0
#include "cli/model_view.h"

#include <gtest/gtest.h>

#include "cli/model_samples.h"

namespace hearth::cli {
namespace {

TEST(ModelView, ListsModels) {
  EXPECT_EQ(
      models_table({warm_model(), cold_model()}, kNow, {.terminal = true, .width = 120}),
      "NAME                SIZE  QUANT  PARAMS  CONTEXT  LAST USED  STATUS\n"
      "smollm2:latest  91.3 MiB  Q4_1     135M    8,192  never      ok\n"
      "cold:4b         91.3 MiB  Q4_1     135M    8,192  2 h ago    broken: the header is cut "
      "off\n");
}

TEST(ModelView, ListsLevels) {
  EXPECT_EQ(
      levels_table({warm_model(), cold_model()}, {}, kNow, {}),
      "NAME\tARTIFACT\tPAGES\tWEIGHTS\tCOMPILED\tPREFIX\tMEMORY\tCONTEXT\tTTFT NOW\tUNTIL\tBUSY\n"
      "smollm2:latest\tlocal\tresident 99%\tresident\tnone\tnone\t140 MiB\t8,192\t21 ms (18-27)\t"
      "4 minutes from now\t2 active, 1 queued\n"
      "cold:4b\tlocal\tresident 1%\tnone\tnone\tnone\t-\t-\t~2.10 s (0.7-6.3)\t-\t-\n");
  EXPECT_EQ(levels_table({}, {}, kNow, {}), "");
}

TEST(ModelView, ANarrowTerminalShowsWhatMattersMost) {
  EXPECT_EQ(levels_table({warm_model()}, {}, kNow, {.terminal = true, .width = 70}),
            "NAME            PAGES         WEIGHTS    MEMORY  UNTIL\n"
            "smollm2:latest  resident 99%  resident  140 MiB  4 minutes from now\n");
}

TEST(ModelView, ABrokenPromiseStandsUnderItsModel) {
  const ModelNotes notes{{"smollm2:latest", "30 ms cannot be met"}, {"nobody:latest", "?"}};
  EXPECT_EQ(levels_table({warm_model()}, notes, kNow, {.terminal = true, .width = 70}),
            "NAME            PAGES         WEIGHTS    MEMORY  UNTIL\n"
            "smollm2:latest  resident 99%  resident  140 MiB  4 minutes from now\n"
            "  30 ms cannot be met\n");
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

TEST(ModelView, SaysWhatIsPinned) {
  boost::json::object model = warm_model();
  EXPECT_EQ(pins_sentence(model, ""), "smollm2:latest: nothing is pinned\n");
  model["pinned"] = {"weights", "pages"};
  EXPECT_EQ(pins_sentence(model, "weights"),
            "smollm2:latest: weights and pages are pinned; weights resident\n");
}

TEST(ModelView, CountsWhatIsThereAfterALook) {
  EXPECT_EQ(rescanned_sentence(0), "0 models are listed now\n");
  EXPECT_EQ(rescanned_sentence(1), "1 model is listed now\n");
  EXPECT_EQ(rescanned_sentence(12), "12 models are listed now\n");
}

}  // namespace
}  // namespace hearth::cli
