// SPDX-License-Identifier: Apache-2.0
#include "lab/target/ollama_target.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <fstream>

#include "lab/machine/processes.h"
#include "lab/target/json_look.h"
#include "lab/target/modelfile.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;
using std::chrono::seconds;

constexpr seconds kPatience{60};
constexpr int kForever = -1;

}  // namespace

Result<std::unique_ptr<Target>> OllamaTarget::open(const TargetOptions& options) {
  const Result<std::string> program =
      find_program(options.program.empty() ? "ollama" : options.program);
  if (!program) return Failed{program.error()};
  std::unique_ptr<OllamaTarget> target{new OllamaTarget{options}};
  target->set_program(*program);
  if (Result<> ready = target->prepare(); !ready) return Failed{std::move(ready).error()};
  return target;
}

Result<> OllamaTarget::prepare() {
  if (Result<> started = start(); !started) return started;
  const auto told = call("GET", "/api/version");
  if (told) set_version(text_at(*told, {"version"}));
  return add_model();
}

Launch OllamaTarget::launch() {
  return {command({"serve"}),
          {{"OLLAMA_HOST", "127.0.0.1:0"},
           {"OLLAMA_MODELS", in_folder("models")},
           {"OLLAMA_KEEP_ALIVE", std::to_string(kForever)},
           {"OLLAMA_NO_CLOUD", "1"},
           {"HOME", options().folder}},
          in_folder("server.log"),
          options().journal};
}

Result<> OllamaTarget::add_model() {
  const std::string modelfile = in_folder("Modelfile");
  std::ofstream{modelfile} << "FROM " << options().model << '\n';
  const Launch create{{program(), "create", "lab", "-f", modelfile},
                      {{"OLLAMA_HOST", client().address()}, {"HOME", options().folder}},
                      in_folder("create.log"),
                      options().journal,
                      options().stop};
  const auto created = run_to_end(create, seconds{1800});
  if (!created) return Failed{Error{created.error()}.during("copy the model into its store")};
  const auto told = call("POST", "/api/show", R"({"model":"lab"})");
  if (!told) return Failed{told.error()};
  blob_ = file_in_modelfile(text_at(*told, {"modelfile"}));
  return {};
}

Target::Paths OllamaTarget::paths() const {
  Paths paths = StartedTarget::paths();
  paths.model = blob_.empty() ? std::vector<std::string>{} : std::vector{blob_};
  return paths;
}

Asking OllamaTarget::asking() const {
  Asking asking{Dialect::kOllama, "lab", {{"num_ctx", options().context}}, options().stop};
  if (options().threads > 0) asking.ollama_options["num_thread"] = options().threads;
  return asking;
}

Result<> OllamaTarget::bring(Step step) {
  const bool needs_server = step == Step::kLoad;
  if (!runs()) return needs_server ? start().and_then([this] { return load(); }) : Result<>{};
  switch (step) {
    case Step::kLoad:
      return load();
    case Step::kUnload:
      return unload();
    case Step::kEndWorker:
      return end_runners();
    case Step::kForgetPrompts:
      return forget_prompts();
    case Step::kPromptsToMemory:
    case Step::kPromptsToDisk:
      return unsupported(step, "it keeps prompts in the loaded model alone");
    case Step::kRemoveModel:
      return unsupported(step, "a request does not make it fetch a model");
    case Step::kStop:
    case Step::kStart:
      break;
  }
  return {};
}

// A request without a prompt loads, or with `keep_alive` 0 unloads. Other options than a question's
// would make it load again. What one request says of keeping holds for those that say nothing.
Result<> OllamaTarget::generate_nothing(std::optional<int> keep_alive) const {
  json::object numbers;
  for (const auto& [name, value] : asking().ollama_options) numbers[name] = value;
  json::object body{{"model", "lab"}, {"stream", false}, {"options", std::move(numbers)}};
  if (keep_alive) body["keep_alive"] = *keep_alive;
  const auto done = call("POST", "/api/generate", json::serialize(body), Takes::kReading);
  return done ? Result<>{} : Result<>{Failed{done.error()}};
}

// Its list alone is not enough: a process that was killed stays in it until somebody asks.
bool OllamaTarget::is_loaded() const {
  if (children_of(process()->pid()).empty()) return false;
  const auto told = call("GET", "/api/ps");
  const json::array* models = told ? array_at(*told, {"models"}) : nullptr;
  return models != nullptr && !models->empty();
}

Result<> OllamaTarget::load() const {
  if (Result<> asked = generate_nothing(std::nullopt); !asked) return asked;
  return wait_until("the model is loaded", kPatience, [this] { return is_loaded(); });
}

// The list is empty a moment before the process with the weights has ended.
Result<> OllamaTarget::unload() const {
  if (is_loaded()) {
    if (Result<> asked = generate_nothing(0); !asked) return asked;
  }
  return wait_until("the model's process is gone", kPatience,
                    [this] { return !is_loaded() && children_of(process()->pid()).empty(); });
}

Result<> OllamaTarget::end_runners() const {
  for (const pid_t pid : children_of(process()->pid())) {
    if (Result<> ended = end(pid); !ended) return ended;
  }
  return {};
}

Result<> OllamaTarget::forget_prompts() const {
  if (!is_loaded()) return {};
  if (Result<> unloaded = unload(); !unloaded) return unloaded;
  return load();
}

}  // namespace hearth::lab
