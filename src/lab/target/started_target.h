// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "http/client.h"
#include "lab/target/dialect.h"
#include "lab/target/open_target.h"
#include "lab/target/server_process.h"
#include "lab/target/target.h"

namespace hearth::lab {

// What the kinds of servers have in common that the lab starts: a process, an address, a client.
class StartedTarget : public Target {
 public:
  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  std::vector<pid_t> processes() const override;
  Paths paths() const override;
  Result<> take(Step step) override;
  double last_start_ms() const override { return last_start_ms_; }
  std::map<std::string, std::string> levels() const override { return {}; }
  Answer ask(const Question& question) override;
  bool start_is_waited_for() const override { return false; }

 protected:
  explicit StartedTarget(const TargetOptions& options);

  // ---- of each kind ----
  virtual Launch launch() = 0;
  // Where it listens, once it does; nullopt until then.
  virtual std::optional<http::Client> address_of(ServerProcess& process);
  virtual std::string health_path() const = 0;
  virtual Asking asking() const = 0;
  // All but kStop and kStart.
  virtual Result<> bring(Step step) = 0;

  // ---- for them ----
  Result<> start();
  void stop();
  Result<> make_folders() const;
  bool runs() const { return process_ != nullptr; }
  const TargetOptions& options() const { return options_; }
  const ServerProcess* process() const { return process_.get(); }
  const http::Client& client() const { return *client_; }
  std::string in_folder(const std::string& name) const { return options_.folder + '/' + name; }
  // `within`, the program, and what comes behind it.
  std::vector<std::string> command(std::vector<std::string> arguments) const;
  const std::string& program() const { return program_; }
  void set_program(std::string program) { program_ = std::move(program); }
  void set_version(std::string version) { version_ = std::move(version); }
  // Which programs and libraries its processes map is kept from now on.
  void look_at_programs();

  // How long a call may take: some do nothing but say or begin something, others read the model.
  enum class Takes { kMoments, kReading };
  // The reply of an answer below 300; ^C ends the waiting. Errors: kUnavailable, with what the
  // server says; kNotFound for 404, kUnsupported for 501, kConflict for 409; kCancelled.
  Result<boost::json::value> call(const std::string& method, const std::string& target,
                                  const std::string& body = {},
                                  Takes takes = Takes::kMoments) const;
  // Polls until `holds`. Errors: kUnavailable, "WHAT did not come about in 60 s"; kCancelled (^C).
  Result<> wait_until(const std::string& what, std::chrono::seconds patience,
                      const std::function<bool()>& holds) const;
  // How long reading the model may take, with what a server makes of it: ten minutes at least.
  std::chrono::seconds reading_patience() const;
  // kill -9, and waits until it is gone.
  Result<> end(pid_t pid) const;
  Failed unsupported(Step step, const std::string& why) const;

 private:
  Result<> wait_until_ready(std::chrono::steady_clock::time_point begun);

  TargetOptions options_;
  std::string name_;
  std::string program_;
  std::string version_;
  std::unique_ptr<ServerProcess> process_;
  std::optional<http::Client> client_;
  std::set<std::string> programs_;
  double last_start_ms_ = 0;
  bool saw_a_request_ = false;  // since its start
};

}  // namespace hearth::lab
