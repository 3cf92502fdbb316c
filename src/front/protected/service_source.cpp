// SPDX-License-Identifier: Apache-2.0
#include "front/protected/service_source.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace hearth::front {
namespace {

namespace fs = std::filesystem;

constexpr int kBetweenSearches = 10;  // readings
constexpr std::size_t kMostProcesses = 64;
constexpr std::size_t kMostTasks = 512;  // of all of them
constexpr std::size_t kCommLength = 15;  // the kernel keeps no more of a name

std::optional<std::uint64_t> take_number(std::string_view& text) {
  const std::size_t start = text.find_first_not_of(' ');
  if (start == text.npos) return std::nullopt;
  text.remove_prefix(start);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "some ... total=N", in microseconds.
std::optional<Duration> waited_in(const std::string& path) {
  const std::string text = read_small_file(path);
  std::string_view rest = text;
  if (!rest.starts_with("some ")) return std::nullopt;
  const std::size_t at = rest.find("total=");
  if (at == rest.npos) return std::nullopt;
  rest.remove_prefix(at + 6);
  const auto total = take_number(rest);
  if (!total) return std::nullopt;
  return std::chrono::microseconds{*total};
}

// The place in version 2's tree; nothing where that is not told.
std::optional<std::string> group_in(const std::string& path) {
  const std::string text = read_small_file(path);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with("0::/")) return std::string{line.substr(3)};
  }
  return std::nullopt;
}

bool is_within(std::string_view path, std::string_view group) {
  if (group == "/" || path == group) return true;
  return path.starts_with(group) && path[group.size()] == '/';
}

// A sum of what a counter has grown by, which survives that it begins anew.
class Growth {
 public:
  void follow(std::optional<Duration> counter) {
    if (counter && last_ && *counter > *last_) sum_ += *counter - *last_;
    last_ = counter;
  }
  std::optional<Duration> sum() const {
    return last_ ? std::optional<Duration>{sum_} : std::nullopt;
  }
  void begin_anew() { last_.reset(); }

 private:
  std::optional<Duration> last_;
  Duration sum_{};
};

// What tasks of a control group waited for.
class GroupWaits {
 public:
  explicit GroupWaits(std::string root) : root_{std::move(root)} {}

  // False: there is no such group.
  bool follow(const std::string& group) {
    if (group != group_) begin_anew();
    group_ = group;
    const auto folder = folder_of(group);
    if (!folder) return false;
    cpu_.follow(waited_in(*folder + "/cpu.pressure"));
    memory_.follow(waited_in(*folder + "/memory.pressure"));
    io_.follow(waited_in(*folder + "/io.pressure"));
    return true;
  }
  void begin_anew() {
    for (Growth* each : {&cpu_, &memory_, &io_}) each->begin_anew();
  }
  void put(ServiceCounts& counts) const {
    counts.cpu = cpu_.sum();
    counts.memory = memory_.sum();
    counts.io = io_.sum();
  }

 private:
  // Beside version 1, version 2's tree lies in a folder of its own.
  std::optional<std::string> folder_of(const std::string& group) const {
    std::error_code error;
    for (const char* tree : {"", "/unified"}) {
      std::string folder = root_ + tree + group;
      if (fs::exists(folder + "/cgroup.procs", error)) return folder;
    }
    return std::nullopt;
  }

  const std::string root_;
  std::string group_;
  Growth cpu_, memory_, io_;
};

class CgroupSource : public ServiceSource {
 public:
  CgroupSource(std::string path, const ServiceRoots& roots) : waits_{roots.cgroup} {
    group_ = "/" + std::string{trimmed(path, "/")};
  }

  Reading read() override {
    Reading reading;
    if (!waits_.follow(group_)) {
      waits_.begin_anew();
      return reading;
    }
    waits_.put(reading.counts);
    const ServiceCounts& counts = reading.counts;
    const bool told = counts.cpu || counts.memory || counts.io;
    reading.state = told ? State::kThere : State::kUnreadable;
    return reading;
  }

 private:
  std::string group_;
  GroupWaits waits_;
};

class ProcessSource : public ServiceSource {
 public:
  ProcessSource(std::string name, ServiceRoots roots)
      : name_{std::move(name)}, roots_{std::move(roots)}, waits_{roots_.cgroup} {}

  Reading read() override {
    if (lost_ || reads_++ % kBetweenSearches == 0) search();
    Reading reading;
    follow_tasks();
    if (processes_.empty()) {
      waits_.begin_anew();
      return reading;
    }
    reading.state = tasks_.empty() ? State::kUnreadable : State::kThere;
    if (!tasks_.empty()) reading.counts.runs = sum_;
    if (follow_group()) waits_.put(reading.counts);
    return reading;
  }

 private:
  struct Seen {
    ServiceCounts::Runs runs;
    bool still = false;
  };

  std::string folder_of(const std::string& process) const { return roots_.proc + "/" + process; }
  bool is_it(const std::string& process) const;
  void search();
  void follow_tasks();
  void follow_task(const std::string& process, const fs::path& task);
  bool follow_group();

  const std::string name_;
  const ServiceRoots roots_;
  GroupWaits waits_;
  std::map<std::string, bool> processes_;  // whether it is there since before the last reading
  std::map<std::string, Seen> tasks_;
  ServiceCounts::Runs sum_;
  bool lost_ = false;
  int reads_ = 0;
};

bool ProcessSource::is_it(const std::string& process) const {
  const std::string comm = read_small_file(folder_of(process) + "/comm");
  if (comm.empty()) return false;
  if (trimmed(comm, "\n") == std::string_view{name_}.substr(0, kCommLength)) return true;
  std::error_code error;
  std::string exe = fs::read_symlink(folder_of(process) + "/exe", error).filename();
  constexpr std::string_view kDeleted = " (deleted)";
  if (exe.ends_with(kDeleted)) exe.resize(exe.size() - kDeleted.size());
  return !error && exe == name_;
}

void ProcessSource::search() {
  lost_ = false;
  std::error_code error;
  const std::string self = fs::read_symlink(roots_.proc + "/self", error).filename();
  for (const auto& entry : fs::directory_iterator{roots_.proc, error}) {
    if (processes_.size() >= kMostProcesses) return;
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos || name == self) continue;
    if (!processes_.contains(name) && is_it(name)) processes_.emplace(name, false);
  }
}

void ProcessSource::follow_tasks() {
  for (auto& [id, seen] : tasks_) seen.still = false;
  for (auto process = processes_.begin(); process != processes_.end();) {
    if (!is_it(process->first)) {
      process = processes_.erase(process);
      lost_ = true;
      continue;
    }
    std::error_code error;
    const std::string tasks = folder_of(process->first) + "/task";
    for (const auto& task : fs::directory_iterator{tasks, error}) {
      follow_task(process->first, task.path());
    }
    process->second = true;
    ++process;
  }
  std::erase_if(tasks_, [](const auto& task) { return !task.second.still; });
}

void ProcessSource::follow_task(const std::string& process, const fs::path& task) {
  const std::string id = process + "/" + task.filename().string();
  const auto known = tasks_.find(id);
  if (known == tasks_.end() && tasks_.size() >= kMostTasks) return;
  const std::string text = read_small_file(task / "schedstat");
  std::string_view rest = text;
  const auto ran = take_number(rest);
  const auto waited = take_number(rest);
  const auto times = take_number(rest);
  if (!ran || !waited || !times) return;
  const ServiceCounts::Runs now{Duration{static_cast<Duration::rep>(*waited)}, *times};
  // All that a new task of a known process has counted is new.
  ServiceCounts::Runs before = processes_.at(process) ? ServiceCounts::Runs{} : now;
  if (known != tasks_.end()) before = known->second.runs;
  if (now.times >= before.times && now.waited >= before.waited) {
    sum_.waited += now.waited - before.waited;
    sum_.times += now.times - before.times;
  }
  tasks_[id] = {now, true};
}

// Waits of a group that Hearth is in are Hearth's as well.
bool ProcessSource::follow_group() {
  const auto group = group_in(folder_of(processes_.begin()->first) + "/cgroup");
  const auto ours = group_in(roots_.proc + "/self/cgroup");
  if (!group || !ours || is_within(*ours, *group)) {
    waits_.begin_anew();
    return false;
  }
  return waits_.follow(*group);
}

}  // namespace

std::unique_ptr<ServiceSource> process_source(const std::string& name, const ServiceRoots& roots) {
  return std::make_unique<ProcessSource>(name, roots);
}

std::unique_ptr<ServiceSource> cgroup_source(const std::string& path, const ServiceRoots& roots) {
  return std::make_unique<CgroupSource>(path, roots);
}

}  // namespace hearth::front
