// SPDX-License-Identifier: Apache-2.0
#include "lab/target/hearth_target.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "lab/target/hearth_files.h"
#include "lab/target/json_look.h"

namespace hearth::lab {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using std::chrono::seconds;

constexpr int kBlockTokens = 64;
constexpr seconds kPatience{60};
constexpr const char* kModel = "lab";
constexpr const char* kCopy = "lab-fetched";

}  // namespace

Result<std::unique_ptr<Target>> HearthTarget::open(const TargetOptions& options) {
  std::unique_ptr<HearthTarget> target{new HearthTarget{options}};
  if (Result<> ready = target->prepare(); !ready) return Failed{std::move(ready).error()};
  return target;
}

HearthTarget::~HearthTarget() {
  stop();
  std::error_code ignored;
  fs::remove_all(in_folder("program"), ignored);
}

// ---- making it ready ----

Result<> HearthTarget::prepare() {
  if (Result<> made = make_folders(); !made) return made;
  Result<std::string> copy = copy_hearth(options().program, in_folder("program"));
  if (!copy) return Failed{std::move(copy).error()};
  set_program(std::move(*copy));
  auto files = FileServer::serve({options().model, options().fetched_per_second});
  if (!files) return Failed{std::move(files).error()};
  files_ = std::move(*files);
  if (Result<> started = start(); !started) return started;
  const Result<json::value> told = call("GET", "/api/hearth/version");
  if (told)
    set_version(fmt::format("{}, {}", text_at(*told, {"version"}), text_at(*told, {"engine"})));
  return add_model();
}

Launch HearthTarget::launch() {
  const std::string file = in_folder("hearth.toml");
  std::ofstream{file} << hearth_configuration(options(), files_->origin());
  return {
      command({"serve", "--data", in_folder("data"), "--config", file, "--listen", "127.0.0.1:0"}),
      {{"HOME", options().folder}},
      in_folder("server.log"),
      options().journal};
}

Result<> HearthTarget::add_model() {
  const json::object import{{"path", options().model}, {"name", kModel}};
  const auto imported =
      call("POST", "/api/hearth/import", json::serialize(import), Takes::kReading);
  if (!imported) return Failed{imported.error()};
  // What hashes files by itself would read them while they are to be cold; and only what is known
  // may be kept of prompts on disk.
  if (Result<> read = post("verify", R"(,"stream":false)", Takes::kReading); !read) return read;
  if (Result<> loaded = load(); !loaded) return loaded;
  if (Result<> stored = wait_until_compiled_is_stored(); !stored) return stored;
  return unload();
}

// All loads but the first find what the first one computed.
Result<> HearthTarget::wait_until_compiled_is_stored() {
  const json::value told = model();
  if (number_at(told, {"layers", "compiled", "bytes"}).value_or(0) <= 0) return {};
  std::uint64_t before = 0;
  const auto is_stored = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{500});
    const std::uint64_t now = size_of(files_below(in_folder("data/compiled")));
    const bool is_stable = now > 0 && now == before;
    before = now;
    return is_stable;
  };
  // A configuration may have switched it off: then there is nothing to wait for.
  const bool is_off = options().configuration.contains("layers_off");
  Result<> stored =
      wait_until("repacked weights are stored", is_off ? seconds{5} : kPatience, is_stored);
  if (!stored && stored.error().code() == ErrorCode::kCancelled) return stored;
  return {};
}

// ---- what it says ----

json::value HearthTarget::model() const {
  Result<json::value> told = call("GET", "/api/hearth/models/" + model_);
  return told ? std::move(*told) : json::value{};
}

std::string HearthTarget::level(const char* layer) const {
  return text_at(model(), {"layers", layer, "level"});
}

std::map<std::string, std::string> HearthTarget::levels() const {
  std::map<std::string, std::string> found;
  const json::value told = model();
  const json::value* layers = look(told, {"layers"});
  if (layers == nullptr || !layers->is_object()) return found;
  for (const auto& [layer, what] : layers->get_object()) {
    found[std::string{layer}] = text_at(what, {"level"});
  }
  return found;
}

HearthTarget::Kept HearthTarget::kept() const {
  const Result<json::value> told = call("GET", "/api/hearth/prefix");
  const json::array* models = told ? array_at(*told, {"models"}) : nullptr;
  Kept kept;
  for (std::size_t n = 0; models != nullptr && n < models->size(); ++n) {
    const json::value& one = (*models)[n];
    if (text_at(one, {"model"}) != model_ + ":latest") continue;
    kept.live = number_at(one, {"live_tokens"}).value_or(0);
    kept.memory = number_at(one, {"memory_tokens"}).value_or(0);
    kept.disk = number_at(one, {"disk_tokens"}).value_or(0);
  }
  return kept;
}

// Of the last prompt, what can be kept: its last token is always evaluated.
double HearthTarget::whole_blocks() const {
  return prompt_tokens_ <= 1 ? 0 : (prompt_tokens_ - 1) / kBlockTokens * kBlockTokens;
}

Target::Paths HearthTarget::paths() const {
  Paths paths = StartedTarget::paths();
  if (model_ == kCopy) {
    paths.model.clear();
    if (fs::exists(copy_path_)) paths.model.push_back(copy_path_);
  }
  paths.compiled = files_below(in_folder("data/compiled"));
  paths.prompt_state = files_below(in_folder("data/prefix"), ".kv");
  paths.programs = files_below(in_folder("program"));
  return paths;
}

Asking HearthTarget::asking() const { return {Dialect::kCompletion, model_, {}, options().stop}; }

Answer HearthTarget::ask(const Question& question) {
  Answer answer = StartedTarget::ask(question);
  prompt_tokens_ = answer.timing.prompt_tokens.value_or(prompt_tokens_);
  // The copy is the same model, whatever it is called for being fetched.
  if (model_ == kCopy && answer.model.starts_with(kCopy)) {
    answer.model.replace(0, std::string_view{kCopy}.size(), kModel);
  }
  asked_ = true;
  if (runs()) fresh_ = false;
  return answer;
}

// ---- what is done to it ----

Result<> HearthTarget::take(Step step) {
  if (model_ == kCopy && asked_) {
    // Whoever is to be stopped may not answer; the copy's memory goes with it.
    if (step == Step::kStop) model_ = kModel;
    if (Result<> left = leave_the_copy(); !left) return left;
  }
  const bool was_running = runs();
  if (Result<> taken = StartedTarget::take(step); !taken) return taken;
  return step == Step::kStart && !was_running ? settle() : Result<>{};
}

// A server that was started some time ago has a worker ready, if the model was ever used.
Result<> HearthTarget::settle() {
  fresh_ = true;
  if (number_at(model(), {"last_used_us"}).value_or(0) <= 0) return {};
  Result<> ready = wait_until("the worker is hollow", seconds{10},
                              [this] { return level("weights") == "hollow"; });
  return !ready && ready.error().code() == ErrorCode::kCancelled ? ready : Result<>{};
}

Result<> HearthTarget::bring(Step step) {
  if (!runs()) {
    if (step == Step::kUnload || step == Step::kEndWorker) return {};
    if (Result<> started = take(Step::kStart); !started) return started;
  }
  switch (step) {
    case Step::kLoad:
      return load();
    case Step::kUnload:
      return unload();
    case Step::kEndWorker:
      return end_worker();
    case Step::kForgetPrompts:
      return forget_prompts();
    case Step::kPromptsToMemory:
    case Step::kPromptsToDisk:
      return move_prompts(step);
    case Step::kRemoveModel:
      return remove_model();
    case Step::kStop:
    case Step::kStart:
      break;
  }
  return {};
}

Result<> HearthTarget::post(const std::string& path, const std::string& more, Takes takes) const {
  const auto done = call("POST", "/api/hearth/" + path,
                         fmt::format(R"({{"model":"{}"{}}})", model_, more), takes);
  return done ? Result<>{} : Result<>{Failed{done.error()}};
}

Result<> HearthTarget::wait_until_idle() const {
  return wait_until("it is idle", kPatience, [this] {
    const json::value told = model();
    return number_at(told, {"active"}) == 0.0 && number_at(told, {"queued"}) == 0.0;
  });
}

Result<> HearthTarget::load() {
  fresh_ = false;
  if (Result<> loaded = post("load", {}, Takes::kReading); !loaded) return loaded;
  return wait_until("the weights are resident", reading_patience(),
                    [this] { return level("weights") == "resident"; });
}

// Afterwards its worker waits with the vocabulary alone, unless it never had anything loaded.
Result<> HearthTarget::unload() {
  if (Result<> idle = wait_until_idle(); !idle) return idle;
  if (Result<> unloaded = post("unload"); !unloaded) return unloaded;
  Result<> gone = wait_until("the weights are gone", kPatience, [this] {
    const std::string now = level("weights");
    return now == "hollow" || now == "none" || now.empty();
  });
  if (!gone || fresh_ || level("weights") == "hollow") return gone;
  // Counting tokens needs the vocabulary and no weights.
  const auto counted = call(
      "POST", "/v1/messages/count_tokens",
      fmt::format(R"({{"model":"{}","messages":[{{"role":"user","content":"Hello"}}]}})", model_));
  if (!counted) return Failed{counted.error()};
  return wait_until("the worker is hollow", kPatience,
                    [this] { return level("weights") == "hollow"; });
}

Result<> HearthTarget::end_worker() {
  const auto pid = number_at(model(), {"worker", "pid"});
  fresh_ = true;
  if (!pid || *pid <= 1) return {};
  if (Result<> ended = end(static_cast<pid_t>(*pid)); !ended) return ended;
  return wait_until("the server saw its worker's end", kPatience,
                    [&] { return number_at(model(), {"worker", "pid"}) != pid; });
}

// ---- prompts ----

Result<> HearthTarget::forget_prompts() {
  if (Result<> idle = wait_until_idle(); !idle) return idle;
  const bool was_loaded = level("weights") == "resident";
  if (was_loaded) {
    if (Result<> unloaded = unload(); !unloaded) return unloaded;
  }
  if (Result<> cooled = post("cool", R"(,"layer":"prefix")"); !cooled) return cooled;
  Result<> gone = wait_until("no prompt is kept", kPatience, [this] {
    const Kept now = kept();
    return now.live + now.memory + now.disk == 0;
  });
  return !gone || !was_loaded ? gone : load();
}

Result<> HearthTarget::move_prompts(Step step) {
  const double wanted = whole_blocks();
  if (wanted == 0) {
    return fail(ErrorCode::kConflict,
                fmt::format("no prompt of {} tokens or more was asked, so none "
                            "is kept",
                            kBlockTokens + 1));
  }
  if (Result<> idle = wait_until_idle(); !idle) return idle;
  const bool to_disk = step == Step::kPromptsToDisk;
  Result<> there = wait_until("the prompt is kept in memory", kPatience, [&] {
    const Kept now = kept();
    return now.memory >= wanted || (to_disk && now.disk >= wanted);
  });
  if (!there) return there;
  const bool was_loaded = level("weights") == "resident";
  if (Result<> unloaded = unload(); !unloaded) return unloaded;
  if (to_disk) {
    if (Result<> cooled = post("cool", R"(,"layer":"prefix","tier":"memory")"); !cooled) {
      return cooled;
    }
  }
  there =
      wait_until(to_disk ? "prompts are on disk alone" : "prompts are in memory", kPatience, [&] {
        const Kept now = kept();
        if (now.live > 0) return false;
        return to_disk ? now.disk >= wanted && now.memory == 0 : now.memory >= wanted;
      });
  return !there || !was_loaded ? there : load();
}

// ---- the model's bytes ----

Result<> HearthTarget::remove_model() {
  Result<> removed = remove_the_copy();
  if (!removed) model_ = kModel;
  return removed;
}

Result<> HearthTarget::remove_the_copy() {
  if (model_ == kModel && level("weights") == "resident") {
    if (Result<> unloaded = unload(); !unloaded) return unloaded;
  }
  model_ = kCopy;
  asked_ = false;
  if (!model().is_object()) {
    const json::object pull{
        {"source", files_->url()}, {"name", kCopy}, {"insecure", true}, {"stream", false}};
    const auto pulled = call("POST", "/api/hearth/pull", json::serialize(pull), Takes::kReading);
    if (!pulled) return Failed{pulled.error()};
  }
  const json::value told = model();
  const json::array* paths = array_at(told, {"paths"});
  if (paths != nullptr && !paths->empty() && paths->front().is_string()) {
    copy_path_ = std::string{paths->front().get_string()};
  }
  if (Result<> idle = wait_until_idle(); !idle) return idle;
  if (level("artifact") == "absent") return {};
  if (Result<> unloaded = post("unload"); !unloaded) return unloaded;
  if (Result<> removed = post("cool", R"(,"layer":"artifact")"); !removed) return removed;
  return wait_until("its bytes are gone", kPatience,
                    [this] { return level("artifact") == "absent"; });
}

// What was fetched is given back: it would take memory beside the model that is measured next.
Result<> HearthTarget::leave_the_copy() {
  if (model_ != kCopy) return {};
  Result<> removed;
  if (runs()) removed = remove_model();
  model_ = kModel;
  return removed;
}

}  // namespace hearth::lab
