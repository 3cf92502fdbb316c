// SPDX-License-Identifier: Apache-2.0
#include "cli/memory_view.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/display_width.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kMemory = R"({
  "limit_bytes": 440401920, "limit_reason": "as configured", "held_bytes": 234881024,
  "promised_bytes": 20971520, "free_bytes": 184549376, "over_bytes": 0,
  "machine": {"total": 8589934592, "available": 4294967296, "reserve": 429496729,
              "swap_used": 1048576},
  "cgroup": {"path": "/hearth", "version": 2, "limit": 2147483648, "used": 536870912,
             "unreclaimable": 268435456},
  "pressure": {"memory_some_avg10": 3.2, "cpu_some_avg10": null},
  "held": [{"what": "hollow", "model": "gemma:latest", "bytes": 52428800},
           {"what": "kv", "model": "smollm2:latest", "bytes": 23068672},
           {"what": "weights", "model": "smollm2:latest", "bytes": 157286400},
           {"what": "moon", "model": "smollm2:latest", "bytes": 1048576},
           {"what": "prefix", "model": null, "bytes": 1048576}],
  "devices": [{"name": "Vulkan0", "limit": 8589934592, "held": 1073741824},
              {"name": "GPU1", "limit": null, "held": 0}],
  "page_cache": {"ours": 351479552, "of_files": 9359716352}})";

boost::json::object memory() { return boost::json::parse(kMemory).get_object(); }

TEST(MemoryView, InAPipe) {
  EXPECT_EQ(
      memory_view(memory(), {}),
      "budget    224 MiB held, 20.0 MiB promised to loads, 176 MiB free of 420 MiB\n"
      "limit     420 MiB: as configured\n"
      "machine   8.00 GiB, 4.00 GiB available; 410 MiB of it are kept for others; 1.00 MiB of swap "
      "are used\n"
      "cgroup    /hearth: 512 MiB of 2.00 GiB used, 256 MiB of it cannot be reclaimed\n"
      "device    Vulkan0: 1.00 GiB held of 8.00 GiB\n"
      "device    GPU1: 0 B held\n"
      "pressure  something waited for memory 3% of the last 10 s\n"
      "cache     335 MiB of models' files, of 8.72 GiB of all files; the kernel takes it when it "
      "wants to\n"
      "\n"
      "HELD\tBYTES\tOF THE LIMIT\n"
      "weights\t150 MiB\t36%\n"
      "kv\t22.0 MiB\t5%\n"
      "prefix\t1.00 MiB\t1%\n"
      "hollow\t50.0 MiB\t12%\n"
      "other\t1.00 MiB\t1%\n"
      "promised\t20.0 MiB\t5%\n"
      "free\t176 MiB\t42%\n"
      "\n"
      "MODEL\tALL\tWEIGHTS\tREPACKED\tKV\tCOMPUTE\tPREFIX\tPINS\tHOLLOW\tOTHER\n"
      "gemma:latest\t50.0 MiB\t-\t-\t-\t-\t-\t-\t50.0 MiB\t-\n"
      "smollm2:latest\t173 MiB\t150 MiB\t-\t22.0 MiB\t-\t-\t-\t-\t1.00 MiB\n"
      "(no model)\t1.00 MiB\t-\t-\t-\t-\t1.00 MiB\t-\t-\t-\n");
}

TEST(MemoryView, IsAPictureOnATerminal) {
  const std::string view = memory_view(memory(), {.terminal = true, .width = 52});
  EXPECT_NE(view.find("          wwwwwwwwwwwwwwkkphhhhho++.................\n"), std::string::npos)
      << view;
  EXPECT_NE(view.find("          #+.RR-------------------------------------\n"), std::string::npos)
      << view;
  EXPECT_NE(view.find("w weights"), std::string::npos) << view;
  EXPECT_EQ(view.find("REPACKED"), std::string::npos) << "nobody has any";
}

TEST(MemoryView, KeepsWithinTheTerminal) {
  for (const std::size_t width : {40U, 60U, 80U, 120U}) {
    std::istringstream lines{memory_view(memory(), {.terminal = true, .width = width})};
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width);
  }
}

TEST(MemoryView, SaysThatMoreIsHeldThanMayBe) {
  boost::json::object over = memory();
  over["over_bytes"] = 10485760;
  over["free_bytes"] = 0;
  const std::string view = memory_view(over, {.terminal = true, .colour = true});
  EXPECT_NE(view.find("\033[31mover      \033[0m10.0 MiB more than the limit"), std::string::npos)
      << view;
}

TEST(MemoryView, WithoutFiguresOfTheKernel) {
  const auto bare = boost::json::parse(R"({"limit_bytes": null, "held_bytes": 0, "free_bytes": null,
      "machine": {"total": null, "available": null, "reserve": 0, "swap_used": null},
      "cgroup": null, "pressure": {"memory_some_avg10": null}, "held": [], "devices": [],
      "page_cache": {"ours": 0, "of_files": null}})");
  EXPECT_EQ(memory_view(bare.get_object(), {.terminal = true}),
            "budget    0 B held; no limit is known\n"
            "cache     0 B of models' files\n");
  EXPECT_FALSE(memory_view({}, {}).empty());
}

TEST(MemoryView, NamesCannotSteerTheTerminal) {
  boost::json::object answer = memory();
  answer["limit_reason"] = "\033[2Jred";
  answer["held"].get_array()[0].get_object()["model"] = "a\033[31m";
  EXPECT_EQ(memory_view(answer, {.terminal = true}).find('\033'), std::string::npos);
}

}  // namespace
}  // namespace hearth::cli
