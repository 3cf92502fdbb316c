// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_run.h"

#include <fcntl.h>
#include <sys/sendfile.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/time_text.h"
#include "cli/lab_model.h"
#include "front/config.h"
#include "lab/target/open_target.h"

namespace hearth::cli {
namespace {

constexpr std::size_t kPiece = 64U << 20U;

// Where the dashboard of a server with the usual data directory lists it:
// "…/reports/classes-20261130-182631"
std::string usual_directory_of(const std::string& study) {
  std::string stamp = rfc3339(Clock::real().wall_us(), Fraction::kNone);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
  std::ranges::replace(stamp, 'T', '-');
  const std::string data = front::default_data_directory(front::process_environment());
  return data + "/reports/" + study + '-' + stamp;
}

Result<> check(const LabOptions& options) {
  if (options.without_hearth && options.against.empty()) {
    return fail(ErrorCode::kInvalid, "--without-hearth leaves no server; name one with --against");
  }
  if (starts_servers(options) && options.models.empty()) {
    return fail(ErrorCode::kInvalid, "--model FILE says with which model");
  }
  return {};
}

Result<std::vector<std::string>> find_models(const LabOptions& options) {
  if (!starts_servers(options)) return options.models;
  std::vector<std::string> found;
  for (const std::string& model : options.models) {
    auto file = model_file(model, options.host, options.key);
    if (!file) return Failed{file.error()};
    found.push_back(std::move(*file));
  }
  return found;
}

// So that --resume finds from anywhere what this directory's relative paths say.
void make_absolute(LabOptions& options) {
  const auto absolute = [](std::string& path) {
    if (!path.empty()) path = std::filesystem::absolute(path).string();
  };
  const auto absolute_path = [&absolute](std::string& path_or_name) {
    if (path_or_name.find('/') != std::string::npos) absolute(path_or_name);
  };
  absolute(options.trace);
  for (std::string* program :
       {&options.hearth, &options.llama_server, &options.ollama, &options.llama_swap}) {
    absolute_path(*program);
  }
  for (std::string& tier : options.tiers) absolute_path(tier);
}

Result<LabRun> begin(const std::string& study, LabOptions options) {
  if (const Result<> good = check(options); !good) return Failed{good.error()};
  auto models = find_models(options);
  if (!models) return Failed{models.error()};
  options.models = *models;
  make_absolute(options);
  lab::RunInfo info;
  info.study = study;
  info.started_wall_us = Clock::real().wall_us();
  info.seed = options.seed;
  info.options = to_json(options);
  const std::string path = options.out.empty() ? usual_directory_of(study) : options.out;
  auto rows =
      lab::RunDirectory::create(Files::real(), std::filesystem::absolute(path).string(), info);
  if (!rows) return Failed{rows.error()};
  return LabRun{std::move(*rows), std::move(options), std::move(*models)};
}

Result<LabRun> go_on(const std::string& study, const LabOptions& options) {
  auto rows =
      lab::RunDirectory::open(Files::real(), std::filesystem::absolute(options.resume).string(),
                              lab::RunDirectory::Use::kGoOn);
  if (!rows) return Failed{rows.error()};
  if (rows->info().study != study) {
    return fail(ErrorCode::kInvalid,
                options.resume + " is a run of `hearth lab " + rows->info().study + "`");
  }
  auto as_begun = lab_options_from(rows->info().options);
  if (!as_begun) return Failed{as_begun.error()};
  as_begun->json = options.json;
  as_begun->resume = options.resume;
  as_begun->host = options.host;
  as_begun->key = options.key;
  auto models = find_models(*as_begun);
  if (!models) return Failed{models.error()};
  return LabRun{std::move(*rows), std::move(*as_begun), std::move(*models)};
}

}  // namespace

bool starts_servers(const LabOptions& options) {
  return !options.without_hearth || std::ranges::any_of(options.against, lab::is_started_by_lab);
}

Result<LabRun> lab_run(const std::string& study, LabOptions options) {
  return options.resume.empty() ? begin(study, std::move(options)) : go_on(study, options);
}

Result<> check_only(const std::vector<std::string>& only, const std::vector<lab::Study>& studies) {
  std::vector<std::string> names;
  for (const lab::Study& study : studies) {
    for (const lab::Arm& arm : study.arms) names.push_back(arm.state.name);
  }
  for (const std::string& wanted : only) {
    const auto begins_so = [&](const std::string& name) { return name.starts_with(wanted); };
    if (std::ranges::any_of(names, begins_so)) continue;
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    return fail(ErrorCode::kInvalid,
                "--only " + wanted + ": no arm's name begins so; there are: " + all);
  }
  return {};
}

Result<> copy_file(const std::string& from, const std::string& to,
                   const std::function<bool()>& stop) {
  const Fd source{::open(from.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!source) return fail_errno("open " + from, errno);
  const Fd copy{::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!copy) return fail_errno("make " + to, errno);
  while (!stop()) {
    const ssize_t sent = ::sendfile(copy.get(), source.get(), nullptr, kPiece);
    if (sent == 0) return {};
    if (sent < 0 && errno != EINTR) return fail_errno("copy " + from, errno);
  }
  return fail(ErrorCode::kCancelled, "interrupted");
}

}  // namespace hearth::cli
