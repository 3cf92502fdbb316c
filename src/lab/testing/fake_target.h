// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/target/target.h"
#include "lab/testing/fake_machine.h"

namespace hearth::lab::testing {

// A server of one model that lives in a FakeMachine: it maps its file while weights are resident,
// keeps prompts in three tiers, and takes the machine's time. Running and loaded at first. Belongs
// to one thread; the machine outlives it.
class FakeTarget : public Target {
 public:
  FakeTarget(FakeMachine& machine, std::string name)
      : machine_{machine}, name_{std::move(name)}, model_{"/models/shared.gguf"} {
    machine_.files[model_];
    machine_.files[prompts_path()] = {.size = Bytes{1'000'000}};
    start();
    load();
  }
  ~FakeTarget() override { stop(); }
  FakeTarget(const FakeTarget&) = delete;
  FakeTarget& operator=(const FakeTarget&) = delete;

  // ---- how it behaves ----
  std::set<Step> cannot;  // refused with kUnsupported
  std::set<Step> fails;   // kUnavailable
  bool waits_for_start = false;
  bool tells_levels = true;
  double tokens_per_second = 50.0;
  double read_rate = 1e9;   // bytes per second, of a load
  double prefill_ms = 100;  // of a prompt that is kept nowhere
  // Each changes one answer, the next one first.
  std::deque<std::function<void(Answer&)>> mishaps;

  // ---- what it went through ----
  std::vector<Step> taken;  // only those that were done
  std::vector<Question> asked;
  std::set<std::string> live, memory, disk;  // prompts that are kept
  bool running = false;
  bool loaded = false;

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  std::vector<pid_t> processes() const override {
    return running ? std::vector<pid_t>{pid_} : std::vector<pid_t>{};
  }
  Paths paths() const override {
    return {.model = {model_},
            .compiled = {},
            .prompt_state = {prompts_path()},
            .programs = {"/bin/" + name_}};
  }

  Result<> take(Step step) override {
    if (cannot.contains(step)) {
      return fail(ErrorCode::kUnsupported, name_ + " has no " + std::string{name_of(step)});
    }
    if (fails.contains(step)) return fail(ErrorCode::kUnavailable, name_ + " did not");
    taken.push_back(step);
    act(step);
    return {};
  }
  double last_start_ms() const override { return last_start_ms_; }

  std::map<std::string, std::string> levels() const override {
    if (!tells_levels) return {};
    std::string prefix = "none";
    if (!disk.empty()) prefix = "on disk";
    if (!memory.empty()) prefix = "in RAM";
    if (!live.empty()) prefix = "live";
    return {{"artifact", removed_ ? "absent" : "verified"},
            {"weights", loaded    ? "resident"
                        : running ? "hollow"
                                  : "none"},
            {"prefix", prefix}};
  }

  Answer ask(const Question& question) override {
    asked.push_back(question);
    Answer answer;
    if (!running) {
      answer.ending = Answer::Ending::kBroken;
      answer.problem = "connection refused";
      return answer;
    }
    respond(question, answer);
    machine_.clock.advance(
        std::chrono::microseconds{static_cast<std::int64_t>(answer.timing.total_ms * 1000)});
    if (!mishaps.empty()) {
      mishaps.front()(answer);
      mishaps.pop_front();
    }
    return answer;
  }
  bool start_is_waited_for() const override { return waits_for_start; }

 private:
  std::string prompts_path() const { return "/data/" + name_ + ".kv"; }

  void act(Step step) {
    switch (step) {
      case Step::kStop:
        return stop();
      case Step::kStart:
        return start();
      case Step::kLoad:
        start();
        load();
        return;
      case Step::kUnload:
        return unload();
      case Step::kEndWorker:
        stop();
        return start();
      case Step::kForgetPrompts:
        live.clear();
        memory.clear();
        disk.clear();
        return;
      case Step::kPromptsToMemory:
        memory.merge(live);
        live.clear();
        return;
      case Step::kPromptsToDisk:
        disk.merge(live);
        disk.merge(memory);
        live.clear();
        memory.clear();
        return;
      case Step::kRemoveModel:
        removed_ = true;
        return unload();
    }
  }

  void start() {
    if (running) return;
    static pid_t next = 1000;
    pid_ = next++;
    running = true;
    machine_.processes[pid_] = {.born = machine_.clock.now(),
                                .resident = Bytes{50'000'000},
                                .anonymous = Bytes{20'000'000}};
    last_start_ms_ = 30;
    machine_.clock.advance(std::chrono::milliseconds{30});
    if (waits_for_start) last_start_ms_ += load();
  }
  void stop() {
    if (!running) return;
    unload();
    memory.clear();
    running = false;
    machine_.processes.erase(pid_);
  }
  double load() {
    if (loaded) return 0;
    loaded = true;
    removed_ = false;
    const Bytes read = machine_.read(model_);
    machine_.maps[model_].insert(pid_);
    FakeMachine::Process& process = machine_.processes[pid_];
    process.resident = process.anonymous + machine_.files[model_].size;
    const double ms = 10 + 1000 * static_cast<double>(read.count()) / read_rate;
    machine_.clock.advance(std::chrono::microseconds{static_cast<std::int64_t>(ms * 1000)});
    return ms;
  }
  void unload() {
    loaded = false;
    live.clear();
    machine_.maps[model_].erase(pid_);
    machine_.processes[pid_].resident = Bytes{50'000'000};
  }

  bool keeps(const std::string& prompt) const {
    return live.contains(prompt) || memory.contains(prompt) || disk.contains(prompt);
  }

  void respond(const Question& question, Answer& answer) {
    Timing& timing = answer.timing;
    const double read_ms = load();
    if (read_ms > 0) timing.stages_ms["load"] = read_ms;
    const bool hit = keeps(question.prompt);
    timing.stages_ms["prefill"] = hit ? 1 : prefill_ms;
    timing.prompt_tokens = 128;
    timing.cached_tokens = hit ? 127 : 0;
    timing.generated_tokens = question.new_tokens;
    timing.tokens_per_second = tokens_per_second;
    timing.first_token_ms = read_ms + timing.stages_ms["prefill"];
    timing.total_ms =
        *timing.first_token_ms + 1000 * std::max(0, question.new_tokens - 1) / tokens_per_second;
    answer.text = "as always";
    answer.model = "lab";
    live.insert(question.prompt);
  }

  FakeMachine& machine_;
  std::string name_;
  std::string version_ = "1.0";
  std::string model_;
  pid_t pid_ = 0;
  double last_start_ms_ = 0;
  bool removed_ = false;
};

}  // namespace hearth::lab::testing
