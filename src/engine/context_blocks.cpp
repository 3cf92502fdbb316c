// SPDX-License-Identifier: Apache-2.0
// Parts of a sequence, in and out. The engine knows only whole sequences there, so a part becomes
// one for a moment: the last one, which is nobody's otherwise.
#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <cstring>

#include "engine/context.h"
#include "engine/engine_log.h"
#include "engine/state_layout.h"

namespace hearth::engine {
namespace {

// Empty before and after.
class Scratch {
 public:
  explicit Scratch(llama_context* context)
      : context_{context},
        memory_{llama_get_memory(context)},
        id_{static_cast<llama_seq_id>(llama_n_seq_max(context)) - 1} {
    empty();
  }
  ~Scratch() { empty(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  llama_seq_id id() const { return id_; }
  void take(int sequence, int first, int count) {
    llama_memory_seq_cp(memory_, sequence, id_, first, first + count);
  }
  void give(int sequence, int first, int count) {
    llama_memory_seq_cp(memory_, id_, sequence, first, first + count);
  }
  void move(int shift) { llama_memory_seq_add(memory_, id_, -1, -1, shift); }
  // Of the cells with a window, where there are such, else of all.
  bool reaches_from(int first) const { return llama_memory_seq_pos_min(memory_, id_) == first; }
  bool reaches_to(int last) const { return llama_memory_seq_pos_max(memory_, id_) == last; }

  std::string state(llama_state_seq_flags flags) const {
    std::string state(llama_state_seq_get_size_ext(context_, id_, flags), '\0');
    auto* data = reinterpret_cast<std::uint8_t*>(state.data());
    state.resize(llama_state_seq_get_data_ext(context_, data, state.size(), id_, flags));
    return state;
  }
  // Whether it was a state, and all of it.
  bool set(std::span<const std::byte> state) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(state.data());
    return llama_state_seq_set_data(context_, data, state.size(), id_) == state.size();
  }

 private:
  void empty() { llama_memory_seq_rm(memory_, id_, -1, -1); }

  llama_context* context_;
  llama_memory_t memory_;
  llama_seq_id id_;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

Failed not_a_state(std::string_view what) {
  return fail(ErrorCode::kCorrupt, fmt::format("not a state of these tokens: {}", what));
}

// By the engine, which has just said why.
Failed refused_state() {
  const std::string words = take_engine_error();
  if (words.find("available cells") == std::string::npos) return not_a_state(words);
  return fail(ErrorCode::kNoSpace, "load a block: " + words);
}

// The whole state is that of the layers without a window, then that of those with one; the latter
// can be had alone, behind a preamble of its own.
Result<Context::BlockState> split(std::string whole, std::string_view alone) {
  Context::BlockState state{std::move(whole), {}};
  if (alone.size() >= state.base.size()) return state;
  const std::string_view window = alone.substr(kStatePreamble);
  if (!std::string_view{state.base}.ends_with(window)) {
    return fail(ErrorCode::kInternal, "the engine's states have another form than expected");
  }
  state.base.resize(state.base.size() - window.size());
  state.window = window;
  return state;
}

// Both in one piece: as they are where they lie so already, else in `copy`.
std::span<const std::byte> joined(std::span<const std::byte> base,
                                  std::span<const std::byte> window, std::string& copy) {
  if (window.empty()) return base;
  if (base.data() + base.size() == window.data()) return {base.data(), base.size() + window.size()};
  copy.resize(base.size() + window.size());
  std::memcpy(copy.data(), base.data(), base.size());
  std::memcpy(copy.data() + base.size(), window.data(), window.size());
  return bytes_of(copy);
}

}  // namespace

// Cells with a window are a ring, in which what two sequences have is never used again while both
// have it, however far back it lies: a long shared prompt would fill the ring. So there the window
// is copied, and nothing before it.
void Context::share(int from, int to, int count) {
  llama_memory_t memory = llama_get_memory(context_.get());
  std::string window;
  if (!empty_window_.empty()) {
    Scratch scratch{context_.get()};
    scratch.take(from, 0, count);
    window = scratch.state(LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
  }
  llama_memory_seq_cp(memory, from, to, 0, count);
  if (window.empty()) return;
  const auto* data = reinterpret_cast<const std::uint8_t*>(window.data());
  const auto flags = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;
  if (llama_state_seq_set_data_ext(context_.get(), data, window.size(), to, flags) > 0) return;
  llama_memory_seq_cp(memory, from, to, 0, count);  // no room for a copy
}

Result<Context::BlockState> Context::save_block(int sequence, int first, int count, Window window) {
  settle();
  Scratch scratch{context_.get()};
  scratch.take(sequence, first, count);
  const bool whole_window = scratch.reaches_from(first) && scratch.reaches_to(first + count - 1);
  if (!whole_window && window == Window::kWith) {
    return fail(ErrorCode::kConflict,
                fmt::format("positions from {} on are not all in cells any more", first));
  }
  take_engine_error();
  std::string whole = scratch.state(LLAMA_STATE_SEQ_FLAGS_NONE);
  if (!has_preamble(bytes_of(whole))) {
    return fail(ErrorCode::kInternal, "save a block: " + take_engine_error());
  }
  if (!section_holds(bytes_of(whole).subspan(kStatePreamble), first, count, Cells::kAll)) {
    return fail(ErrorCode::kConflict, fmt::format("positions from {} on are not all there", first));
  }
  if (empty_window_.empty()) return BlockState{std::move(whole), {}};
  auto state = split(std::move(whole), scratch.state(LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY));
  if (state && window == Window::kLeftOut) state->window.clear();
  return state;
}

Result<> Context::load_block(int sequence, int first, int count, std::span<const std::byte> base,
                             std::span<const std::byte> window) {
  if (!has_preamble(base)) return not_a_state("no mark");
  if (!section_holds(base.subspan(kStatePreamble), first, count, Cells::kAll)) {
    return not_a_state("other positions");
  }
  if (!window.empty() && empty_window_.empty()) return not_a_state("a window");
  if (!window.empty() && !section_holds(window, first, count, Cells::kLast)) {
    return not_a_state("other positions in the window");
  }
  std::string copy;
  const auto state = joined(base, window.empty() ? bytes_of(empty_window_) : window, copy);
  Scratch scratch{context_.get()};
  take_engine_error();
  if (!scratch.set(state)) return refused_state();
  const bool tells = empty_window_.empty() || !window.empty();
  if (tells && !scratch.reaches_to(first + count - 1)) return not_a_state("it ends elsewhere");
  scratch.give(sequence, first, count);
  return {};
}

Result<> Context::load_shifted_block(int sequence, int first, int count, int shift,
                                     std::span<const std::byte> base) {
  if (!can_shift_) return fail(ErrorCode::kUnsupported, "the model's state cannot be moved");
  if (!has_preamble(base)) return not_a_state("no mark");
  if (!section_holds(base.subspan(kStatePreamble), first, count, Cells::kAll)) {
    return not_a_state("other positions");
  }
  if (first + shift < evaluated(sequence)) return not_a_state("the sequence is there already");
  Scratch scratch{context_.get()};
  take_engine_error();
  if (!scratch.set(base)) return refused_state();
  if (!scratch.reaches_to(first + count - 1)) return not_a_state("it ends elsewhere");
  if (shift != 0) {
    scratch.move(shift);
    shifts_ = true;
  }
  scratch.give(sequence, first + shift, count);
  return {};
}

// What is copied out of cells that wait for their turn would have new positions and old values, and
// the engine turns them only when it evaluates something.
void Context::settle() {
  if (!shifts_) return;
  const Scratch scratch{context_.get()};
  Token any = 0;
  llama_pos position = 0;
  int sequences = 1;
  llama_seq_id id = scratch.id();
  llama_seq_id* ids = &id;
  std::int8_t logits = 0;
  llama_batch batch{1, &any, nullptr, &position, &sequences, &ids, &logits};
  llama_decode(context_.get(), batch);
  llama_synchronize(context_.get());
  shifts_ = false;
}

}  // namespace hearth::engine
