// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "lab/target/file_server.h"
#include "lab/target/started_target.h"

namespace hearth::lab {

// `hearth serve` with a data directory of its own. It runs a copy of the program, whose pages the
// running lab does not map, so that they can be dropped.
//
// The model is imported as "lab", where it lies. kRemoveModel is about a copy of it, "lab-fetched",
// which the lab's own file server hands out: from that step on, until the first step after a
// question, everything here speaks of the copy.
class HearthTarget : public StartedTarget {
 public:
  static Result<std::unique_ptr<Target>> open(const TargetOptions& options);
  ~HearthTarget() override;

  Paths paths() const override;
  Result<> take(Step step) override;
  std::map<std::string, std::string> levels() const override;
  Answer ask(const Question& question) override;

 protected:
  Launch launch() override;
  std::string health_path() const override { return "/health"; }
  Asking asking() const override;
  Result<> bring(Step step) override;

 private:
  struct Kept {  // tokens
    double live = 0;
    double memory = 0;
    double disk = 0;
  };

  explicit HearthTarget(const TargetOptions& options) : StartedTarget{options} {}

  Result<> prepare();
  Result<> add_model();
  Result<> wait_until_compiled_is_stored();

  Result<> settle();
  Result<> load();
  Result<> unload();
  Result<> end_worker();
  Result<> forget_prompts();
  Result<> move_prompts(Step step);
  Result<> remove_model();
  Result<> remove_the_copy();
  Result<> leave_the_copy();

  Result<> post(const std::string& path, const std::string& more = {},
                Takes takes = Takes::kMoments) const;
  boost::json::value model() const;  // null when it cannot be told
  std::string level(const char* layer) const;
  Kept kept() const;
  double whole_blocks() const;
  Result<> wait_until_idle() const;

  std::string model_ = "lab";
  std::string copy_path_;
  std::unique_ptr<FileServer> files_;
  int prompt_tokens_ = 0;  // of the last question
  bool asked_ = false;     // since kRemoveModel
  bool fresh_ = true;      // nothing was loaded since the server or worker was started or ended
};

}  // namespace hearth::lab
