// SPDX-License-Identifier: Apache-2.0
#include "engine/embedder.h"

#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/engine_log.h"
#include "engine/weight_set.h"

namespace hearth::engine {
namespace {

constexpr int kLongestInput = 2048;

bool should_abort(void* user) { return static_cast<const AbortFlags*>(user)->raised(); }

llama_context_params params_of(const Vocabulary& vocabulary, int limit, const CpuThreads& threads,
                               const AbortFlags& abort) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(limit);
  params.n_batch = params.n_ubatch = params.n_ctx;
  params.n_seq_max = 1;
  params.n_threads = params.n_threads_batch = threads.count();
  params.embeddings = true;
  params.kv_unified = true;
  params.swa_full = false;
  params.no_perf = true;
  const std::string own = vocabulary.arch_value("pooling_type").value_or("0");
  if (own == "0") params.pooling_type = LLAMA_POOLING_TYPE_MEAN;
  params.abort_callback = should_abort;
  params.abort_callback_data = const_cast<AbortFlags*>(&abort);
  return params;
}

std::vector<float> normalised(std::span<const float> vector) {
  double square = 0.0;
  for (const float x : vector) square += static_cast<double>(x) * x;
  const double scale = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
  std::vector<float> out;
  out.reserve(vector.size());
  for (const float x : vector) out.push_back(static_cast<float>(x * scale));
  return out;
}

}  // namespace

int embedding_limit(int context_limit) { return std::min(context_limit, kLongestInput); }

void Embedder::Free::operator()(llama_context* context) const { llama_free(context); }

Result<std::unique_ptr<Embedder>> Embedder::create(const Model& model, const Vocabulary& vocabulary,
                                                   int limit, const CpuThreads& threads,
                                                   const AbortFlags& abort) {
  if (llama_model_has_encoder(model.handle()) && llama_model_has_decoder(model.handle())) {
    return fail(ErrorCode::kUnsupported,
                "this model gives no embeddings: it is an encoder-decoder");
  }
  take_engine_error();
  llama_context_params params = params_of(vocabulary, limit, threads, abort);
  WeightGate* gate = model.weights() != nullptr ? &model.weights()->gate() : nullptr;
  if (gate != nullptr) gate->install(params, abort);
  llama_context* context = llama_init_from_model(model.handle(), params);
  if (context == nullptr) {
    return fail(ErrorCode::kNoSpace, "context for embeddings: " + take_engine_error());
  }
  std::unique_ptr<Embedder> embedder{new Embedder{context, threads, model.embedding_size(), limit}};
  embedder->gate_ = gate;
  if (auto applied = model.apply_adapters(context); !applied) return Failed{applied.error()};
  if (llama_pooling_type(context) == LLAMA_POOLING_TYPE_RANK) {
    return fail(ErrorCode::kUnsupported, "this model gives no embeddings: it is a reranker");
  }
  return embedder;
}

Result<std::vector<float>> Embedder::embed(std::span<const Token> input) {
  const int count = static_cast<int>(input.size());
  if (count == 0) return fail(ErrorCode::kInvalid, "an input without tokens has no embedding");
  if (count > limit_) {
    return Failed{Error{ErrorCode::kTooLong,
                        fmt::format("the input has {} tokens; at most {} fit", count, limit_)}
                      .with_counts({count, limit_})};
  }
  if (llama_memory_t memory = llama_get_memory(context_.get())) llama_memory_clear(memory, false);
  std::vector<Token> tokens{input.begin(), input.end()};
  threads_followed_ = threads_.lead(context_.get(), threads_followed_);
  const int status = llama_decode(context_.get(), llama_batch_get_one(tokens.data(), count));
  const bool broken = gate_ != nullptr && gate_->take_broken();
  if (status == 2 || (status == 0 && broken))
    return fail(ErrorCode::kCancelled, "the embedding was given up");
  if (status != 0)
    return fail(ErrorCode::kInternal, "the embedding failed: " + take_engine_error());
  const float* vector = llama_get_embeddings_seq(context_.get(), 0);
  if (vector == nullptr) return fail(ErrorCode::kInternal, "the model gave no embedding");
  if (!std::isfinite(vector[0])) {
    return fail(ErrorCode::kInternal, "the model produced no numbers for the embedding");
  }
  return normalised({vector, static_cast<std::size_t>(size_)});
}

}  // namespace hearth::engine
