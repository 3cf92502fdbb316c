// SPDX-License-Identifier: Apache-2.0
#include "worker/module_splices.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "blocks/block_chain.h"

namespace hearth::worker {
namespace {

using engine::Token;
using Tokens = std::span<const Token>;
constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);
constexpr int kFirstBlock = 1;
constexpr std::uint64_t kBase = 1099511628211;

// Of as many tokens as a block has; the next window's follows from it.
class RollingHash {
 public:
  explicit RollingHash(Tokens window) {
    for (const Token token : window) value_ = value_ * kBase + digit(token);
    for (int i = 1; i < kBlock; ++i) highest_ *= kBase;
  }
  void roll(Token gone, Token come) {
    value_ = (value_ - digit(gone) * highest_) * kBase + digit(come);
  }
  std::uint64_t value() const { return value_; }

 private:
  static std::uint64_t digit(Token token) { return static_cast<std::uint32_t>(token) + 1ULL; }

  std::uint64_t value_ = 0;
  std::uint64_t highest_ = 1;
};

Tokens tokens_at(Tokens tokens, int first) {
  return tokens.subspan(static_cast<std::size_t>(first), blocks::kBlockTokens);
}

class Finder {
 public:
  Finder(Tokens prompt, std::span<const SpliceSource> modules)
      : prompt_{prompt}, modules_{modules} {
    for (std::size_t m = 0; m < modules.size(); ++m) {
      for (int block = kFirstBlock; block < blocks_of(modules[m]); ++block) {
        const Tokens tokens = tokens_at(modules[m].tokens, block * kBlock);
        known_.try_emplace(RollingHash{tokens}.value(), Splice{0, static_cast<int>(m), block, 1});
      }
    }
  }

  std::vector<Splice> find(int from) const {
    std::vector<Splice> found;
    const int end = static_cast<int>(prompt_.size()) - 1;  // the last token stays out
    int at = std::max(from, 0);
    while (!known_.empty() && at + kBlock <= end) {
      const auto next = next_block(at, end);
      if (!next) break;
      found.push_back(whole_run(*next, end));
      at = found.back().position + found.back().count * kBlock;
    }
    return found;
  }

 private:
  static int blocks_of(const SpliceSource& module) {
    return std::min(module.blocks, static_cast<int>(module.tokens.size()) / kBlock);
  }
  bool matches(int position, int module, int block) const {
    const SpliceSource& source = modules_[static_cast<std::size_t>(module)];
    if (block >= blocks_of(source)) return false;
    return std::ranges::equal(tokens_at(prompt_, position),
                              tokens_at(source.tokens, block * kBlock));
  }
  std::optional<Splice> next_block(int at, int end) const {
    RollingHash hash{tokens_at(prompt_, at)};
    for (;; ++at) {
      const auto found = known_.find(hash.value());
      if (found != known_.end() && matches(at, found->second.module, found->second.block)) {
        Splice splice = found->second;
        splice.position = at;
        return splice;
      }
      if (at + 1 + kBlock > end) return std::nullopt;
      hash.roll(prompt_[static_cast<std::size_t>(at)],
                prompt_[static_cast<std::size_t>(at + kBlock)]);
    }
  }
  Splice whole_run(Splice splice, int end) const {
    for (;;) {
      const int position = splice.position + splice.count * kBlock;
      if (position + kBlock > end) return splice;
      if (!matches(position, splice.module, splice.block + splice.count)) return splice;
      ++splice.count;
    }
  }

  Tokens prompt_;
  std::span<const SpliceSource> modules_;
  std::unordered_map<std::uint64_t, Splice> known_;
};

}  // namespace

std::vector<Splice> find_splices(Tokens prompt, std::span<const SpliceSource> modules, int from) {
  return Finder{prompt, modules}.find(from);
}

}  // namespace hearth::worker
