// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/vocabulary.h"

struct llama_adapter_lora;
struct llama_context;
struct llama_model;

namespace hearth::engine {

enum class Repack { kYes, kNo };
class Metadata;
class WeightSet;

// Called with 0..1; false gives the load up.
using LoadProgress = std::function<bool(float)>;

// A model's weights, mapped from its file. They come without a vocabulary of their own: that is the
// Vocabulary's, so it is parsed once in a process's life. Belongs to one thread.
class Model {
 public:
  ~Model();
  Model(Model&& other) noexcept;
  Model& operator=(Model&& other) = delete;

  // Errors: kCancelled when `progress` said so, else kCorrupt with the engine's own words.
  static Result<Model> load(const std::vector<std::string>& paths, const Vocabulary& vocabulary,
                            Repack repack, const LoadProgress& progress);

  // A model whose weights come afterwards: `weights` says where from, and its gate makes
  // evaluations wait for them. Errors: kUnsupported, when the engine cannot make it so; try load().
  // kNoSpace.
  static Result<Model> stream(const Metadata& metadata, std::unique_ptr<WeightSet> weights);

  // Of a streamed model; null: loaded as a whole.
  WeightSet* weights() const { return weights_.get(); }

  // Every context that is made from now on computes with this LoRA too, at its full scale. Errors:
  // kCorrupt with the engine's own words: no adapter, or one for another model.
  Result<> add_adapter(const std::string& path);
  // For those that make contexts. Errors: kInternal.
  Result<> apply_adapters(llama_context* context) const;

  llama_model* handle() const { return model_.get(); }
  int sliding_window() const { return sliding_window_; }  // 0: full attention
  int embedding_size() const;
  // See restorable.h.
  std::string not_restorable() const;

 private:
  struct Free {
    void operator()(llama_model* model) const;
  };
  explicit Model(llama_model* model);

  std::unique_ptr<WeightSet> weights_;  // outlives the model, which points into it
  std::unique_ptr<llama_model, Free> model_;
  std::vector<llama_adapter_lora*> adapters_;  // owned by the model
  int sliding_window_;
};

}  // namespace hearth::engine
