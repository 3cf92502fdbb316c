// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/abort_flags.h"
#include "engine/context.h"
#include "engine/cpu_threads.h"
#include "engine/model.h"
#include "engine/tokens.h"
#include "worker/cell_plan.h"

namespace hearth::worker {

// The KV cells and who uses them. A slot is one of the engine's sequences together with the tokens
// that its cells hold; they stay when its request is done, so that a later prompt that begins alike
// need not evaluate them again. Belongs to the inference thread.
class KvRoom {
 public:
  KvRoom(const engine::Model& model, const engine::CpuThreads& threads,
         const engine::AbortFlags& abort, CellLimits limits);

  // Makes the first context, large enough for `prompt` tokens. Errors: kNoSpace.
  Result<> open(int prompt);

  struct Taken {
    int slot = 0;
    int cached = 0;  // tokens of the prompt that are in cells already, at most all but one
  };
  enum class Reuse { kYes, kNo };
  // nullopt: every slot is busy.
  std::optional<Taken> take(std::span<const engine::Token> prompt, Reuse reuse);
  void give_back(int slot, Reuse later);

  // Room for `needed` cells of busy slots in all, by evicting idle ones and by growing. Returns
  // whether a larger context was made. Errors: kNoSpace.
  Result<bool> make_room(int needed);
  // More room than the arithmetic says, after the engine found none. Errors: kNoSpace.
  Result<> make_more_room();

  // `tokens` were evaluated at the end of the slot's cells.
  void append(int slot, std::span<const engine::Token> tokens);
  // After an evaluation that broke off: what of `tokens` got into cells.
  void append_evaluated(int slot, std::span<const engine::Token> tokens);
  void clear(int slot);

  int used(int slot) const { return static_cast<int>(slots_[index(slot)].tokens.size()); }
  int live_tokens() const;
  int cells() const { return context_->cells(); }
  engine::Context& context() { return *context_; }

 private:
  struct Slot {
    std::vector<engine::Token> tokens;
    std::uint64_t last_used = 0;
    bool busy = false;
  };
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }
  std::vector<IdleCells> idle() const;
  Result<> grow(int cells);
  Result<std::unique_ptr<engine::Context>> make_context(int cells) const;

  const engine::Model& model_;
  const engine::CpuThreads& threads_;
  const engine::AbortFlags& abort_;
  const CellLimits limits_;
  std::unique_ptr<engine::Context> context_;
  std::vector<Slot> slots_;
  std::uint64_t uses_ = 0;
};

}  // namespace hearth::worker
