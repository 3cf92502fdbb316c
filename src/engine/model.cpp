// SPDX-License-Identifier: Apache-2.0
#include "engine/model.h"

#include <llama.h>

#include <array>
#include <cstdio>

#include "engine/engine_log.h"
#include "engine/metadata.h"
#include "engine/paths.h"
#include "engine/restorable.h"
#include "engine/weight_set.h"

namespace hearth::engine {
namespace {

struct ProgressCall {
  const LoadProgress& progress;
  bool given_up = false;
};

bool on_progress(float fraction, void* user) {
  auto& call = *static_cast<ProgressCall*>(user);
  call.given_up = call.progress && !call.progress(fraction);
  return !call.given_up;
}

// Metadata that replaces the file's: no tokenizer, but the right number of tokens. Ends with an
// empty key.
std::array<llama_model_kv_override, 3> without_vocabulary(const Vocabulary& vocabulary) {
  std::array<llama_model_kv_override, 3> overrides{};
  overrides[0].tag = LLAMA_KV_OVERRIDE_TYPE_STR;
  std::snprintf(overrides[0].key, sizeof overrides[0].key, "tokenizer.ggml.model");
  std::snprintf(overrides[0].val_str, sizeof overrides[0].val_str, "none");
  overrides[1].tag = LLAMA_KV_OVERRIDE_TYPE_INT;
  std::snprintf(overrides[1].key, sizeof overrides[1].key, "%s.vocab_size",
                vocabulary.architecture().c_str());
  overrides[1].val_i64 = vocabulary.size();
  return overrides;
}

}  // namespace

Model::~Model() = default;
Model::Model(Model&& other) noexcept = default;

void Model::Free::operator()(llama_model* model) const { llama_model_free(model); }

Model::Model(llama_model* model) : model_{model}, sliding_window_{llama_model_n_swa(model)} {}

int Model::embedding_size() const { return llama_model_n_embd_out(model_.get()); }

std::string Model::not_restorable() const { return engine::not_restorable(model_.get()); }

Result<Model> Model::load(const std::vector<std::string>& paths, const Vocabulary& vocabulary,
                          Repack repack, const LoadProgress& progress) {
  const auto overrides = without_vocabulary(vocabulary);
  ProgressCall call{progress};
  llama_model_params params = llama_model_default_params();
  params.kv_overrides = overrides.data();
  params.use_extra_bufts = repack == Repack::kYes;
  params.progress_callback = on_progress;
  params.progress_callback_user_data = &call;
  std::vector<const char*> names = c_strings(paths);
  take_engine_error();
  llama_model* model = llama_model_load_from_splits(names.data(), names.size(), params);
  if (model != nullptr) return Model{model};
  if (call.given_up) return fail(ErrorCode::kCancelled, "the load was given up");
  return fail(ErrorCode::kCorrupt, "load: " + take_engine_error());
}

namespace {

struct TakeCall {
  WeightSet& weights;
  bool refused = false;
};

void on_tensor(ggml_tensor* tensor, void* user) {
  auto& call = *static_cast<TakeCall*>(user);
  if (!call.weights.take(tensor)) call.refused = true;
}

}  // namespace

Result<Model> Model::stream(const Metadata& metadata, std::unique_ptr<WeightSet> weights) {
  TakeCall call{*weights};
  const llama_model_params params = llama_model_default_params();
  take_engine_error();
  llama_model* made = llama_model_init_from_user(metadata.handle(), on_tensor, &call, params);
  if (made == nullptr) return fail(ErrorCode::kUnsupported, "load: " + take_engine_error());
  Model model{made};
  model.weights_ = std::move(weights);
  if (call.refused) return fail(ErrorCode::kUnsupported, "a tensor is not what its file says");
  model.weights_->seal();
  return model;
}

Result<> Model::add_adapter(const std::string& path) {
  take_engine_error();
  llama_adapter_lora* adapter = llama_adapter_lora_init(model_.get(), path.c_str());
  if (adapter == nullptr) return fail(ErrorCode::kCorrupt, take_engine_error());
  adapters_.push_back(adapter);
  return {};
}

Result<> Model::apply_adapters(llama_context* context) const {
  if (adapters_.empty()) return {};
  std::vector<llama_adapter_lora*> adapters = adapters_;
  std::vector<float> scales(adapters.size(), 1.0F);
  take_engine_error();
  if (llama_set_adapters_lora(context, adapters.data(), adapters.size(), scales.data()) == 0) {
    return {};
  }
  return fail(ErrorCode::kInternal, "adapters: " + take_engine_error());
}

}  // namespace hearth::engine
