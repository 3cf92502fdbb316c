// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "blocks/block_chain.h"
#include "front/prefix/prefix_room_state.h"
#include "wire/frame.h"

namespace hearth::front {
namespace {

constexpr std::size_t kMostKept = 512;                 // blocks of one request
constexpr std::size_t kMostFiles = 1024;               // open at once for one request
constexpr std::size_t kExactBlocks = 8;                // in a micro-batch of the engine
constexpr std::size_t kFoundKept = 512;                // requests
constexpr Bytes kFirstKeep{std::uint64_t{64} << 20};   // while nobody knows a block's size
constexpr Bytes kLeastBlock{std::uint64_t{64} << 10};  // likewise: no fewer are guessed
constexpr std::uint64_t kPage = 4096;                  // a slot takes whole ones
constexpr std::uint64_t kTrialEvery = 10;              // lookups
constexpr double kWorthBothWays = 0.1;                 // of the time to evaluate it all
// Seconds of reading, of a prompt and of a block, below which rates say little: such a block is
// read, and from one end.
constexpr double kLittleRead = 0.02;
// What is being written is waited for, but not for longer than this part of the time to evaluate it
// again: writing is many times faster, unless the worker has more urgent things to do.
constexpr double kWorthWaiting = 0.5;
constexpr std::chrono::seconds kPatience{1};
constexpr double kLittleBlock = 0.001;

constexpr int kBlock = static_cast<int>(blocks::kBlockTokens);

int tokens_in(std::size_t blocks) { return static_cast<int>(blocks * blocks::kBlockTokens); }

wire::Frame frame_of(std::uint64_t request, const wire::PrefixPlanMessage& message) {
  return wire::make_frame(wire::FrameType::kPrefixPlan, request, wire::encode(message));
}

std::vector<wire::Frame> nothing_for(std::uint64_t request) {
  std::vector<wire::Frame> frames;
  frames.push_back(frame_of(request, {}));
  return frames;
}

}  // namespace

Task<std::vector<wire::Frame>> PrefixRoom::State::plan(Ask ask) {
  const auto pass = tasks_.enter();
  const std::uint64_t request = ask.request;
  if (!pass) co_return nothing_for(request);
  co_await wait_for_blocks(ask);
  Plan& begun = begin(std::move(ask));
  const std::uint64_t serial = begun.serial;
  std::vector<Digest> wanted = disk_part(begun);
  std::vector<Fd> files;
  const std::size_t asked = wanted.size();
  if (asked > 0) files = co_await disk_.open_files(std::move(wanted));
  Plan* plan = plan_of(request, serial);
  if (plan == nullptr) co_return nothing_for(request);
  if (files.size() < asked) {
    const auto first_disk = std::ranges::find(plan->offered, wire::BlockTier::kDisk, &Offer::tier);
    std::size_t ok = static_cast<std::size_t>(first_disk - plan->offered.begin());
    for (std::size_t left = files.size(); ok < plan->offered.size(); ++ok) {
      if (plan->offered[ok].tier == wire::BlockTier::kDisk && left-- == 0) break;
    }
    if (disk_.find(plan->offered[ok].digest) == nullptr) {  // it was no whole record any more
      plan->stored = std::min(plan->stored, ok);
      ++refused_["short"];
    }
    offer_only(*plan, ok);
  }
  co_await open_text_files(request, serial);
  plan = plan_of(request, serial);
  if (plan == nullptr) co_return nothing_for(request);
  reserve(*plan);
  plan->both_ways = both_ways(*plan);
  std::vector<wire::Frame> frames = frames_of(*plan, std::move(files));
  co_return frames;
}

Task<void> PrefixRoom::State::wait_for_blocks(const Ask& ask) {
  const double rate = world_.prefill_rate(ask.use.artifact);
  const int tokens = rate > 0 ? coming(ask) : 0;
  const std::chrono::duration<double> again{tokens / rate * kWorthWaiting};
  const auto patience = std::min<Duration>(std::chrono::duration_cast<Duration>(again), kPatience);
  const TimePoint deadline = world_.loop.now() + patience;
  bool in_time = true;
  while (in_time && coming(ask) > 0) in_time = co_await plan_ended_.wait_until(deadline);
}

// Tokens of this prompt that will be found once blocks of an earlier one have been written. Where
// nobody came in between its cells are as they were, and waiting would gain nothing.
int PrefixRoom::State::coming(const Ask& ask) {
  int most = 0;
  const BlockDomain* own = nullptr;
  for (const auto& [request, plan] : plans_) {
    if (!plan.overtaken || plan.purged || plan.keep.room == nullptr) continue;
    if (own == nullptr) own = domain(ask.use);
    if (plan.domain != own) continue;
    const auto differ = std::ranges::mismatch(plan.ask.tokens, ask.tokens).in2;
    most = std::max(most, static_cast<int>(differ - ask.tokens.begin()) / kBlock * kBlock);
  }
  return most > 0 ? std::max(0, most - kept(ask.use, ask.tokens).anywhere) : 0;
}

PrefixRoom::State::Plan* PrefixRoom::State::plan_of(std::uint64_t request, std::uint64_t serial) {
  const auto found = plans_.find(request);
  return found == plans_.end() || found->second.serial != serial ? nullptr : &found->second;
}

PrefixRoom::State::Plan& PrefixRoom::State::begin(Ask ask) {
  const std::uint64_t request = ask.request;
  end(request);
  memory_.set_limit(limits().memory);
  Plan& plan = plans_[request];
  plan.serial = ++serial_;
  const std::optional<Digest> root = digest_of_hex(ask.domain);
  plan.domain = root ? book_.find(*root) : nullptr;
  if (plan.domain == nullptr) plan.domain = domain(ask.use);
  plan.ask = std::move(ask);
  plan.trial = ++counted_.lookups % kTrialEvery == 0;
  look_up(plan);
  look_up_texts(plan);
  return plan;
}

void PrefixRoom::State::look_up(Plan& plan) {
  plan.chain = blocks::chain_of(plan.domain->root, plan.ask.tokens);
  Found found;
  const std::size_t seen = seen_.leading(plan.chain);
  found.seen = tokens_in(seen);
  if (plan.ask.use.ready.not_restorable.empty()) {
    memory_.note_use(plan.chain);
    disk_.note_use(plan.chain);
    for (const Digest& digest : plan.chain) {
      const std::optional<Offer> offer = offer_of(plan, digest);
      if (!offer) break;
      plan.offered.push_back(*offer);
    }
    plan.stored = plan.offered.size();
    if (const std::optional<Offer> end = end_of(plan)) {
      plan.offered.push_back(*end);
      plan.parts.push_back(end->digest);
      memory_.note_use(plan.parts);
      disk_.note_use(plan.parts);
    }
  }
  found.miss = miss_of(plan, seen);
  found_[plan.ask.request] = found;
  if (found_.size() > kFoundKept) found_.erase(found_.begin());
  offer_only(plan, worth_reading(plan));
  for (const Offer& offer : plan.offered) {
    if (offer.tier == wire::BlockTier::kArena) plan.holds.push_back(memory_.hold(offer.digest));
  }
  set_last_reply(plan, TimePoint::max());
}

std::optional<PrefixRoom::State::Offer> PrefixRoom::State::offer_of(const Plan& plan,
                                                                    const Digest& digest) const {
  const MemoryBlocks::Block* here = memory_.find(digest);
  if (here != nullptr && here->room->artifact == plan.ask.use.artifact && here->room->lent) {
    return Offer{digest, wire::BlockTier::kArena, here->size, kBlock};
  }
  const DiskBlocks::Block* there = disk_.find(digest);
  if (there == nullptr) return std::nullopt;
  return Offer{digest, wire::BlockTier::kDisk, there->size, kBlock};
}

// Behind the blocks that are stored whole: what goes on like the prompt for longest, be it a part,
// or a block that goes on otherwise at its end. The prompt's last token is evaluated in any case.
std::optional<PrefixRoom::State::Offer> PrefixRoom::State::end_of(const Plan& plan) {
  const std::size_t at = plan.stored * blocks::kBlockTokens;
  const auto rest = std::span{plan.ask.tokens}.subspan(at);
  if (rest.size() <= blocks::kLeastPart || plan.ask.use.options.exact) return std::nullopt;
  const auto text = rest.first(std::min(rest.size() - 1, blocks::kBlockTokens));
  const Digest& parent = plan.stored == 0 ? plan.domain->root : plan.chain[plan.stored - 1];
  const MemoryBlocks::Room* room = memory_.room(plan.ask.use.artifact);
  std::optional<FollowingBlocks::Match> best;
  if (room != nullptr && room->lent) best = memory_.next(*room, parent, text);
  const std::optional<FollowingBlocks::Match> there = disk_.next(parent, text);
  if (there && (!best || there->tokens > best->tokens)) best = there;
  if (!best || best->tokens < blocks::kLeastPart) return std::nullopt;
  std::optional<Offer> offer = offer_of(plan, best->block);
  if (offer) offer->tokens = static_cast<int>(best->tokens);
  return offer;
}

// What evaluating takes less time than reading is not read; where nothing was measured, reading is
// tried. Now and then it is tried all the same: a disk that was slow once is not so for ever.
std::size_t PrefixRoom::State::worth_reading(const Plan& plan) const {
  const double prefill = world_.prefill_rate(plan.ask.use.artifact);
  std::size_t files = 0;
  std::size_t use = 0;
  for (; use < plan.offered.size(); ++use) {
    if (plan.offered[use].tier != wire::BlockTier::kDisk) continue;
    const std::optional<double> read = disk_rate_.seconds(plan.offered[use].size);
    const double evaluated = plan.offered[use].tokens / prefill;  // infinite while not measured
    const bool slow = !plan.trial && read && *read > std::max(evaluated, kLittleBlock);
    if (slow || ++files > kMostFiles) break;
  }
  return use;
}

void PrefixRoom::State::offer_only(Plan& plan, std::size_t blocks) {
  if (plan.ask.use.options.exact) blocks = blocks / kExactBlocks * kExactBlocks;
  plan.offered.resize(blocks);
  Found& found = found_[plan.ask.request];
  found.arena = found.disk = 0;
  for (const Offer& offer : plan.offered) {
    (offer.tier == wire::BlockTier::kArena ? found.arena : found.disk) += offer.tokens;
  }
}

PrefixRoom::Miss PrefixRoom::State::miss_of(const Plan& plan, std::size_t seen) const {
  if (!plan.ask.use.ready.not_restorable.empty()) return Miss::kNotRestorable;
  if (plan.chain.empty()) return plan.offered.empty() ? Miss::kShort : Miss::kNone;
  if (plan.stored == plan.chain.size()) return Miss::kNone;
  if (seen > plan.stored) return Miss::kEvicted;
  const std::size_t next = plan.stored;
  const auto tokens = std::span{plan.ask.tokens}.first((next + 1) * blocks::kBlockTokens);
  const auto others = seen_.others(plain_chain(tokens).back(), who(*plan.domain));
  if (others == SeenBlocks::Others::kOtherOptions) return Miss::kOtherOptions;
  return next > 0 && seen_.continued(plan.chain[next - 1]) ? Miss::kDiverged : Miss::kNone;
}

std::vector<Digest> PrefixRoom::State::plain_chain(std::span<const int> tokens) const {
  return blocks::chain_of(blocks::root_of({"", "", own_secret_}), tokens);
}

SeenBlocks::Who PrefixRoom::State::who(const BlockDomain& domain) {
  const std::hash<std::string> hash;
  return {hash(domain.fingerprint), hash(domain.group)};
}

// ---- room for new blocks ----

Bytes PrefixRoom::State::size_of_block(const Plan& plan) const {
  const Bytes last = memory_.last_size(plan.domain->root);
  if (last > Bytes{} || plan.stored == 0) return last;
  const DiskBlocks::Block* there = disk_.find(plan.chain[plan.stored - 1]);
  return there == nullptr ? Bytes{} : there->size;
}

void PrefixRoom::State::reserve(Plan& plan) {
  MemoryBlocks::Room* room = memory_.room(plan.ask.use.artifact);
  const bool keeps = room != nullptr && room->lent && memory_.limit() > Bytes{} &&
                     plan.ask.use.ready.not_restorable.empty();
  if (!keeps) return;
  const std::size_t missing = plan.chain.size() - plan.stored;
  const auto reply = static_cast<std::size_t>(std::max(plan.ask.max_generated, 0));
  constexpr std::size_t kTokens = blocks::kBlockTokens;
  std::size_t slots = std::min(missing + (reply + kTokens - 1) / kTokens + 1, kMostKept);
  const Bytes each = size_of_block(plan);
  const Bytes page{each > Bytes{} ? 0u : kPage};
  const Bytes taken{(each.count() + kPage - 1) / kPage * kPage};
  // Neither a reply that may become long nor one long prompt must push out all that others have.
  const Bytes quarter{memory_.limit().count() / 4};
  const Bytes half{memory_.limit().count() / 2};
  Bytes bytes{taken.count() * slots};
  if (each > Bytes{}) {
    const Bytes prompt{taken.count() * missing};
    bytes = std::min(bytes, std::clamp(prompt, quarter, half));
  } else {
    bytes = std::min(kFirstKeep, quarter);
    slots = std::clamp<std::size_t>(bytes.count() / kLeastBlock.count(), 1, slots);
  }
  plan.keep = memory_.reserve(*room, slots, bytes, each);
  plan.keep_limit = plan.keep.bytes - Bytes{page.count() * plan.keep.slots.size()};
}

// ---- what the worker is told ----

std::vector<Digest> PrefixRoom::State::disk_part(const Plan& plan) const {
  std::vector<Digest> digests;
  for (const Offer& offer : plan.offered) {
    if (offer.tier == wire::BlockTier::kDisk) digests.push_back(offer.digest);
  }
  return digests;
}

bool PrefixRoom::State::both_ways(const Plan& plan) const {
  const double prefill = world_.prefill_rate(plan.ask.use.artifact);
  if (plan.trial || prefill <= 0 || plan.offered.empty()) return false;
  Bytes memory;
  Bytes disk;
  int tokens = 0;
  for (const Offer& offer : plan.offered) {
    (offer.tier == wire::BlockTier::kArena ? memory : disk) += offer.size;
    tokens += offer.tokens;
  }
  const double read =
      memory_rate_.seconds(memory).value_or(0) + disk_rate_.seconds(disk).value_or(0);
  return read > kLittleRead && read > kWorthBothWays * tokens / prefill;
}

std::vector<wire::Frame> PrefixRoom::State::frames_of(Plan& plan, std::vector<Fd> files) const {
  std::vector<wire::Frame> frames;
  wire::PrefixPlanMessage message;
  std::vector<Fd> descriptors;
  auto hold = plan.holds.begin();
  auto file = files.begin();
  const std::uint64_t request = plan.ask.request;
  const auto send = [&] {
    frames.push_back(frame_of(request, message));
    frames.back().descriptors = std::exchange(descriptors, {});
    message.stored.clear();
  };
  for (const Offer& offer : plan.offered) {
    const int tokens = offer.tokens == kBlock ? 0 : offer.tokens;
    if (offer.tier == wire::BlockTier::kArena) {
      message.stored.push_back({wire::BlockTier::kArena, (hold++)->slot, offer.size, tokens});
      continue;
    }
    if (descriptors.size() == wire::kMaxDescriptors) {
      message.more = true;
      send();
    }
    const int place = static_cast<int>(descriptors.size());
    message.stored.push_back({wire::BlockTier::kDisk, place, offer.size, tokens});
    descriptors.push_back(std::move(*file++));
  }
  std::size_t of_texts = 0;
  for (const Text& text : plan.texts) of_texts += text.files.size();
  if (descriptors.size() + of_texts > wire::kMaxDescriptors) {
    message.more = true;
    send();
  }
  message.more = false;
  add_texts(plan, message, descriptors);
  message.keep_from = static_cast<int>(plan.stored);
  message.keep = plan.keep.slots;
  message.keep_limit = plan.keep_limit;
  message.both_ways = plan.both_ways;
  send();
  return frames;
}

}  // namespace hearth::front
