// SPDX-License-Identifier: Apache-2.0
#include "engine/reference.h"

#include <llama.h>

#include <algorithm>
#include <memory>

#include "engine/cpu_threads.h"
#include "engine/engine_log.h"
#include "engine/paths.h"
#include "engine/tokens.h"

namespace hearth::engine {
namespace {

struct Release {
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
};
using ModelPtr = std::unique_ptr<llama_model, Release>;
using ContextPtr = std::unique_ptr<llama_context, Release>;

ModelPtr load(const std::vector<std::string>& paths) {
  std::vector<const char*> names = c_strings(paths);
  return ModelPtr{
      llama_model_load_from_splits(names.data(), names.size(), llama_model_default_params())};
}

std::vector<Token> tokens_of(const llama_vocab* vocab, const std::string& text) {
  std::vector<Token> tokens(text.size() + 8);
  const int count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), tokens.data(),
                                   static_cast<int>(tokens.size()), true, true);
  tokens.resize(static_cast<std::size_t>(std::max(count, 0)));
  return tokens;
}

ContextPtr context_for(const ModelPtr& model, int cells) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(std::max(cells, 4096));
  params.n_batch = params.n_ctx;
  params.n_threads = params.n_threads_batch = physical_cores();
  params.swa_full = false;
  return ContextPtr{llama_init_from_model(model.get(), params)};
}

Token most_probable(llama_context* context, int vocabulary) {
  const float* logits = llama_get_logits_ith(context, -1);
  return static_cast<Token>(std::max_element(logits, logits + vocabulary) - logits);
}

}  // namespace

Result<std::string> greedy_reference(const std::vector<std::string>& paths,
                                     const std::string& prompt, int count) {
  const ModelPtr model = load(paths);
  if (!model) return fail(ErrorCode::kCorrupt, "load: " + take_engine_error());
  const llama_vocab* vocab = llama_model_get_vocab(model.get());
  std::vector<Token> tokens = tokens_of(vocab, prompt);
  const ContextPtr context = context_for(model, static_cast<int>(tokens.size()) + count);
  if (!context) return fail(ErrorCode::kInternal, "context: " + take_engine_error());
  std::string text;
  for (int i = 0; i < count; ++i) {
    const auto batch = llama_batch_get_one(tokens.data(), static_cast<int>(tokens.size()));
    if (llama_decode(context.get(), batch) != 0) return fail(ErrorCode::kInternal, "decode failed");
    const Token token = most_probable(context.get(), llama_vocab_n_tokens(vocab));
    if (llama_vocab_is_eog(vocab, token)) break;
    char piece[256];
    const int length = llama_token_to_piece(vocab, token, piece, sizeof piece, 0, false);
    text.append(piece, static_cast<std::size_t>(std::max(length, 0)));
    tokens.assign(1, token);
  }
  return text;
}

}  // namespace hearth::engine
