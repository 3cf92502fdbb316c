// SPDX-License-Identifier: Apache-2.0
//
// ModuleKeeper and modules that requests let be used at other positions: their texts alone.
#include <algorithm>
#include <utility>

#include "front/modules/module_keeper.h"

namespace hearth::front {
namespace {

constexpr std::size_t kMostMoved = 256;  // texts, models and groups

}  // namespace

std::vector<std::vector<int>> ModuleKeeper::note_moved(const std::vector<const Module*>& modules,
                                                       const RequestContext& context) {
  std::vector<std::vector<int>> texts;
  const std::optional<Model> model = world_.model(context.model);
  if (!model) return texts;
  const std::string group = world_.group_of(context.key);
  for (const Module* module : modules) {
    if (moved_.size() < kMostMoved) moved_.insert({module->name, context.model, group});
    const auto known = known_.find({sequence_of(std::span{&module, 1}).label, model->artifact});
    if (known != known_.end()) texts.push_back(known->second.text);
  }
  return texts;
}

std::vector<ModuleKeeper::Moved> ModuleKeeper::moved() const {
  return {moved_.begin(), moved_.end()};
}

// Under whatever name the model was asked.
bool ModuleKeeper::is_moved(const Sequence& sequence, const std::string& artifact,
                            const std::string& group) const {
  return std::ranges::any_of(moved_, [&](const Moved& each) {
    if (each.module != sequence.names.front()) return false;
    const std::optional<Model> model = world_.model(each.model);
    return each.group == group && model && model->artifact == artifact;
  });
}

const std::vector<int>& ModuleKeeper::tokens_of(const Known& known, Part part) {
  return part == Part::kText ? known.text : known.beginning;
}

Task<Result<>> ModuleKeeper::warm_moved(std::string model, std::string artifact) {
  const std::vector<Asker> askers = world_.askers();
  const std::vector<const Module*> modules = world_.modules.all();
  std::vector<Sequence> texts;
  for (const Module* module : modules) {
    if (module->broken.empty()) texts.push_back(sequence_of(std::span{&module, 1}));
  }
  for (const Sequence& text : texts) {
    for (const Asker& asker : askers) {
      if (!is_moved(text, artifact, asker.group)) continue;
      const Result<> counted = co_await count(text, model);
      if (!counted) co_return Failed{counted.error()};
      Job job{text, model, asker, Part::kText};
      const Result<> done = co_await evaluate(std::move(job), Manner::kAsked);
      if (!done) co_return Failed{done.error()};
    }
  }
  co_return Result<>{};
}

}  // namespace hearth::front
