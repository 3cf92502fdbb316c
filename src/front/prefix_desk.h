// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "front/keys.h"
#include "front/prefix/prefix_room.h"
#include "front/prefix_plans.h"
#include "front/prefix_reasons/normaliser.h"
#include "front/prefix_reasons/prefix_reasons.h"
#include "layers/prefix/stored_prefixes.h"
#include "timeline/prefix_figures.h"

namespace hearth::front {

// Prompt state kept beyond live cells, as workers, requests, the prefix layer and people see it:
// the room where it is kept, the reasons for what is not used again, and who shares with whom.
// Belongs to the loop; stop() the room before destroying it.
class PrefixDesk : public PrefixPlans, public StoredPrefixes {
 public:
  struct World {
    PrefixRoom::World room;
    std::function<const KeyRing&()> keys;
    std::vector<std::string> groups = {};     // of the configuration
    std::vector<std::string> normalise = {};  // likewise
    // Has workers of this model, or of all when it is empty, forget what their cells hold.
    std::function<void(const std::string& artifact)> forget_cells = [](const std::string&) {};
  };
  explicit PrefixDesk(World world);

  Task<void> open();
  // Until then figures() lacks what is on disk.
  bool is_open() const { return open_; }
  PrefixRoom& room() { return room_; }
  const PrefixRoom& room() const { return room_; }
  const PrefixReasons& reasons() const { return reasons_; }
  PrefixFigures figures() const;
  void configure(const std::vector<std::string>& groups, const std::vector<std::string>& normalise);

  // See group_of(); by the key's name.
  std::string group_of_name(const std::string& name) const;

  // See PrefixRoom; what is known of the prompts goes too.
  Task<Result<Bytes>> drop_chosen(PrefixRoom::Choice choice);

  std::optional<Fd> arena(const std::string& artifact) override { return room_.arena(artifact); }
  void worker_lost(const std::string& artifact) override { room_.worker_lost(artifact); }
  void note_replied(std::uint64_t request) override { room_.note_replied(request); }
  void note_blocks(std::uint64_t request, const wire::BlocksMessage& blocks) override {
    room_.note_blocks(request, blocks);
  }
  std::string group_of(const std::string& key) const override;
  int normalise(wire::GenerateMessage& message) const override;
  std::string domain(const PrefixRoom::Use& use) const override { return room_.domain(use); }
  Task<std::vector<wire::Frame>> plan(PrefixRoom::Ask ask) override;
  PrefixRoom::Found found(std::uint64_t request) const override { return room_.found(request); }
  int behind_volatile_head(std::uint64_t request) const override;
  void note_started(std::uint64_t request, const wire::StartedMessage& started) override;
  void close(std::uint64_t request) override;

  Amount amount(const std::string& artifact) const override;
  Task<Result<Bytes>> drop(std::string artifact) override;
  Task<Result<Bytes>> spill(std::string artifact) override;

 private:
  std::function<const KeyRing&()> keys_;
  std::function<void(const std::string& artifact)> forget_cells_;
  std::map<std::string, std::string> groups_;  // by the names of keys
  PromptNormaliser normaliser_;
  PrefixReasons reasons_;
  struct Asked {
    PromptSource source;
    int behind_volatile_head = 0;
  };
  std::map<std::uint64_t, Asked> asked_;  // by request, until it has started
  PrefixRoom room_;
  bool open_ = false;
};

}  // namespace hearth::front
