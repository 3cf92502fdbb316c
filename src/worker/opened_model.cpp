// SPDX-License-Identifier: Apache-2.0
#include "worker/opened_model.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "engine/engine_log.h"
#include "engine/restorable.h"
#include "worker/cell_plan.h"

namespace hearth::worker {
namespace {

// When the file does not say what it was trained for.
constexpr int kFallbackContext = 4096;

int context_limit_of(const engine::Vocabulary& vocabulary, int wanted) {
  const int trained = vocabulary.trained_context();
  const int most = trained > 0 ? trained : kFallbackContext;
  return wanted > 0 ? std::min(wanted, most) : most;
}

bool is_embedding_model(const engine::Vocabulary& vocabulary) {
  return vocabulary.arch_value("attention.causal").value_or("true") == "false";
}

std::vector<std::string> paths_of(const std::vector<Fd>& files) {
  std::vector<std::string> paths;
  for (const Fd& file : files) paths.push_back(fmt::format("/proc/self/fd/{}", file.get()));
  return paths;
}

// Backends take a process once, however many models it opens (a test opens several).
const Result<engine::Backends>& backends_once(const std::string& variant) {
  static const Result<engine::Backends> backends = engine::load_backends(variant);
  return backends;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr rlim_t kDataWhileOpening = RLIM_INFINITY;  // their shadow memory counts too
#else
constexpr rlim_t kDataWhileOpening = rlim_t{4} << 30;
#endif

// While it lives, the process may have 4 GiB of memory of its own: many times what the largest
// vocabulary takes, and an end to a chat template that builds strings without one. Weights come
// later.
class DataLimit {
 public:
  DataLimit() {
    ::getrlimit(RLIMIT_DATA, &before_);
    rlimit now = before_;
    now.rlim_cur = std::min(before_.rlim_cur, kDataWhileOpening);
    ::setrlimit(RLIMIT_DATA, &now);
  }
  ~DataLimit() { ::setrlimit(RLIMIT_DATA, &before_); }
  DataLimit(const DataLimit&) = delete;
  DataLimit& operator=(const DataLimit&) = delete;

 private:
  rlimit before_{};
};

// Where the engine cannot be asked, it loads the model by itself: slower, and with the same
// answers.
void plan_load(OpenedModel& model, engine::Metadata metadata) {
  const auto repack = model.options.repack ? engine::Repack::kYes : engine::Repack::kNo;
  const CellLimits limits{model.context_limit, std::max(1, model.options.parallel)};
  auto placement = engine::place(metadata, repack, first_cells(limits, 0), limits.sequences + 1);
  if (!placement) {
    log::warn("model.plain_load", {{"model", model.name}, {"reason", placement.error().message()}});
    return;
  }
  model.metadata = std::make_unique<engine::Metadata>(std::move(metadata));
  model.placement = std::move(*placement);
}

}  // namespace

Result<std::unique_ptr<OpenedModel>> open_model(wire::OpenMessage message, std::vector<Fd> files) {
  engine::route_engine_log();
  const DataLimit limit;
  auto model = std::make_unique<OpenedModel>();
  model->name = std::move(message.model);
  model->options = message.options;
  model->files = std::move(files);
  const auto adapters = static_cast<std::size_t>(message.adapters);
  if (adapters >= model->files.size()) return fail(ErrorCode::kInvalid, "a file is missing");
  const auto first = model->files.end() - static_cast<std::ptrdiff_t>(adapters);
  model->adapter_files.assign(std::move_iterator{first}, std::move_iterator{model->files.end()});
  model->files.erase(first, model->files.end());
  model->paths = paths_of(model->files);
  model->adapters = paths_of(model->adapter_files);
  auto loading = std::async(std::launch::async, [&] { return backends_once(message.backend); });
  auto reading =
      std::async(std::launch::async, [&] { return engine::Metadata::read(model->paths); });
  auto vocabulary = engine::Vocabulary::open(model->paths);
  auto backends = loading.get();
  if (!vocabulary) return Failed{std::move(vocabulary).error()};
  if (!backends) return Failed{std::move(backends).error()};
  model->vocabulary = std::move(*vocabulary);
  model->backends = std::move(*backends);
  auto format = engine::ChatFormat::open(*model->vocabulary);
  if (!format) return Failed{std::move(format).error()};
  model->format = std::move(*format);
  model->context_limit = context_limit_of(*model->vocabulary, message.options.context_limit);
  model->generates = !is_embedding_model(*model->vocabulary);
  if (auto metadata = reading.get()) plan_load(*model, std::move(*metadata));
  model->platform = engine::platform_of(model->backends);
  return model;
}

wire::ReadyMessage ready_message(const OpenedModel& model) {
  wire::ReadyMessage ready;
  ready.engine = engine::engine_name();
  ready.backend = model.backends.cpu_variant;
  ready.devices = model.backends.devices;
  ready.architecture = model.vocabulary->architecture();
  ready.vocabulary = model.vocabulary->size();
  ready.trained_context = model.vocabulary->trained_context();
  ready.context_limit = model.context_limit;
  ready.chat_template = model.format->is_from_model() ? "model" : "chatml";
  ready.generates = model.generates;
  ready.calls_tools = model.format->calls_tools();
  ready.fills = model.vocabulary->gap_marks().has_value();
  ready.thinks = model.format->thinks();
  ready.streams = model.metadata != nullptr;
  const engine::MemoryUse& use = model.placement.estimate;
  ready.estimate = {use.weights, use.mapped, use.repacked, use.context, use.compute, use.device};
  ready.compile_key = {model.platform.engine, model.platform.driver, model.platform.hardware,
                       model.placement.layout};
  ready.not_restorable = engine::not_restorable(model.vocabulary->handle());
  // Restored cells of a window lie in another order, which other bits come of.
  const bool windowed = model.vocabulary->arch_value("attention.sliding_window").has_value();
  // The engine chooses such factors by the size of the context, which grows.
  if (model.metadata && model.metadata->find("rope_factors_long.weight") != nullptr) {
    ready.not_restorable = "the model's positions depend on the context's size";
  }
  if (ready.not_restorable.empty() && windowed && model.options.exact) {
    ready.not_restorable = "the model has a sliding window, and exact is on";
  }
  return ready;
}

}  // namespace hearth::worker
