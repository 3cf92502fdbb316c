// SPDX-License-Identifier: Apache-2.0
#include "worker/prefix_work.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "blocks/block_chain.h"

namespace hearth::worker {

using blocks::kBlockTokens;

Result<Digest> digest_from_hex(std::string_view text) {
  Digest digest{};
  if (text.size() != 2 * digest.size()) return fail(ErrorCode::kCorrupt, "domain: no digest");
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, digest[i], 16);
    if (error != std::errc{} || end != at + 2) {
      return fail(ErrorCode::kCorrupt, "domain: no digest");
    }
  }
  return digest;
}

namespace {

Result<> add_blocks(StoredPrefix& to, const std::vector<wire::PrefixPlanMessage::Stored>& blocks,
                    std::vector<Fd>& files) {
  for (const wire::PrefixPlanMessage::Stored& from : blocks) {
    StoredPrefix::Block block{from.tier, from.place, Fd{}, from.size};
    if (from.tokens > 0) block.tokens = from.tokens;
    const bool follows = to.covered() == static_cast<int>(to.blocks.size() * kBlockTokens);
    if (!follows || block.tokens > static_cast<int>(kBlockTokens)) {
      return fail(ErrorCode::kCorrupt, "stored: a part in the middle, or of more than a block");
    }
    if (from.tier == wire::BlockTier::kDisk) {
      const auto place = static_cast<std::size_t>(from.place);
      if (place >= files.size() || !files[place]) {
        return fail(ErrorCode::kCorrupt, "stored: no descriptor came");
      }
      block.file = std::move(files[place]);
    }
    to.blocks.push_back(std::move(block));
  }
  if (static_cast<std::size_t>(to.covered()) > to.tokens.size()) {
    return fail(ErrorCode::kCorrupt, "stored: more blocks than the text has");
  }
  return {};
}

}  // namespace

Result<> PrefixWork::add(const wire::PrefixPlanMessage& plan, std::vector<Fd> files,
                         const Request& request) {
  if (stored.tokens.empty()) {
    auto root = digest_from_hex(request.domain);
    if (!root) return Failed{std::move(root).error()};
    stored.root = *root;
    stored.tokens = request.prompt;
  }
  if (auto added = add_blocks(stored, plan.stored, files); !added) return added;
  for (const wire::PrefixPlanMessage::Module& from : plan.modules) {
    StoredPrefix& module = modules.emplace_back();
    module.root = stored.root;
    module.tokens = from.tokens;
    if (auto added = add_blocks(module, from.stored, files); !added) return added;
  }
  keep_from = plan.keep_from;
  keep = plan.keep;
  keep_limit = plan.keep_limit;
  both_ways = plan.both_ways;
  return {};
}

std::optional<wire::PrefixOutcome::Difference> explain(
    const wire::PrefixPlanMessage::Difference& difference, const Request& request,
    const engine::Vocabulary& vocabulary) {
  using engine::ShowSpecial;
  const auto position = static_cast<std::size_t>(difference.position);
  if (position >= request.prompt.size() || !vocabulary.contains(difference.token)) {
    return std::nullopt;
  }
  const std::span<const engine::Token> prompt{request.prompt};
  const engine::Token earlier = difference.token;
  wire::PrefixOutcome::Difference words;
  words.position = difference.position;
  words.character =
      static_cast<int>(vocabulary.text(prompt.first(position), ShowSpecial::kYes).size());
  words.had = vocabulary.text({&earlier, 1}, ShowSpecial::kYes);
  words.has = vocabulary.text(prompt.subspan(position, 1), ShowSpecial::kYes);
  return words;
}

}  // namespace hearth::worker
