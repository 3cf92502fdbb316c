// SPDX-License-Identifier: Apache-2.0
#include "cli/model_fields.h"

#include <gtest/gtest.h>

#include "cli/model_samples.h"

namespace hearth::cli {
namespace {

struct UntilCase {
  const char* label;
  const char* change;  // fields over the warm sample's
  const char* until;
};
class UntilText : public testing::TestWithParam<UntilCase> {};
TEST_P(UntilText, SaysHowLongWeightsStay) {
  boost::json::object model = warm_model();
  const boost::json::value change = boost::json::parse(GetParam().change);
  for (const auto& field : change.get_object()) model[field.key()] = field.value();
  EXPECT_EQ(until_text(model, kNow), GetParam().until);
}
INSTANTIATE_TEST_SUITE_P(
    Models, UntilText,
    testing::Values(UntilCase{"Expires", "{}", "4 minutes from now"},
                    UntilCase{"Overdue", R"({"expires_at_us":1700000000000000})", "in a moment"},
                    UntilCase{"Busy", R"({"expires_at_us":null})", "5m0s after use"},
                    UntilCase{"Wanted", R"({"expires_at_us":null,"keep_alive":"-1"})",
                              "until wanted"},
                    UntilCase{"Pinned", R"({"pinned":["pages","weights"]})", "pinned"},
                    UntilCase{"PagesPinned", R"({"pinned":["pages"]})", "4 minutes from now"},
                    UntilCase{"Hollow", R"({"layers":{"weights":{"level":"hollow"}}})", "-"},
                    UntilCase{"OldServer", R"({"expires_at_us":null,"keep_alive":null})", "-"}),
    [](const auto& test) { return test.param.label; });

TEST(KeepAliveText, SaysWhoSaysSo) {
  boost::json::object model = warm_model();
  EXPECT_EQ(keep_alive_text(model), "5m0s, as the last request asked");
  model["keep_alive_source"] = "OLLAMA_KEEP_ALIVE";
  EXPECT_EQ(keep_alive_text(model), "5m0s, from OLLAMA_KEEP_ALIVE");
  model["keep_alive_source"] = "configuration";
  EXPECT_EQ(keep_alive_text(model), "5m0s, from the configuration");
  model["keep_alive_source"] = "default";
  model["keep_alive"] = "-1";
  EXPECT_EQ(keep_alive_text(model), "until wanted, the default");
  EXPECT_EQ(keep_alive_text({}), "-");
}

}  // namespace
}  // namespace hearth::cli
