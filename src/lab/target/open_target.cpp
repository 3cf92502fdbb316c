// SPDX-License-Identifier: Apache-2.0
#include "lab/target/open_target.h"

#include <algorithm>
#include <filesystem>

#include "lab/target/address_target.h"
#include "lab/target/hearth_target.h"
#include "lab/target/llama_server_target.h"
#include "lab/target/llama_swap_target.h"
#include "lab/target/ollama_target.h"

namespace hearth::lab {
namespace {

using Open = Result<std::unique_ptr<Target>> (*)(const TargetOptions&);

struct Kind {
  const char* name;
  Open open;
};

constexpr Kind kKinds[] = {
    {"hearth", HearthTarget::open},
    {"llama-server", LlamaServerTarget::open},
    {"ollama", OllamaTarget::open},
    {"llama-swap", LlamaSwapTarget::open},
};

const Kind* kind_of(const std::string& server) {
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const Kind& kind) { return server == kind.name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

std::string_view name_of(Step step) {
  switch (step) {
    case Step::kStop:
      return "stop";
    case Step::kStart:
      return "start";
    case Step::kLoad:
      return "load";
    case Step::kUnload:
      return "unload";
    case Step::kEndWorker:
      return "end the worker";
    case Step::kForgetPrompts:
      return "forget prompts";
    case Step::kPromptsToMemory:
      return "prompts to memory";
    case Step::kPromptsToDisk:
      return "prompts to disk";
    case Step::kRemoveModel:
      return "remove the model";
  }
  return "?";
}

Question with_patience(Question question, const TargetOptions& options) {
  question.patience = options.patience.value_or(question.patience);
  return question;
}

bool is_started_by_lab(const std::string& server) { return kind_of(server) != nullptr; }

Result<std::unique_ptr<Target>> open_target(const TargetOptions& options) {
  const Kind* kind = kind_of(options.server);
  if (kind == nullptr) {
    const bool is_word = options.server.find_first_of(":.") == std::string::npos;
    if (!is_word) return AddressTarget::open(options);
    return fail(
        ErrorCode::kInvalid,
        options.server + " is neither an address nor hearth, llama-server, ollama or llama-swap");
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(options.model, error)) {
    return fail(ErrorCode::kNotFound, "there is no file " + options.model);
  }
  return kind->open(options);
}

}  // namespace hearth::lab
