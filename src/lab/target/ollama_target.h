// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lab/target/started_target.h"

namespace hearth::lab {

// `ollama serve` with a store of its own, into which the model is copied once.
class OllamaTarget : public StartedTarget {
 public:
  static Result<std::unique_ptr<Target>> open(const TargetOptions& options);
  ~OllamaTarget() override { stop(); }

  Paths paths() const override;

 protected:
  Launch launch() override;
  std::string health_path() const override { return "/api/version"; }
  Asking asking() const override;
  Result<> bring(Step step) override;

 private:
  explicit OllamaTarget(const TargetOptions& options) : StartedTarget{options} {}

  Result<> prepare();
  Result<> add_model();
  Result<> generate_nothing(std::optional<int> keep_alive) const;
  Result<> load() const;
  Result<> unload() const;
  Result<> end_runners() const;
  Result<> forget_prompts() const;
  bool is_loaded() const;

  std::string blob_;
};

}  // namespace hearth::lab
