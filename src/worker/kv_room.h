// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/abort_flags.h"
#include "engine/context.h"
#include "engine/cpu_threads.h"
#include "engine/model.h"
#include "engine/tokens.h"
#include "worker/cell_book.h"
#include "worker/cell_plan.h"

namespace hearth::worker {

// The KV cells and who uses them. A slot is one of the engine's sequences together with the tokens
// that its cells hold; they stay when its request is done, so that a later prompt that begins alike
// need not evaluate them again. Slots may share cells. Belongs to the inference thread.
class KvRoom {
 public:
  // In tokens(): a cell that is no token's, as it is not quite what that token would give.
  static constexpr engine::Token kNoToken = -1;

  // Called before a slot loses what it holds from position `kept` on.
  using BeforeLoss = std::function<void(int slot, int kept)>;

  KvRoom(const engine::Model& model, const engine::CpuThreads& threads,
         const engine::AbortFlags& abort, CellLimits limits);

  void set_before_loss(BeforeLoss before_loss) { before_loss_ = std::move(before_loss); }

  // Makes the first context, large enough for `prompt` tokens. Errors: kNoSpace.
  Result<> open(int prompt);

  enum class Reuse { kYes, kNo };
  struct Wish {
    std::span<const engine::Token> prompt;
    std::string domain;  // cells of another one are not looked at
    Reuse reuse = Reuse::kYes;
    int granule = 1;  // only multiples of this are of use
  };
  struct Taken {
    int slot = 0;
    int cached = 0;  // tokens of the prompt that are in cells already, at most all but one
  };
  // nullopt: every slot is busy.
  std::optional<Taken> take(const Wish& wish);
  // How many of the prompt's tokens take() would find in cells.
  int live(const Wish& wish) const;
  void give_back(int slot, Reuse later);
  // What slots hold now serves nobody but the requests that have it.
  void forget();

  // The busy slot `to` gets, instead of what it holds, the first `count` tokens of `from`. Returns
  // how many it then has: `count`, or what it had where the model cannot go on from there.
  int share(int from, int to, int count);
  // Forgets what the slot holds from `count` on; returns what is left, see Context::keep().
  int keep(int slot, int count);

  // Room for `more` cells beside those in use, by evicting idle slots and by growing. Returns
  // whether a larger context was made. Errors: kNoSpace.
  Result<bool> make_room(int more);
  // More room than the arithmetic says, after the engine found none. Errors: kNoSpace.
  Result<> make_more_room();

  // `tokens` were evaluated, or loaded, at the end of the slot's cells.
  void append(int slot, std::span<const engine::Token> tokens);
  // `count` tokens were put at the end of the slot's cells, evaluated elsewhere. Neither they nor
  // what follows them is what its tokens alone would give, so nobody else gets any of it.
  void append_approximate(int slot, int count);
  // After an evaluation that broke off: what of `tokens` got into cells.
  void append_evaluated(int slot, std::span<const engine::Token> tokens);
  void clear(int slot);

  int used(int slot) const { return static_cast<int>(slots_[index(slot)].tokens.size()); }
  std::span<const engine::Token> tokens(int slot) const { return slots_[index(slot)].tokens; }
  // How many of them, from the first one on, are tokens.
  int exact(int slot) const;
  bool busy(int slot) const { return slots_[index(slot)].busy; }
  // Two slots can hold cells together.
  bool can_share() const { return shares_; }
  int slots() const { return static_cast<int>(slots_.size()); }
  // Each cell once, however many slots share it.
  int live_tokens() const { return book_.used(); }
  int cells() const { return context_->cells(); }
  engine::Context& context() { return *context_; }

 private:
  struct Slot {
    std::vector<engine::Token> tokens;
    std::string domain;
    std::uint64_t last_used = 0;
    bool busy = false;
    bool forgotten = false;  // what it holds goes when its request ends
  };
  static std::size_t index(int slot) { return static_cast<std::size_t>(slot); }
  int usable(int slot, const Wish& wish) const;
  bool reaches(int slot, int count) const;
  void note_loss(int slot, int kept);
  std::optional<int> oldest_idle() const;
  Result<> grow(int cells);
  Result<> copy_slot(int slot, engine::Context& larger) const;
  Result<std::unique_ptr<engine::Context>> make_context(int cells) const;

  const engine::Model& model_;
  const engine::CpuThreads& threads_;
  const engine::AbortFlags& abort_;
  const CellLimits limits_;
  const bool
      shares_;  // the model's state is by positions, so that two slots can have cells together
  std::unique_ptr<engine::Context> context_;
  std::vector<Slot> slots_;
  CellBook book_;
  BeforeLoss before_loss_;
  std::uint64_t uses_ = 0;
};

}  // namespace hearth::worker
