// SPDX-License-Identifier: Apache-2.0
//
// FrontService's modules: what they are, requests that name them, and who keeps them warm.
#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"
#include "front/modules/module_prompt.h"

namespace hearth::front {

// ---- requests ----

// What earlier replies said, as tokens, has them in it already.
Result<> FrontService::add_modules(GenerateRequest& request) {
  RequestContext& context = request.context;
  if (context.modules.empty()) {
    if (!context.by_itself) module_keeper_.give_way(context.model);
    return {};
  }
  if (!request.message.prompt_tokens.empty() && !request.message.messages.empty()) return {};
  const auto modules = modules_.named(context.modules);
  if (!modules) return Failed{modules.error()};
  std::vector<std::string> texts;
  for (const Module* module : *modules) texts.push_back(module->text);
  Result<std::string> messages = with_modules(request.message.messages, texts);
  if (!messages) return Failed{std::move(messages).error().at("hearth.modules")};
  request.message.messages = *std::move(messages);
  context.module_uses = module_keeper_.note_named(*modules, context);
  if (context.approximate) context.texts = module_keeper_.note_moved(*modules, context);
  return {};
}

// ---- keeping them warm ----

ModuleKeeper::World FrontService::module_world() {
  using Kept = PrefixRoom::Kept;
  return {
      world_.loop,
      modules_,
      [this](GenerateRequest request) { return generate(std::move(request), Delivery::kWhole); },
      [this](const std::string& name) { return module_model(name); },
      [this] { return module_askers(); },
      [this](const std::string& key) { return prefix_ ? prefix_->group_of(key) : ""; },
      [this](const PrefixRoom::Use& use, std::span<const int> tokens) {
        return prefix_ ? prefix_->room().kept(use, tokens) : Kept{};
      },
      [this](const PrefixRoom::Use& use, std::span<const int> tokens, const std::string& label) {
        return prefix_ ? prefix_->room().keep_module(use, tokens, label) : Kept{};
      },
      [this](const std::function<bool(const std::string&)>& stays) {
        if (prefix_) prefix_->room().keep_modules(stays);
      }};
}

std::optional<ModuleKeeper::Model> FrontService::module_model(const std::string& name) const {
  const Result<ModelName> parsed = ModelName::parse(name);
  const NamedModel* named = parsed ? find(parsed->key()) : nullptr;
  if (named == nullptr) return std::nullopt;
  ModuleKeeper::Model shown;
  shown.artifact = named->artifact.id;
  const auto found = models_.find(named->artifact.id);
  if (found == models_.end() || !found->second) return shown;
  const Model& model = *found->second;
  const ModelHost& host = model.host();
  shown.load = host.last_load() ? host.last_load()->number : 0;
  shown.tokenizes = host.has_worker();
  shown.resident = host.level() == WeightsLevel::kResident;
  shown.idle = host.admission().active() == 0 && host.admission().waiting() == 0;
  shown.live_tokens = host.live_tokens();
  const StayTerms terms = model.stay().terms();
  if (terms.source == "request") shown.wish = terms.keep_alive;
  if (prefix_ && prefix_->is_open() && host.has_worker()) shown.use = model.prefix_use("");
  return shown;
}

std::vector<ModuleKeeper::Asker> FrontService::module_askers() const {
  if (keys_.empty() || !prefix_) return {{}};
  std::vector<ModuleKeeper::Asker> askers;
  std::set<std::string> groups;
  for (const KeyRing::Kept& key : keys_.keys()) {
    std::string group = prefix_->group_of(key.info.id);
    if (key.info.role == Role::kReadOnly || !groups.insert(group).second) continue;
    askers.push_back({key.info.id, std::move(group)});
  }
  return askers;
}

Task<Result<>> FrontService::warm_modules(std::string name) {
  const Result<int> warmed = co_await module_keeper_.warm(std::move(name));
  if (!warmed) co_return Failed{warmed.error()};
  co_return Result<>{};
}

// ---- what they are ----

Task<Result<>> FrontService::save_modules() {
  auto job = [store = module_store(), stored = modules_.stored()] { return store.save(stored); };
  Result<> saved = co_await config_pool_.run(world_.loop, std::move(job));
  if (!saved) log::warn("modules.not_saved", {{"reason", saved.error().message()}});
  co_return saved;
}

// A text that changed while the server was down has a new version, which outlives it too.
Task<void> FrontService::note_module_versions() {
  const auto pass = tasks_.enter();
  if (pass && !modules_.all().empty()) (void)co_await save_modules();
}

Task<void> FrontService::reread_modules() {
  auto job = [&files = world_.files, declared = config_.modules] {
    return ModuleSet::read_declared(files, declared);
  };
  std::vector<ModuleSet::Declared> declared =
      co_await config_pool_.run(world_.loop, std::move(job));
  if (!modules_.declare(std::move(declared))) co_return;
  module_keeper_.changed();
  (void)co_await save_modules();
}

std::vector<ModuleStatus> FrontService::modules() const {
  std::vector<ModuleStatus> list;
  for (const Module* module : modules_.all()) list.push_back(module_keeper_.status(*module));
  return list;
}

std::string FrontService::modules_json() const {
  std::string list = "[";
  for (const ModuleStatus& status : modules()) {
    if (list.size() > 1) list += ',';
    list += to_json(status, {ModuleShown::Files::kHidden, ModuleShown::Text::kLeftOut});
  }
  return list + "]";
}

Result<ModuleStatus> FrontService::module(const std::string& name) const {
  if (const Module* found = modules_.find(name)) return module_keeper_.status(*found);
  return Failed{Error{ErrorCode::kNotFound, "there is no module \"" + name + "\""}.at("name")};
}

// What could not be written down is as it was.
Task<Result<ModuleStatus>> FrontService::set_module(ModuleRequest request) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  const Module* found = modules_.find(request.name);
  const std::optional<Module> before = found == nullptr ? std::nullopt : std::optional{*found};
  Result<> put = modules_.put(request.name, std::move(request.text), request.models);
  if (!put) co_return Failed{std::move(put).error()};
  Result<> saved = co_await save_modules();
  if (!saved && before) (void)modules_.put(before->name, before->text, before->models);
  if (!saved && !before) (void)modules_.remove(request.name);
  if (!saved) co_return Failed{std::move(saved).error().during("keep the module")};
  log::info("module.set", {{"module", request.name}});
  module_keeper_.changed();
  co_return module(request.name);
}

Task<Result<>> FrontService::remove_module(std::string name) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  const Module* found = modules_.find(name);
  const std::optional<Module> before = found == nullptr ? std::nullopt : std::optional{*found};
  Result<> removed = modules_.remove(name);
  if (!removed) co_return removed;
  Result<> saved = co_await save_modules();
  if (!saved) (void)modules_.put(before->name, before->text, before->models);
  if (!saved) co_return Failed{std::move(saved).error().during("forget the module")};
  log::info("module.removed", {{"module", name}});
  module_keeper_.changed();
  co_return Result<>{};
}

}  // namespace hearth::front
