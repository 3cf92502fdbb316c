// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "http/client.h"
#include "lab/target/dialect.h"
#include "lab/target/open_target.h"
#include "lab/target/target.h"

namespace hearth::lab {

// A server that runs already, of whatever kind. It is asked, and where it runs on this machine, its
// processes and the files that they map are looked at. Nothing is done to it but kLoad, by a short
// question, as any client would.
class AddressTarget : public Target {
 public:
  static Result<std::unique_ptr<Target>> open(const TargetOptions& options);

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  std::vector<pid_t> processes() const override;
  Paths paths() const override;
  Result<> take(Step step) override;
  double last_start_ms() const override { return 0; }
  std::map<std::string, std::string> levels() const override;
  Answer ask(const Question& question) override;
  bool start_is_waited_for() const override { return false; }

 private:
  AddressTarget(const TargetOptions& options, http::Client client);

  void find_kind();
  Result<> find_model();
  void find_file_of_ollama();
  void add_file(const std::string& path);
  void look_at_files();
  Result<http::HttpResponse> call(http::Client::Call call) const;
  std::string body_of(const std::string& path) const;  // empty: it was not answered with 200

  TargetOptions options_;
  http::Client client_;
  std::string name_;
  std::string version_;
  Asking asking_;
  bool is_hearth_ = false;
  bool is_known_ = false;  // which dialect it speaks
  bool is_local_ = false;
  std::set<std::string> models_;
  std::set<std::string> programs_;
};

}  // namespace hearth::lab
