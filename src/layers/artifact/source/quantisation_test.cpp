// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/quantisation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hearth {
namespace {

struct NameCase {
  std::string file;
  std::string quantisation;
};

class QuantisationInName : public testing::TestWithParam<NameCase> {};

TEST_P(QuantisationInName, IsFound) {
  EXPECT_EQ(quantisation_in(GetParam().file), GetParam().quantisation) << GetParam().file;
}

INSTANTIATE_TEST_SUITE_P(
    Names, QuantisationInName,
    testing::Values(
        NameCase{"Llama-3.2-1B-Instruct-Q4_K_M.gguf", "Q4_K_M"},
        NameCase{"llama-2-7b.Q5_0.gguf", "Q5_0"},
        NameCase{"qwen2.5-0.5b-instruct-q8_0.gguf", "Q8_0"},
        NameCase{"llama_q4_k_s.gguf", "Q4_K_S"}, NameCase{"Model-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"},
        NameCase{"Model-IQ2_XXS.gguf", "IQ2_XXS"}, NameCase{"Model.i1-IQ4_NL.gguf", "IQ4_NL"},
        NameCase{"Model-TQ1_0.gguf", "TQ1_0"}, NameCase{"gpt-oss-20b-MXFP4.gguf", "MXFP4"},
        NameCase{"Model-MXFP4_MOE.gguf", "MXFP4_MOE"},
        NameCase{"Model-BF16-00001-of-00002.gguf", "BF16"}, NameCase{"Model.fp16.gguf", "F16"},
        NameCase{"Model-Q4_0_4_8.gguf", "Q4_0_4_8"},
        NameCase{"Model-Q8_0-f16-embeddings.gguf", "Q8_0"},
        NameCase{"Q3_K_L/Model-00001-of-00003.gguf", "Q3_K_L"},
        NameCase{"Q3_K_L/Model-Q2_K.gguf", "Q2_K"}, NameCase{"report-2024-Q1.gguf", ""},
        NameCase{"Qwen3-8B.gguf", ""}, NameCase{"", ""}, NameCase{".gguf", ""},
        NameCase{"Model-Q4_0_v2.gguf", "Q4_0"}, NameCase{"Model-q4.gguf", "Q4"},
        NameCase{"Model-Q9_0.gguf", ""}, NameCase{"UD-Q4_K_XL", "UD-Q4_K_XL"}));

TEST(Quantisation, IsNamedInAnyCaseOrNotAtAll) {
  EXPECT_EQ(quantisation_named("q4_k_m"), "Q4_K_M");
  EXPECT_EQ(quantisation_named("ud-q4_k_xl"), "UD-Q4_K_XL");
  EXPECT_EQ(quantisation_named("fp16"), "F16");
  EXPECT_EQ(quantisation_named("latest"), std::nullopt);
  EXPECT_EQ(quantisation_named("Q4_K_M.gguf"), std::nullopt);
  EXPECT_EQ(quantisation_named(""), std::nullopt);
  EXPECT_EQ(quantisation_named("UD-"), std::nullopt);
}

TEST(Quantisation, OrderGoesFromFourBitsUpThenDown) {
  const std::vector<std::string> order{"Q4_K_M", "UD-Q4_K_M", "Q4_K_S", "Q4_0", "Q5_K_M",
                                       "Q6_K",   "Q8_0",      "Q3_K_M", "Q2_K", "BF16",
                                       "F16",    "F32",       ""};
  EXPECT_TRUE(std::ranges::is_sorted(order, {}, quantisation_rank));
  EXPECT_EQ(quantisation_rank("IQ2_M"), quantisation_rank("Q2_K"));
}

}  // namespace
}  // namespace hearth
