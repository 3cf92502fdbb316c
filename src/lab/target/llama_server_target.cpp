// SPDX-License-Identifier: Apache-2.0
#include "lab/target/llama_server_target.h"

#include <fmt/format.h>

#include "base/text.h"
#include "lab/target/json_look.h"

namespace hearth::lab {
namespace {

// "version: 0.5.0 (build 1, ...)" among whatever else it prints.
std::string version_in(const std::string& output) {
  constexpr std::string_view kLabel = "version: ";
  const std::size_t at = output.find(kLabel);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kLabel.size();
  return std::string{trimmed(output.substr(begin, output.find('\n', begin) - begin), " \r")};
}

}  // namespace

Result<std::unique_ptr<Target>> LlamaServerTarget::open(const TargetOptions& options) {
  const Result<std::string> program =
      find_program(options.program.empty() ? "llama-server" : options.program);
  if (!program) return Failed{program.error()};
  std::unique_ptr<LlamaServerTarget> target{new LlamaServerTarget{options}};
  target->set_program(*program);
  if (Result<> made = target->make_folders(); !made) return Failed{std::move(made).error()};
  const auto told =
      run_to_end({{*program, "--version"}, {}, target->in_folder("version.log"), nullptr},
                 std::chrono::seconds{20});
  if (!told) return Failed{told.error()};
  target->set_version(version_in(*told));
  return target;
}

Launch LlamaServerTarget::launch() {
  prompts_.clear();
  std::vector<std::string> arguments{"-m",
                                     options().model,
                                     "--alias",
                                     "lab",
                                     "--host",
                                     "127.0.0.1",
                                     "--port",
                                     "0",
                                     "-c",
                                     std::to_string(options().context),
                                     "--no-ui",
                                     "--slot-save-path",
                                     options().folder};
  if (options().threads > 0) {
    arguments.insert(arguments.end(), {"-t", std::to_string(options().threads)});
  }
  return {command(std::move(arguments)), {}, in_folder("server.log"), options().journal};
}

Answer LlamaServerTarget::ask(const Question& question) {
  prompts_.insert(question.prompt);
  return StartedTarget::ask(question);
}

Result<> LlamaServerTarget::bring(Step step) {
  switch (step) {
    case Step::kLoad:
      return start();
    case Step::kEndWorker: {
      const Result<> ended = runs() ? end(process()->pid()) : Result<>{};
      if (ended) stop();
      return ended;
    }
    case Step::kForgetPrompts:
      return forget_prompts();
    case Step::kUnload:
      return unsupported(step, "it holds its model for as long as it runs");
    case Step::kPromptsToMemory:
      return unsupported(step, "it alone decides what it keeps in memory beside the model");
    case Step::kPromptsToDisk:
      return unsupported(step, "it reads saved slots when it is told to, not for a request");
    case Step::kRemoveModel:
      return unsupported(step, "it was given a file and fetches none");
    case Step::kStop:
    case Step::kStart:
      break;
  }
  return {};
}

// Erasing a slot leaves what other prompts have pushed out of it into memory. No call empties that,
// so then it is started anew.
Result<> LlamaServerTarget::forget_prompts() {
  if (!runs() || prompts_.empty()) return {};
  if (prompts_.size() == 1) {
    const Result<> erased = erase_slots();
    if (erased) prompts_.clear();
    if (erased || erased.error().code() == ErrorCode::kCancelled) return erased;
  }
  stop();
  return start();
}

Result<> LlamaServerTarget::erase_slots() {
  const auto told = call("GET", "/props");
  if (!told) return Failed{told.error()};
  const int slots = static_cast<int>(number_at(*told, {"total_slots"}).value_or(1));
  for (int slot = 0; slot < slots; ++slot) {
    const auto erased = call("POST", fmt::format("/slots/{}?action=erase", slot));
    if (!erased) return Failed{erased.error()};
  }
  return {};
}

}  // namespace hearth::lab
