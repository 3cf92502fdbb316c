// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/json_fields.h"
#include "cli/lab_model.h"
#include "cli/session.h"
#include "lab/machine/processes.h"
#include "lab/report/report.h"
#include "lab/report/terminal.h"
#include "lab/target/open_target.h"

namespace hearth::cli {
namespace {

// "hearth-lab-classes-20261130-182631"
std::string usual_directory_of(const std::string& study) {
  std::string stamp = rfc3339(Clock::real().wall_us(), Fraction::kNone);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
  std::ranges::replace(stamp, 'T', '-');
  return "hearth-lab-" + study + '-' + stamp;
}

// A name that is a file's name as well.
std::string folder_name(const std::string& side) {
  std::string name = side;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '-');
  return name;
}

Result<> check(const LabOptions& options) {
  if (options.without_hearth && options.against.empty()) {
    return fail(ErrorCode::kInvalid, "--without-hearth leaves no server; name one with --against");
  }
  const bool started =
      !options.without_hearth || std::ranges::any_of(options.against, lab::is_started_by_lab);
  if (started && options.models.empty()) {
    return fail(ErrorCode::kInvalid, "--model FILE says with which model");
  }
  return {};
}

Result<lab::RunDirectory> directory_for(const std::string& study, LabOptions& options) {
  const Files& files = Files::real();
  if (options.resume.empty()) {
    if (const Result<> good = check(options); !good) return Failed{good.error()};
    lab::RunInfo info;
    info.study = study;
    info.started_wall_us = Clock::real().wall_us();
    info.seed = options.seed;
    info.options = to_json(options);
    const std::string path = options.out.empty() ? usual_directory_of(study) : options.out;
    return lab::RunDirectory::create(files, std::filesystem::absolute(path).string(), info);
  }
  auto run = lab::RunDirectory::open(files, std::filesystem::absolute(options.resume).string());
  if (!run) return run;
  if (run->info().study != study) {
    return fail(ErrorCode::kInvalid,
                options.resume + " is a run of `hearth lab " + run->info().study + "`");
  }
  auto as_begun = lab_options_from(run->info().options);
  if (!as_begun) return Failed{as_begun.error()};
  as_begun->json = options.json;
  as_begun->resume = options.resume;
  as_begun->host = options.host;
  as_begun->key = options.key;
  options = std::move(*as_begun);
  return run;
}

std::string program_of(const std::string& server, const LabOptions& options) {
  if (server == "hearth") return options.hearth;
  if (server == "llama-server") return options.llama_server;
  if (server == "ollama") return options.ollama;
  if (server == "llama-swap") return options.llama_swap;
  return {};
}

// Of a server that was given by address, by how it calls itself: what it does by itself follows.
std::string kind_of(const std::string& server, const std::string& version) {
  if (lab::is_started_by_lab(server)) return server;
  for (const char* kind : {"hearth", "ollama", "llama-swap"}) {
    if (lower_case(version).starts_with(kind)) return kind;
  }
  return server;
}

// What a machine says that it does not show is a matter of the whole run.
void describe_machine(const std::string& description, lab::RunInfo& info) {
  info.machine = description;
  const auto machine = parse_json(description);
  if (!machine || !machine->is_object()) return;
  boost::json::object object = machine->get_object();
  for (const auto& [what, why] : part_in(object, "not_observable")) {
    if (!why.is_string()) continue;
    info.not_observable.push_back(std::string{what} + ": " + std::string{why.get_string()});
  }
  object.erase("not_observable");
  info.machine = boost::json::serialize(object);
}

}  // namespace

LabBench::LabBench(LabOptions options, lab::Journal journal, lab::RunDirectory rows)
    : options_{std::move(options)}, journal_{std::move(journal)}, rows_{std::move(rows)} {}

Result<std::unique_ptr<LabBench>> LabBench::open(const std::string& study, LabOptions options) {
  const Files& files = Files::real();
  const std::string journals = lab::Journal::usual_directory();
  for (const std::string& done : lab::Journal::put_back_stale(files, journals)) {
    fmt::print(stderr, "left by an earlier run: {}\n", done);
  }
  auto journal = lab::Journal::open(files, journals);
  if (!journal) return Failed{journal.error()};
  auto rows = directory_for(study, options);
  if (!rows) return Failed{rows.error()};
  std::unique_ptr<LabBench> bench{
      new LabBench{std::move(options), std::move(*journal), std::move(*rows)}};
  if (const Result<> noted = bench->note_folders(); !noted) return Failed{noted.error()};
  if (const Result<> found = bench->find_models(); !found) return Failed{found.error()};
  if (const Result<> noted = bench->note_pages(); !noted) return Failed{noted.error()};
  return bench;
}

LabBench::~LabBench() {
  progress_.clear();
  keep_logs();
  for (const std::string& failed : journal_.put_back()) {
    fmt::print(stderr, "hearth: could not be put back: {}\n", failed);
  }
}

// Before any of it is done: the journal outlives us, however we end.
Result<> LabBench::note_folders() {
  for (const std::string& tree :
       {rows_.path() + "/servers", lab::TrialRunner::competition_directory(rows_)}) {
    const auto noted = journal_.add({lab::Undo::Kind::kRemoveTree, tree, {}});
    if (!noted) return noted;
  }
  return {};
}

Result<> LabBench::note_pages() {
  for (const std::string& model : models_) {
    const auto pages = machine_->observe({}, {model}).pages;
    if (!pages || *pages <= 0 || model.starts_with(rows_.path())) continue;
    const auto noted =
        journal_.add({lab::Undo::Kind::kReadBack, model, fmt::format("{:.3f}", *pages)});
    if (!noted) return noted;
  }
  return {};
}

// Of servers/, only what they logged stays.
void LabBench::keep_logs() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path servers = fs::path{rows_.path()} / "servers";
  for (fs::recursive_directory_iterator at{servers, ignored}, end; at != end;
       at.increment(ignored)) {
    if (at->path().filename() != "server.log") continue;
    std::string name = fs::relative(at->path().parent_path(), servers, ignored).string();
    std::ranges::replace(name, '/', '-');
    fs::rename(at->path(), fs::path{rows_.path()} / (name + ".log"), ignored);
  }
  fs::remove_all(servers, ignored);
}

Result<> LabBench::find_models() {
  const bool started =
      !options_.without_hearth || std::ranges::any_of(options_.against, lab::is_started_by_lab);
  for (const std::string& model : options_.models) {
    if (!started) {
      models_.push_back(model);
      continue;
    }
    auto file = model_file(model, options_.host, options_.key);
    if (!file) return Failed{file.error()};
    file = unmapped(*file);
    if (!file) return Failed{file.error()};
    models_.push_back(std::move(*file));
  }
  if (models_.empty()) models_.emplace_back();
  return {};
}

// Pages that somebody maps cannot be dropped; so then the servers get a copy.
Result<std::string> LabBench::unmapped(const std::string& file) {
  const std::vector<std::string> users = lab::who_maps(file);
  if (users.empty()) return file;
  namespace fs = std::filesystem;
  progress_.say(fmt::format("{} is in use by {}: a copy is measured", file, users.front()));
  const fs::path folder = fs::path{rows_.path()} / "servers" / "models";
  const fs::path copy = folder / fs::path{file}.filename();
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed) fs::copy_file(file, copy, fs::copy_options::overwrite_existing, failed);
  if (failed) return fail_errno("copy " + file, failed.value());
  return copy.string();
}

Result<std::unique_ptr<lab::Target>> LabBench::open_side(const std::string& server,
                                                         const SideChanges& changes) {
  const bool ours = lab::is_started_by_lab(server);
  lab::TargetOptions wanted;
  wanted.server = server;
  wanted.name = changes.name;
  wanted.program = program_of(server, options_);
  wanted.llama_server = options_.llama_server;
  wanted.model = !changes.model.empty() ? changes.model : models_.front();
  if (!ours && !options_.name_there.empty()) {
    wanted.model = options_.name_there;
  } else if (!ours && wanted.model.starts_with('/')) {
    wanted.model.clear();
  }
  std::string folder = rows_.path() + "/servers/";
  if (!changes.folder.empty()) folder += changes.folder + '/';
  wanted.folder = folder + folder_name(changes.name.empty() ? server : changes.name);
  wanted.threads = options_.threads;
  wanted.context = options_.context;
  wanted.configuration = changes.configuration;
  wanted.within = changes.within;
  if (server == "ollama" && changes.idle_timer == SideChanges::IdleTimer::kAsItComes) {
    wanted.within.insert(wanted.within.end(), {"/usr/bin/env", "OLLAMA_KEEP_ALIVE=5m"});
  }
  wanted.journal = &journal_;
  wanted.stop = &LabBench::interrupted;
  return lab::open_target(wanted);
}

Result<LabSides> LabBench::start(const SideChanges& changes) {
  std::vector<std::string> servers;
  if (!options_.without_hearth) servers.emplace_back("hearth");
  if (changes.configuration.empty()) {
    servers.insert(servers.end(), options_.against.begin(), options_.against.end());
  }
  LabSides sides;
  std::string problems;
  for (const std::string& server : servers) {
    const bool skipped =
        changes.addresses == SideChanges::Addresses::kLeaveOut && !lab::is_started_by_lab(server);
    if (skipped || interrupted()) continue;
    auto target = open_side(server, changes);
    if (!target) {
      problems = server + ": " + target.error().message();
      progress_.say("left out: " + problems);
      lab::RunInfo info = rows_.info();
      info.left_out[server] = target.error().message();
      if (const Result<> noted = rows_.update(info); !noted) return Failed{noted.error()};
      continue;
    }
    sides.sides.push_back({target->get(), kind_of(server, (*target)->version())});
    sides.targets.push_back(std::move(*target));
  }
  if (interrupted()) return fail(ErrorCode::kCancelled, "interrupted");
  if (sides.targets.empty()) return fail(ErrorCode::kUnavailable, "no server to ask: " + problems);
  return sides;
}

Result<> LabBench::describe(const std::vector<lab::Arm>& arms, const LabSides& sides) {
  lab::RunInfo info = rows_.info();
  std::vector<std::string> files;
  for (const std::string& model : models_) {
    if (model.starts_with('/')) files.push_back(model);
  }
  if (info.machine.empty()) describe_machine(machine_->description(files), info);
  info.model.clear();
  for (const std::string& model : models_) {
    const std::filesystem::path path{model};
    if (!info.model.empty()) info.model += ", ";
    info.model += path.filename().string();
  }
  for (const lab::Arm& arm : arms) {
    if (std::ranges::find(info.arms, arm.state.name) == info.arms.end()) {
      info.arms.push_back(arm.state.name);
    }
    info.about[arm.state.name] = arm.state.about;
  }
  for (const auto& target : sides.targets) info.versions[target->name()] = target->version();
  return rows_.update(info);
}

LabBench::Work LabBench::work_with(const LabSides& sides) {
  lab::TrialRunner::Options options;
  options.quiet_patience =
      std::chrono::milliseconds{static_cast<std::int64_t>(options_.quiet_s * 1000)};
  return work_with(sides, options);
}

LabBench::Work LabBench::work_once_with(const LabSides& sides) {
  lab::TrialRunner::Options options;
  options.quiet_patience =
      std::chrono::milliseconds{static_cast<std::int64_t>(options_.quiet_s * 1000)};
  options.tries = 1;
  return work_with(sides, options);
}

LabBench::Work LabBench::work_with(const LabSides& sides, lab::TrialRunner::Options options) {
  std::vector<lab::Target*> all;
  for (const auto& target : sides.targets) all.push_back(target.get());
  Work work;
  work.runner = std::make_unique<lab::TrialRunner>(
      lab::TrialRunner::World{*machine_, rows_, Clock::real(), &LabBench::interrupted,
                              [this](const lab::Trial& trial) { progress_.trial(trial); },
                              std::move(all)},
      options);
  work.driver = std::make_unique<lab::StudyDriver>(
      lab::StudyDriver::World{*work.runner, rows_, &LabBench::interrupted,
                              [this](int done, int of) { progress_.count(done, of); }},
      sides.sides);
  return work;
}

int LabBench::report(const std::string& more) {
  progress_.clear();
  const auto summary = lab::write_report(rows_);
  if (!summary) return hearth::cli::report(summary.error());
  if (options_.json) {
    print(lab::to_json(rows_.info(), *summary) + "\n");
  } else {
    const OutputStyle style = style_of(1);
    print(lab::terminal_text(rows_.info(), *summary,
                             {.terminal = style.terminal,
                              .width = style.width,
                              .unicode = style.unicode,
                              .colour = style.colour}));
    print(more);
    print("\nReport: " + rows_.path() + "/report.html\n");
  }
  if (interrupted()) {
    fmt::print(stderr, "ended early; go on with --resume {}\n", rows_.path());
    return kExitInterrupted;
  }
  const auto& rows = rows_.rows();
  return std::ranges::any_of(rows, &lab::Trial::counts) ? kExitOk : kExitFailed;
}

}  // namespace hearth::cli
