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
#include "cli/json_fields.h"
#include "cli/lab_run.h"
#include "cli/session.h"
#include "lab/machine/processes.h"
#include "lab/report/report.h"
#include "lab/report/terminal.h"
#include "lab/target/open_target.h"

namespace hearth::cli {
namespace {

constexpr double kSlowestRead = 20e6;  // bytes per second
constexpr double kUsualPatienceS = 120;
constexpr const char* kKeyVariable = "HEARTH_API_KEY";

// A name that is a file's name as well.
std::string folder_name(const std::string& side) {
  std::string name = side;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '-');
  return name;
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

// "hearth.log", "hearth-2.log", ...: nothing that is there is replaced.
std::string free_name(const std::string& folder, const std::string& stem,
                      const std::string& extension) {
  std::string path = folder + '/' + stem + extension;
  for (int n = 2; std::filesystem::exists(path) && n < 10000; ++n) {
    path = fmt::format("{}/{}-{}{}", folder, stem, n, extension);
  }
  return path;
}

}  // namespace

LabBench::LabBench(lab::Journal journal, LabRun run)
    : options_{std::move(run.options)},
      journal_{std::move(journal)},
      rows_{std::move(run.rows)},
      models_{std::move(run.models)} {}

Result<std::unique_ptr<LabBench>> LabBench::open(const std::string& study, LabOptions options) {
  const Files& files = Files::real();
  const std::string journals = lab::Journal::usual_directory();
  for (const std::string& done : lab::Journal::put_back_stale(files, journals)) {
    fmt::print(stderr, "left by an earlier run: {}\n", done);
  }
  auto journal = lab::Journal::open(files, journals);
  if (!journal) return Failed{journal.error()};
  auto run = lab_run(study, std::move(options));
  if (!run) {
    (void)journal->put_back();
    return Failed{run.error()};
  }
  std::unique_ptr<LabBench> bench{new LabBench{std::move(*journal), std::move(*run)}};
  if (const Result<> ready = bench->prepare(); !ready) return Failed{ready.error()};
  return bench;
}

LabBench::~LabBench() {
  progress_.clear();
  clear_scratch();
  for (const std::string& failed : journal_.put_back()) {
    fmt::print(stderr, "hearth: could not be put back: {}\n", failed);
  }
  if (!began_ && options_.resume.empty()) rows_.discard();
}

Result<> LabBench::prepare() {
  auto scratch = journal_.make_tree(rows_.path());
  if (!scratch) return Failed{scratch.error()};
  rows_.set_scratch(std::move(*scratch));
  if (starts_servers(options_)) {
    for (std::string& model : models_) {
      auto file = unmapped(model);
      if (!file) return Failed{file.error()};
      model = std::move(*file);
    }
  }
  if (models_.empty()) models_.emplace_back();
  return note_pages();
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

// Of what servers leave, only their logs stay.
void LabBench::clear_scratch() {
  namespace fs = std::filesystem;
  if (rows_.scratch() == rows_.path()) return;
  std::error_code ignored;
  const fs::path servers = rows_.scratch();
  for (fs::recursive_directory_iterator at{servers, ignored}, end; at != end;
       at.increment(ignored)) {
    if (at->path().filename() != "server.log") continue;
    std::string name = fs::relative(at->path().parent_path(), servers, ignored).string();
    std::ranges::replace(name, '/', '-');
    fs::rename(at->path(), free_name(rows_.path(), name, ".log"), ignored);
  }
  fs::remove_all(servers, ignored);
}

// Pages that somebody maps cannot be dropped; so then the servers get a copy.
Result<std::string> LabBench::unmapped(const std::string& file) {
  const std::vector<std::string> users = lab::who_maps(file);
  if (users.empty()) return file;
  namespace fs = std::filesystem;
  progress_.say(fmt::format("{} is in use by {}: a copy is measured", file, users.front()));
  const std::string copy =
      free_name(rows_.scratch(), fs::path{file}.stem(), fs::path{file}.extension());
  const Result<> copied = copy_file(file, copy, &LabBench::interrupted);
  if (!copied) return Failed{copied.error()};
  return copy;
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
  std::string folder = rows_.scratch() + '/';
  if (!changes.folder.empty()) folder += changes.folder + '/';
  wanted.folder = folder + folder_name(changes.name.empty() ? server : changes.name);
  wanted.patience = patience_for(wanted.model.empty() ? models_.front() : wanted.model);
  if (!ours) wanted.key = options_.key.empty() ? process_environment(kKeyVariable) : options_.key;
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

// A cold start of a large model from a slow disk is no hang.
std::optional<std::chrono::milliseconds> LabBench::patience_for(const std::string& model) const {
  using Seconds = std::chrono::duration<double>;
  std::optional<Seconds> patience;
  const auto info = Files::real().info(model);
  const double reading_s = info ? static_cast<double>(info->size.count()) / kSlowestRead : 0;
  if (reading_s > kUsualPatienceS) patience = Seconds{reading_s};
  if (options_.patience_s > 0) patience = Seconds{options_.patience_s};
  if (!patience) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(*patience);
}

Result<LabSides> LabBench::start(const SideChanges& changes) {
  std::vector<std::string> servers;
  if (!options_.without_hearth) servers.emplace_back("hearth");
  if (changes.configuration.empty()) {
    servers.insert(servers.end(), options_.against.begin(), options_.against.end());
  }
  began_ = true;
  LabSides sides;
  std::string problems;
  for (const std::string& server : servers) {
    const bool skipped =
        changes.addresses == SideChanges::Addresses::kLeaveOut && !lab::is_started_by_lab(server);
    if (skipped || interrupted()) continue;
    const std::string& side = changes.name.empty() ? server : changes.name;
    auto target = open_side(server, changes);
    // What ^C has spoiled is no finding: it would be left out of the run for good.
    if (!target && interrupted()) break;
    if (!target) {
      problems = side + ": " + target.error().message();
      leave_out(side, target.error().message());
      continue;
    }
    if (rows_.info().left_out.contains(side)) {
      lab::RunInfo info = rows_.info();
      info.left_out.erase(side);
      keep(info);
    }
    sides.sides.push_back({target->get(), kind_of(server, (*target)->version())});
    sides.targets.push_back(std::move(*target));
  }
  if (interrupted()) return fail(ErrorCode::kCancelled, "interrupted");
  if (sides.targets.empty()) return fail(ErrorCode::kUnavailable, "no server to ask: " + problems);
  return sides;
}

void LabBench::leave_out(const std::string& what, const std::string& why) {
  progress_.say("left out: " + what + ": " + why);
  lab::RunInfo info = rows_.info();
  info.left_out[what] = why;
  keep(info);
}

void LabBench::keep(const lab::RunInfo& info) {
  (void)rows_.update(info);
  tell_not_written();
}

void LabBench::write(const std::string& name, const std::string& content) {
  if (const Result<> kept = rows_.write(name, content); !kept) add_problem(kept.error());
}

// A disk that is full is said once, not with each row.
void LabBench::tell_not_written() {
  if (rows_.not_written() == told_) return;
  told_ = rows_.not_written();
  progress_.say(told_.empty() ? "all that was kept in memory is written now"
                              : "kept in memory, as it cannot be written: " + told_);
}

void LabBench::describe(const std::vector<lab::Arm>& arms, const LabSides& sides) {
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
  keep(info);
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
                              [this](const lab::Trial& trial) {
                                progress_.trial(trial);
                                tell_not_written();
                              },
                              std::move(all)},
      options);
  work.driver = std::make_unique<lab::StudyDriver>(
      lab::StudyDriver::World{*work.runner, rows_, &LabBench::interrupted,
                              [this](int done, int of) { progress_.count(done, of); },
                              [this](std::chrono::milliseconds time) { machine_->sleep(time); }},
      sides.sides);
  return work;
}

int LabBench::report(const std::string& more) {
  progress_.clear();
  // Makes room, where the disk is full.
  clear_scratch();
  const lab::Summary summary = lab::summarise(rows_.info(), rows_.rows());
  if (!rows_.flush()) add_problem(rows_lost());
  const auto written = lab::write_report(rows_);
  if (!written) add_problem(written.error());
  if (options_.json) {
    print(lab::to_json(rows_.info(), summary) + "\n");
  } else {
    const OutputStyle style = style_of(1);
    print(lab::terminal_text(rows_.info(), summary,
                             {.terminal = style.terminal,
                              .width = style.width,
                              .unicode = style.unicode,
                              .colour = style.colour}));
    print(more);
    if (written) print("\nReport: " + rows_.path() + "/report.html\n");
  }
  for (const Error& problem : problems_) (void)hearth::cli::report(problem);
  if (interrupted()) {
    fmt::print(stderr, "ended early; go on with --resume {}\n", rows_.path());
    return kExitInterrupted;
  }
  const auto& rows = rows_.rows();
  const bool has_result = std::ranges::any_of(rows, &lab::Trial::counts);
  return has_result && problems_.empty() ? kExitOk : kExitFailed;
}

Error LabBench::rows_lost() const {
  const std::size_t count = rows_.rows_not_written();
  return Error{ErrorCode::kNoSpace, count == 0
                                        ? rows_.not_written()
                                        : fmt::format("{} of {} rows are lost: {}", count,
                                                      rows_.rows().size(), rows_.not_written())};
}

}  // namespace hearth::cli
