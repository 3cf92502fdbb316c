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
            "    ttft now      21 ms\n"
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
            "  File\n"
            "    size          91.3 MiB\n"
            "    artifact      a1b2\n"
            "    file          /m/smol.gguf\n"
            "    imported      2 h ago\n");
}

TEST(ModelDetails, AreKeysAndValuesInAPipe) {
  const std::string details = model_details(cold_model(), kNow, {});
  EXPECT_EQ(details.find("name\tcold:4b\naliases\tassistant\nstatus\tbroken\n"), 0U);
  EXPECT_EQ(details.find("Memory"), std::string::npos);
  EXPECT_NE(details.find("\nkeep alive\t5m0s, as the last request asked\nlast used\t"),
            std::string::npos);
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
