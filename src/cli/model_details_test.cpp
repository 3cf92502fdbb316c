// SPDX-License-Identifier: Apache-2.0
#include "cli/model_details.h"

#include <gtest/gtest.h>

#include "cli/model_samples.h"

namespace hearth::cli {
namespace {

TEST(ModelDetails, ComeInSections) {
  EXPECT_EQ(model_details(warm_model(), kNow, {.terminal = true}),
            "  Model\n"
            "    name          smollm2:latest\n"
            "    aliases       assistant\n"
            "    status        ok\n"
            "    architecture  llama\n"
            "    parameters    135M\n"
            "    quantization  Q4_1\n"
            "    context       8,192\n"
            "    embedding     576\n"
            "    capabilities  completion, tools\n"
            "    template      the model's own\n"
            "\n"
            "  Memory\n"
            "    keep alive    5m0s, as the last request asked\n"
            "    until         4 minutes from now\n"
            "    last used     never\n"
            "    ttft now      21 ms (18-27)\n"
            "    busy          2 active, 1 queued\n"
            "\n"
            "  Layers\n"
            "    artifact      local            91.3 MiB of 91.3 MiB\n"
            "    pages         resident 99%     91.2 MiB of 91.3 MiB  4 ranges\n"
            "    weights       resident         91.3 MiB of 91.3 MiB\n"
            "    compiled      none\n"
            "    prefix        none\n"
            "\n"
            "  Worker\n"
            "    worker        pid 42, up 1 min 5 s\n"
            "    memory        140 MiB, of it 28.6 MiB private\n"
            "    backend       CPU haswell\n"
            "    engine        b6123\n"
            "    cells         8,192 tokens\n"
            "\n"
            "  Files\n"
            "    size          91.3 MiB\n"
            "    file          /m/smol.gguf\n"
            "    artifact      a1b2\n"
            "    verified      never\n"
            "    imported      2 h ago\n");
}

TEST(ModelDetails, AreKeysAndValuesInAPipe) {
  const std::string details = model_details(cold_model(), kNow, {});
  EXPECT_EQ(details.find("name\tcold:4b\naliases\tassistant\nstatus\tbroken\n"), 0U);
  EXPECT_EQ(details.find("Memory"), std::string::npos);
  EXPECT_NE(details.find("\nkeep alive\t5m0s, as the last request asked\nlast used\t"),
            std::string::npos);
}

TEST(ModelDetails, SayWhoseFilesTheseAreAndWhatTheNameAdds) {
  boost::json::object model = warm_model();
  model["store"] = "hearth";
  model["source"] = "hf.co/org/repo:Q4_0";
  model["shared_bytes"] = 1 << 20;
  model["settings"] = {{"system", "You are a pirate.\nSay arr."},
                       {"parameters", {{"temperature", 0.5}}},
                       {"template", "{{ .Prompt }}"},
                       {"template_runs", false}};
  const std::string details = model_details(model, kNow, {.terminal = true});
  EXPECT_NE(details.find("    shared        1.00 MiB of it with other models\n"),
            std::string::npos);
  EXPECT_NE(details.find("    whose         Hearth's own store\n"), std::string::npos);
  EXPECT_NE(details.find("    pulled from   hf.co/org/repo:Q4_0\n"), std::string::npos);
  EXPECT_NE(details.find("  Settings\n    system        You are a pirate. ...\n"),
            std::string::npos);
  EXPECT_NE(details.find("    temperature   5E-1\n"), std::string::npos);
  EXPECT_NE(details.find("    template      not Jinja, so only shown; the file's is used\n"),
            std::string::npos);
}

TEST(ContentDetails, PutBlocksThatAreAlikeIntoOneLine) {
  const auto layer = [](const char* name, std::int64_t bytes) {
    return boost::json::object{{"layer", name}, {"bytes", bytes}};
  };
  boost::json::object content;
  content["need"] = {{"weights_bytes", 100 << 20},
                     {"kv_bytes", 10 << 20},
                     {"kv_context", 8192},
                     {"total_bytes", 110 << 20}};
  content["layers"] = boost::json::array{layer("token_embd", 30 << 20), layer("blk.0", 1 << 20),
                                         layer("blk.1", 1 << 20), layer("blk.2", 2 << 20),
                                         layer("output", 1 << 20)};
  EXPECT_EQ(content_details(content, {.terminal = true}),
            "  A load needs\n"
            "    weights       100 MiB\n"
            "    KV cache      10.0 MiB for 8,192 tokens\n"
            "    in all        110 MiB\n"
            "\n"
            "  Tensors\n"
            "    token_embd    30.0 MiB\n"
            "    blk.0         1.00 MiB each, 2 of them\n"
            "    blk.2         2.00 MiB\n"
            "    output        1.00 MiB\n");
}

TEST(ModelDetails, AStrangersTextCannotSteerTheTerminal) {
  boost::json::object model = warm_model();
  model["license"] = "MIT\033]0;owned\007\nline two";
  const std::string details = model_details(model, kNow, {.terminal = true});
  EXPECT_EQ(details.find('\033'), std::string::npos);
  EXPECT_NE(details.find("license       MIT]0;owned line two\n"), std::string::npos);
}

}  // namespace
}  // namespace hearth::cli
