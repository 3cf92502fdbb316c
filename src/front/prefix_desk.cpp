// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_desk.h"

#include <algorithm>
#include <utility>

#include "front/config/prefix_group.h"

namespace hearth::front {
namespace {

// The place where a prompt leaves an earlier one goes with the last frame, to the worker that knows
// the texts.
void add_difference(std::vector<wire::Frame>& frames,
                    const wire::PrefixPlanMessage::Difference& difference) {
  if (frames.empty()) return;
  Result<wire::PrefixPlanMessage> last = wire::decode_prefix_plan(frames.back().payload);
  if (!last) return;
  last->difference = difference;
  frames.back().payload = wire::encode(*last);
}

}  // namespace

PrefixDesk::PrefixDesk(World world)
    : keys_{std::move(world.keys)},
      forget_cells_{std::move(world.forget_cells)},
      room_{std::move(world.room)} {
  configure(world.groups, world.normalise);
}

Task<void> PrefixDesk::open() {
  co_await room_.open();
  open_ = true;
}

void PrefixDesk::configure(const std::vector<std::string>& groups,
                           const std::vector<std::string>& normalise) {
  groups_.clear();
  for (const std::string& text : groups) {
    const Result<PrefixGroup> group = parse_prefix_group(text);
    if (!group) continue;  // the configuration was checked when it was read
    for (const std::string& key : group->keys) groups_[key] = group->name;
  }
  normaliser_ = PromptNormaliser{normalise};
}

// ---- who shares with whom ----

// The words keep a key from having the name of a group that it is not in.
std::string PrefixDesk::group_of_name(const std::string& name) const {
  const auto group = groups_.find(name);
  return group == groups_.end() ? "key " + name : "group " + group->second;
}

std::string PrefixDesk::group_of(const std::string& key) const {
  if (key.empty()) return {};
  const std::vector<KeyRing::Kept>& kept = keys_().keys();
  const auto found = std::ranges::find(kept, key, [](const auto& one) { return one.info.id; });
  // One that was removed while its last request was on its way shares with nobody.
  return found == kept.end() ? "id " + key : group_of_name(found->info.name);
}

// ---- requests ----

int PrefixDesk::normalise(wire::GenerateMessage& message) const {
  if (normaliser_.empty()) return 0;
  int places = normaliser_.cut(message.prompt);
  if (message.messages.empty()) return places;
  PromptNormaliser::Outcome outcome = normaliser_.apply(std::move(message.messages));
  message.messages = std::move(outcome.messages);
  return places + outcome.places;
}

Task<std::vector<wire::Frame>> PrefixDesk::plan(PrefixRoom::Ask ask) {
  PromptSource source{ask.use.artifact, ask.domain, ask.use.group};
  const PrefixReasons::Noted noted = reasons_.note_prompt(source, ask.tokens);
  asked_[ask.request] = Asked{std::move(source), noted.behind_volatile_head};
  std::vector<wire::Frame> frames = co_await room_.plan(std::move(ask));
  if (noted.difference) add_difference(frames, *noted.difference);
  co_return frames;
}

void PrefixDesk::note_started(std::uint64_t request, const wire::StartedMessage& started) {
  const auto asked = asked_.find(request);
  if (asked != asked_.end()) {
    if (started.prefix.difference) {
      reasons_.note_difference(asked->second.source, *started.prefix.difference);
    }
    asked_.erase(asked);
  }
  room_.note_started(request, started);
}

int PrefixDesk::behind_volatile_head(std::uint64_t request) const {
  const auto asked = asked_.find(request);
  return asked == asked_.end() ? 0 : asked->second.behind_volatile_head;
}

void PrefixDesk::close(std::uint64_t request) {
  asked_.erase(request);
  room_.close(request);
}

// ---- people and layers ----

PrefixFigures PrefixDesk::figures() const {
  PrefixRoom::Figures kept = room_.figures();
  PrefixFigures figures;
  figures.memory = {kept.memory, kept.blocks_memory, kept.evicted_memory, kept.restore_memory_rate};
  figures.disk = {kept.disk, kept.blocks_disk, kept.evicted_disk, kept.restore_disk_rate};
  figures.refused = std::move(kept.refused);
  figures.saved_seconds = kept.saved_seconds;
  figures.written_today = kept.written_today;
  return figures;
}

StoredPrefixes::Amount PrefixDesk::amount(const std::string& artifact) const {
  const PrefixRoom::Stored stored = room_.stored(artifact);
  return {stored.tokens_memory, stored.tokens_disk, stored.memory, stored.disk};
}

Task<Result<Bytes>> PrefixDesk::drop_chosen(PrefixRoom::Choice choice) {
  reasons_.forget(choice.artifact, choice.group);
  // Of all keys: cells do not say whose they are, and can be had again from what the others keep.
  forget_cells_(choice.artifact);
  return room_.drop(std::move(choice));
}

Task<Result<Bytes>> PrefixDesk::drop(std::string artifact) {
  PrefixRoom::Choice choice;
  choice.artifact = std::move(artifact);
  return drop_chosen(std::move(choice));
}

Task<Result<Bytes>> PrefixDesk::spill(std::string artifact) {
  PrefixRoom::Choice choice;
  choice.artifact = std::move(artifact);
  return room_.spill(std::move(choice));
}

}  // namespace hearth::front
