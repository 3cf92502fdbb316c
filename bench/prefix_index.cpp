// SPDX-License-Identifier: Apache-2.0
//
// What BlockTier finds of a trace of prompts, beside a least-recently-used list of the same size,
// and how fast it looks up. A trace has a JSON object a line, whose `hash_ids` name the blocks of
// one prompt, as Mooncake's do; all blocks count as one byte.
//
//   hearth-bench-prefix-index TRACE.jsonl [BLOCKS...]        or, packed:
//   zcat TRACE.jsonl.gz | hearth-bench-prefix-index - [BLOCKS...]
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <list>
#include <ranges>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/sha256.h"
#include "layers/prefix/block_tier.h"

namespace hearth {
namespace {

struct Prompt {
  std::vector<std::int64_t> ids;
  std::vector<Digest> chain;
};
using Trace = std::vector<Prompt>;

struct Found {
  double hits = 0;
  double blocks = 0;
  double rate() const { return blocks > 0 ? hits / blocks : 0; }
};

Result<Trace> read_trace(std::istream& in) {
  Trace trace;
  for (std::string line; std::getline(in, line);) {
    const auto parsed = parse_json(line);
    if (!parsed) return Failed{parsed.error()};
    const auto* object = parsed->if_object();
    const auto* ids = object == nullptr ? nullptr : object->if_contains("hash_ids");
    if (ids == nullptr || !ids->is_array()) return fail(ErrorCode::kInvalid, "no hash_ids");
    Prompt& prompt = trace.emplace_back();
    for (const auto& id : ids->get_array()) {
      prompt.ids.push_back(id.is_int64() ? id.get_int64() : 0);
      Sha256 hash;
      prompt.chain.push_back(hash.add(std::to_string(prompt.ids.back())).finish());
    }
  }
  return trace;
}

Found replay_lru(const Trace& trace, std::size_t most) {
  std::list<std::int64_t> by_age;  // oldest first
  std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> by_id;
  Found found;
  for (const Prompt& prompt : trace) {
    const auto missing = std::ranges::find_if_not(
        prompt.ids, [&by_id](std::int64_t id) { return by_id.contains(id); });
    found.hits += static_cast<double>(missing - prompt.ids.begin());
    found.blocks += static_cast<double>(prompt.ids.size());
    // Last block first, so that it is the older and goes first.
    for (const std::int64_t id : prompt.ids | std::views::reverse) {
      const auto known = by_id.find(id);
      if (known != by_id.end()) {
        by_age.splice(by_age.end(), by_age, known->second);
      } else {
        by_id.emplace(id, by_age.insert(by_age.end(), id));
      }
    }
    for (; by_id.size() > most; by_age.pop_front()) by_id.erase(by_age.front());
  }
  return found;
}

Found replay(const Trace& trace, BlockTier& tier) {
  Found found;
  for (const Prompt& prompt : trace) {
    const std::size_t here = tier.leading(prompt.chain);
    found.hits += static_cast<double>(here);
    found.blocks += static_cast<double>(prompt.chain.size());
    tier.note_use(prompt.chain);
    for (std::size_t i = here; i < prompt.chain.size(); ++i) {
      const Digest parent = i == 0 ? Digest{} : prompt.chain[i - 1];
      tier.add(prompt.chain[i], parent, Bytes{1}, BlockTier::Stay::kAsLongAsWorth);
      if (!tier.has(prompt.chain[i])) break;
    }
  }
  return found;
}

// Of this thread: what others do on the machine is left out.
double processor_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Of all prompts, several times over.
double lookups_per_s(const Trace& trace, const BlockTier& tier) {
  const double begun = processor_s();
  std::size_t lookups = 0, found = 0;
  do {
    for (const Prompt& prompt : trace) found += tier.leading(prompt.chain);
    lookups += trace.size();
  } while (processor_s() - begun < 1);
  const double took = processor_s() - begun;
  return found == 0 ? 0 : static_cast<double>(lookups) / took;
}

void compare(const Trace& trace, std::size_t blocks) {
  BlockTier tier{Bytes{blocks}};
  const double begun = processor_s();
  const Found found = replay(trace, tier);
  const double took = processor_s() - begun;
  fmt::print("{:>8} blocks: hit rate {:.4f}, lru {:.4f}; {:.0f} lookups/s, {:.0f} requests/s\n",
             blocks, found.rate(), replay_lru(trace, blocks).rate(), lookups_per_s(trace, tier),
             static_cast<double>(trace.size()) / took);
}

int run(std::istream& in, std::vector<std::size_t> sizes) {
  const auto trace = read_trace(in);
  if (!trace || trace->empty()) {
    fmt::print("{}\n", trace ? "empty" : trace.error().message());
    return EXIT_FAILURE;
  }
  if (sizes.empty()) sizes = {8'000, 30'000};
  for (const std::size_t size : sizes) compare(*trace, size);
  BlockTier all{Bytes{~std::uint64_t{0}}};
  const Found found = replay(*trace, all);
  fmt::print("{:>8} blocks, all there are: hit rate {:.4f}; {:.0f} lookups/s of whole chains\n",
             all.blocks(), found.rate(), lookups_per_s(*trace, all));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "-";
  std::vector<std::size_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (path == "-") return hearth::run(std::cin, std::move(sizes));
  std::ifstream file{path};
  return hearth::run(file, std::move(sizes));
}
