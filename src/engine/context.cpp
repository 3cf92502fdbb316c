// SPDX-License-Identifier: Apache-2.0
#include "engine/context.h"

#include <llama.h>

#include <algorithm>

#include "engine/context_params.h"
#include "engine/engine_log.h"
#include "engine/shiftable.h"
#include "engine/state_layout.h"
#include "engine/weight_set.h"

namespace hearth::engine {
namespace {

constexpr int kBatch = 2048;
constexpr int kMicroBatch = 512;

bool should_abort(void* user) { return static_cast<const AbortFlags*>(user)->raised(); }

llama_context_params params_of(const Context::Options& options, const CpuThreads& threads,
                               const AbortFlags& abort) {
  llama_context_params params = context_params(options);
  params.n_threads = threads.count();
  params.n_threads_batch = threads.count();
  params.abort_callback = should_abort;
  params.abort_callback_data = const_cast<AbortFlags*>(&abort);
  return params;
}

}  // namespace

llama_context_params context_params(const Context::Options& options) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(options.cells);
  params.n_batch = kBatch;
  params.n_ubatch = kMicroBatch;
  params.n_seq_max = static_cast<std::uint32_t>(options.sequences);
  params.n_outputs_max = params.n_seq_max;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_AUTO;
  params.kv_unified = true;
  params.swa_full = false;
  params.no_perf = true;
  return params;
}

namespace {

// Models without a window have no such part: what the engine gives is then the whole state.
std::string empty_window_of(llama_context* context) {
  constexpr llama_seq_id kNobody = 0;
  const auto flags = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;
  std::string alone(llama_state_seq_get_size_ext(context, kNobody, flags), '\0');
  if (alone.size() >= llama_state_seq_get_size(context, kNobody)) return {};
  auto* data = reinterpret_cast<std::uint8_t*>(alone.data());
  alone.resize(llama_state_seq_get_data_ext(context, data, alone.size(), kNobody, flags));
  return alone.size() > kStatePreamble ? alone.substr(kStatePreamble) : std::string{};
}

}  // namespace

struct Context::Batch {
  explicit Batch(int capacity) : raw{llama_batch_init(capacity, 0, 1)} {}
  ~Batch() { llama_batch_free(raw); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  llama_batch raw;
};

void Context::Free::operator()(llama_context* context) const { llama_free(context); }

Context::Context(llama_context* context, const CpuThreads& threads, const Model& model)
    : context_{context},
      threads_{threads},
      cells_{static_cast<int>(llama_n_ctx(context))},
      max_batch_{static_cast<int>(llama_n_batch(context))},
      micro_batch_{static_cast<int>(llama_n_ubatch(context))},
      sliding_window_{model.sliding_window()},
      can_shift_{shiftable(model.handle(), context)},
      empty_window_{empty_window_of(context)} {
  batch_ = std::make_unique<Batch>(max_batch_);
}

Context::~Context() = default;

Result<std::unique_ptr<Context>> Context::create(const Model& model, const Options& options,
                                                 const CpuThreads& threads,
                                                 const AbortFlags& abort) {
  take_engine_error();
  llama_context_params params = params_of(options, threads, abort);
  WeightGate* gate = model.weights() != nullptr ? &model.weights()->gate() : nullptr;
  if (gate != nullptr) gate->install(params, abort);
  llama_context* context = llama_init_from_model(model.handle(), params);
  if (context == nullptr) return fail(ErrorCode::kNoSpace, "context: " + take_engine_error());
  std::unique_ptr<Context> made{new Context{context, threads, model}};
  made->gate_ = gate;
  if (auto applied = model.apply_adapters(context); !applied) return Failed{applied.error()};
  return made;
}

void Context::clear() { batch_->raw.n_tokens = 0; }

int Context::size() const { return batch_->raw.n_tokens; }

int Context::add(Token token, int position, int sequence, Logits logits) {
  llama_batch& batch = batch_->raw;
  const int i = batch.n_tokens++;
  batch.token[i] = token;
  batch.pos[i] = position;
  batch.n_seq_id[i] = 1;
  batch.seq_id[i][0] = sequence;
  batch.logits[i] = logits == Logits::kYes ? 1 : 0;
  return i;
}

Decoded Context::decode() {
  threads_followed_ = threads_.lead(context_.get(), threads_followed_);
  const int status = llama_decode(context_.get(), batch_->raw);
  shifts_ = false;
  const bool broken = gate_ != nullptr && gate_->take_broken();
  if (status == 0) llama_synchronize(context_.get());
  if (status == 0 && broken) {
    forget_batch();
    return Decoded::kAborted;
  }
  if (status == 0) return Decoded::kDone;
  if (status == 1) return Decoded::kNoCells;
  return status == 2 ? Decoded::kAborted : Decoded::kFailed;
}

// Cells of a device that went on over weights that were not there.
void Context::forget_batch() {
  llama_memory_t memory = llama_get_memory(context_.get());
  const llama_batch& batch = batch_->raw;
  for (int i = 0; i < batch.n_tokens; ++i) {
    llama_memory_seq_rm(memory, batch.seq_id[i][0], -1, -1);
  }
}

int Context::evaluated(int sequence) const {
  return llama_memory_seq_pos_max(llama_get_memory(context_.get()), sequence) + 1;
}

int Context::window_from(int sequence) const {
  return std::max(0, llama_memory_seq_pos_min(llama_get_memory(context_.get()), sequence));
}

int Context::keep(int sequence, int count) {
  llama_memory_t memory = llama_get_memory(context_.get());
  const int present = evaluated(sequence);
  if (present > 0 && count >= present) return present;
  // With a sliding window the engine drops cells that no later token would look at, and does not
  // say no when a step back would need them.
  const bool window_complete =
      sliding_window_ == 0 || window_from(sequence) <= std::max(0, count - sliding_window_);
  if (count > 0 && present > 0 && window_complete &&
      llama_memory_seq_rm(memory, sequence, count, -1))
    return count;
  llama_memory_seq_rm(memory, sequence, -1, -1);
  return 0;
}

std::string Context::save(int sequence) {
  settle();
  std::string state(llama_state_seq_get_size(context_.get(), sequence), '\0');
  auto* data = reinterpret_cast<std::uint8_t*>(state.data());
  state.resize(llama_state_seq_get_data(context_.get(), data, state.size(), sequence));
  return state;
}

Result<> Context::restore(int sequence, const std::string& state) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(state.data());
  if (llama_state_seq_set_data(context_.get(), data, state.size(), sequence) > 0) return {};
  return fail(ErrorCode::kNoSpace, "copy a sequence: " + take_engine_error());
}

MemoryUse Context::memory() const { return memory_use_of(context_.get()); }

}  // namespace hearth::engine
