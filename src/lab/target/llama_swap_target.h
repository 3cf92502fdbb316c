// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "lab/target/started_target.h"

namespace hearth::lab {

// llama-swap, which stays up and runs llama-server when it is asked for the model.
class LlamaSwapTarget : public StartedTarget {
 public:
  static Result<std::unique_ptr<Target>> open(const TargetOptions& options);
  ~LlamaSwapTarget() override { stop(); }

 protected:
  Launch launch() override;
  std::string health_path() const override { return "/v1/models"; }
  Asking asking() const override { return {Dialect::kCompletion, "lab", {}, options().stop}; }
  Result<> bring(Step step) override;

 private:
  explicit LlamaSwapTarget(const TargetOptions& options) : StartedTarget{options} {}

  std::string configuration() const;
  Result<> load() const;
  Result<> unload() const;
  Result<> end_server() const;
  Result<> forget_prompts() const;
  bool is_loaded() const;

  std::string llama_server_;
};

}  // namespace hearth::lab
