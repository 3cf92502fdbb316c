// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include "lab/target/started_target.h"

namespace hearth::lab {

// llama-server, started for one model: whoever asks when nothing runs waits for its start.
class LlamaServerTarget : public StartedTarget {
 public:
  static Result<std::unique_ptr<Target>> open(const TargetOptions& options);
  ~LlamaServerTarget() override { stop(); }

  Answer ask(const Question& question) override;
  bool start_is_waited_for() const override { return true; }

 protected:
  Launch launch() override;
  std::string health_path() const override { return "/health"; }
  Asking asking() const override { return {Dialect::kCompletion, "lab", {}, options().stop}; }
  Result<> bring(Step step) override;

 private:
  explicit LlamaServerTarget(const TargetOptions& options) : StartedTarget{options} {}

  Result<> forget_prompts();
  Result<> erase_slots();

  std::set<std::string> prompts_;  // asked since its start
};

}  // namespace hearth::lab
