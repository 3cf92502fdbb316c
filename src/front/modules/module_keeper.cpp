// SPDX-License-Identifier: Apache-2.0
#include "front/modules/module_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "blocks/block_chain.h"
#include "front/modules/module_prompt.h"

namespace hearth::front {
namespace {

constexpr std::size_t kMostNamed = 16;   // sequences that are kept warm
constexpr std::size_t kExactBlocks = 8;  // are stored together where bits must not differ
constexpr std::string_view kBetween = ", ";

std::string label_of(const Module& module) { return module.name + " " + module.version_name(); }

std::vector<std::string> parts_of(std::string_view label) {
  std::vector<std::string> parts;
  while (!label.empty()) {
    const std::size_t end = label.find(kBetween);
    parts.emplace_back(label.substr(0, end));
    label = end == std::string_view::npos ? std::string_view{} : label.substr(end + 2);
  }
  return parts;
}

// What can be stored of so many tokens.
int whole_blocks(const std::vector<int>& tokens, const PrefixRoom::Use& use) {
  const std::size_t size = blocks::kBlockTokens * (use.options.exact ? kExactBlocks : 1);
  return static_cast<int>(tokens.size() / size * size);
}

}  // namespace

ModuleKeeper::ModuleKeeper(World world)
    : world_{std::move(world)}, tasks_{world_.loop}, ended_{world_.loop} {}

ModuleKeeper::~ModuleKeeper() = default;

// Each takes itself out of the set when its last event has been read.
void ModuleKeeper::give_up() {
  stopping_ = true;
  for (Reply* reply : replies_) reply->cancel();
  ended_.notify_all();
}

Task<void> ModuleKeeper::stop() {
  give_up();
  co_await tasks_.close();
}

// ---- what there is to keep ----

ModuleKeeper::Sequence ModuleKeeper::sequence_of(std::span<const Module* const> modules) {
  Sequence sequence;
  std::vector<std::string> texts;
  for (const Module* module : modules) {
    if (!sequence.label.empty()) sequence.label += kBetween;
    sequence.label += label_of(*module);
    sequence.names.push_back(module->name);
    texts.push_back(module->text);
  }
  sequence.text = joined_modules(texts);
  for (const std::string& model : modules.front()->models) {
    const bool everywhere = std::ranges::all_of(modules, [&](const Module* module) {
      return std::ranges::find(module->models, model) != module->models.end();
    });
    if (everywhere) sequence.models.push_back(model);
  }
  return sequence;
}

std::vector<ModuleKeeper::Sequence> ModuleKeeper::sequences() const {
  std::vector<Sequence> sequences;
  for (const Module* module : world_.modules.all()) {
    if (module->broken.empty()) sequences.push_back(sequence_of(std::span{&module, 1}));
  }
  for (const std::vector<std::string>& names : named_) {
    const auto modules = world_.modules.named(names);
    if (modules) sequences.push_back(sequence_of(*modules));
  }
  return sequences;
}

// Whether all of it is what modules say now.
bool ModuleKeeper::holds(const std::string& label) const {
  return std::ranges::all_of(parts_of(label), [this](const std::string& part) {
    const Module* module = world_.modules.find(part.substr(0, part.find(' ')));
    return module != nullptr && module->broken.empty() && label_of(*module) == part;
  });
}

void ModuleKeeper::changed() {
  std::erase_if(moved_,
                [this](const Moved& each) { return world_.modules.find(each.module) == nullptr; });
  const auto stale = [this](const auto& each) { return !holds(each.first.label); };
  std::erase_if(known_, stale);
  std::erase_if(live_, stale);
  std::erase_if(named_, [this](const auto& names) { return !world_.modules.named(names); });
  std::erase_if(asked_for_, [this](const auto& each) { return !holds(each.first); });
  tried_.clear();
  uncountable_.clear();
  world_.let_go([this](const std::string& label) { return holds(label); });
  look();
}

// ---- requests that name modules ----

ModuleUses ModuleKeeper::note_named(const std::vector<const Module*>& modules,
                                    const RequestContext& context) {
  const auto uses = std::make_shared<std::vector<PrefixUse::Module>>();
  const std::optional<Model> model = world_.model(context.model);
  const std::string group = world_.group_of(context.key);
  std::vector<Sequence> unknown;
  for (const Module* module : modules) {
    Sequence one = sequence_of(std::span{&module, 1});
    const auto known = known_.find({one.label, model ? model->artifact : std::string{}});
    const int tokens = known == known_.end() ? -1 : static_cast<int>(known->second.text.size());
    uses->push_back({module->name, module->version_name(), tokens});
    asked_for_.insert({one.label, group});
    if (known == known_.end()) unknown.push_back(std::move(one));
  }
  if (modules.size() > 1) {
    const Sequence all = sequence_of(modules);
    if (named_.size() < kMostNamed) named_.insert(all.names);
    if (named_.contains(all.names)) asked_for_.insert({all.label, group});
  }
  const bool counts = model && !unknown.empty() && !stopping_;
  if (counts) world_.loop.spawn(tell_tokens(uses, std::move(unknown), context.model));
  return uses;
}

Task<void> ModuleKeeper::tell_tokens(ModuleUses uses, std::vector<Sequence> modules,
                                     std::string model) {
  const auto pass = tasks_.enter();
  if (!pass) co_return;
  for (const Sequence& module : modules) {
    (void)co_await count(module, model);
    const std::optional<Model> now = world_.model(model);
    const auto known = now ? known_.find({module.label, now->artifact}) : known_.end();
    if (known == known_.end()) continue;
    for (PrefixUse::Module& use : *uses) {
      if (use.name == module.names.front())
        use.tokens = static_cast<int>(known->second.text.size());
    }
  }
}

void ModuleKeeper::give_way(const std::string& model) {
  if (yielding_ == nullptr) return;
  const std::optional<Model> asked = world_.model(model);
  if (asked && asked->artifact == yielding_artifact_) yielding_->cancel();
}

// ---- asking ----

GenerateRequest ModuleKeeper::request_to(const std::string& model, const std::string& key) const {
  GenerateRequest request;
  request.context.model = model;
  request.context.api = kModuleApi;
  request.context.by_itself = true;
  request.context.first_byte = world_.loop.now();
  request.context.key = key;
  return request;
}

Task<Result<Finished>> ModuleKeeper::ask(GenerateRequest request, Manner manner) {
  if (stopping_) co_return fail(ErrorCode::kCancelled, "stopping");
  const bool yields = manner == Manner::kByItself && !request.message.count_only;
  const std::unique_ptr<Reply> reply = world_.generate(std::move(request));
  replies_.insert(reply.get());
  if (yields) yielding_ = reply.get();
  Result<Finished> outcome = fail(ErrorCode::kCancelled, "cancelled");
  for (bool over = false; !over;) {
    Event event = co_await reply->next();
    if (auto* finished = std::get_if<Finished>(&event)) outcome = std::move(*finished);
    if (auto* refused = std::get_if<Refused>(&event)) outcome = Failed{refused->error};
    over = std::holds_alternative<Finished>(event) || std::holds_alternative<Refused>(event);
  }
  if (yields) yielding_ = nullptr;
  replies_.erase(reply.get());
  reply->sent(outcome ? 200 : 503);
  co_return outcome;
}

Task<Result<>> ModuleKeeper::count(Sequence sequence, std::string model) {
  const std::optional<Model> now = world_.model(model);
  if (!now) co_return fail(ErrorCode::kNotFound, "there is no model \"" + model + "\"");
  const Key key{sequence.label, now->artifact};
  while (counting_.contains(key)) co_await ended_.wait();
  if (known_.contains(key)) co_return Result<>{};
  counting_.insert(key);
  std::string name = sequence.label;
  Result<Known> known = co_await count_now(std::move(sequence), std::move(model));
  counting_.erase(key);
  ended_.notify_all();
  if (!known) {
    uncountable_.insert(key);
    log::warn("module.not_counted", {{"module", name}, {"reason", known.error().message()}});
    co_return Failed{std::move(known).error()};
  }
  if (holds(key.label)) known_[key] = *std::move(known);
  co_return Result<>{};
}

Task<Result<ModuleKeeper::Known>> ModuleKeeper::count_now(Sequence sequence, std::string model) {
  GenerateRequest text = request_to(model, "");
  text.message.prompt = sequence.text;
  text.message.add_special = false;
  text.message.count_only = true;
  text.message.return_tokens = true;
  const Result<Finished> whole = co_await ask(std::move(text), Manner::kAsked);
  if (!whole) co_return Failed{whole.error()};
  ModuleProbes probes = module_probes(sequence.text);
  GenerateRequest one = request_to(model, "");
  one.message = std::move(probes.one);
  const Result<Finished> first = co_await ask(std::move(one), Manner::kAsked);
  if (!first) co_return Failed{first.error()};
  GenerateRequest other = request_to(model, "");
  other.message = std::move(probes.other);
  const Result<Finished> second = co_await ask(std::move(other), Manner::kAsked);
  if (!second) co_return Failed{second.error()};
  std::vector<int> beginning = common_beginning(first->tokens, second->tokens);
  co_return Known{whole->tokens, std::move(beginning)};
}

// ---- keeping warm ----

void ModuleKeeper::look() {
  if (stopping_ || std::exchange(looking_, true)) return;
  world_.loop.spawn(look_around());
}

Task<void> ModuleKeeper::look_around() {
  const auto pass = tasks_.enter();
  const std::vector<Sequence> all = pass ? sequences() : std::vector<Sequence>{};
  for (const Sequence& sequence : all) {
    for (const std::string& model : sequence.models) {
      if (!stopping_) co_await attend(sequence, model, Part::kBeginning);
    }
  }
  const std::vector<Moved> texts = pass ? moved() : std::vector<Moved>{};
  for (const Moved& each : texts) {
    const Module* module = world_.modules.find(each.module);
    if (stopping_ || module == nullptr || !module->broken.empty()) continue;
    Sequence text = sequence_of(std::span{&module, 1});
    co_await attend(std::move(text), each.model, Part::kText);
  }
  looking_ = false;
}

bool ModuleKeeper::was_asked(const Sequence& sequence, const std::string& group) const {
  return group.empty() || asked_for_.contains({sequence.label, group});
}

Task<void> ModuleKeeper::attend(Sequence sequence, std::string model, Part part) {
  std::optional<Model> now = world_.model(model);
  if (!now || !now->tokenizes || !now->idle) co_return;
  const Key key{sequence.label, now->artifact};
  if (now->use) uses_[key.artifact] = *now->use;
  if (!known_.contains(key) && !uncountable_.contains(key)) (void)co_await count(sequence, model);
  const std::vector<Asker> askers = world_.askers();
  for (const Asker& asker : askers) {
    now = world_.model(model);
    const bool may = now && now->resident && now->idle && now->use && known_.contains(key) &&
                     now->use->ready.not_restorable.empty() && !stopping_;
    if (!may) co_return;
    const bool wanted = part == Part::kText ? is_moved(sequence, key.artifact, asker.group)
                                            : was_asked(sequence, asker.group);
    if (!wanted) continue;
    const Tried tried{key, part, asker.group, now->load};
    if (!tried_.insert(tried).second) continue;
    Job job{sequence, model, asker, part};
    const Result<> done = co_await evaluate(std::move(job), Manner::kByItself);
    // It gave way to somebody, and comes again.
    if (!done && done.error().code() == ErrorCode::kCancelled) tried_.erase(tried);
  }
}

// What is stored of it stays from now on.
bool ModuleKeeper::is_kept(const PrefixRoom::Use& use, const std::vector<int>& all,
                           const std::string& label) const {
  const int whole = whole_blocks(all, use);
  const auto tokens = std::span{all}.first(static_cast<std::size_t>(whole));
  return whole == 0 || world_.keep(use, tokens, label).anywhere >= whole;
}

Task<Result<>> ModuleKeeper::evaluate(Job job, Manner manner) {
  while (busy_ && !stopping_) co_await ended_.wait();
  const std::optional<Model> before = world_.model(job.model);
  if (!before) co_return fail(ErrorCode::kNotFound, "there is no model \"" + job.model + "\"");
  const Key key{job.sequence.label, before->artifact};
  const auto known = known_.find(key);
  if (known == known_.end()) co_return fail(ErrorCode::kCancelled, "it has changed meanwhile");
  const std::vector<int> tokens = tokens_of(known->second, job.part);
  if (before->use) {
    PrefixRoom::Use use = *before->use;
    use.group = job.asker.group;
    // Where repeats are exact, nothing is moved.
    if (job.part == Part::kText && use.options.exact) co_return Result<>{};
    if (is_kept(use, tokens, key.label)) co_return Result<>{};
  }
  GenerateRequest request = request_to(job.model, job.asker.key);
  request.context.module = key.label;
  request.context.keep_alive = before->wish;
  request.message.prompt_tokens = tokens;
  request.message.add_special = false;
  request.message.max_tokens = 0;
  busy_ = true;
  yielding_artifact_ = key.artifact;
  const Result<Finished> done = co_await ask(std::move(request), manner);
  busy_ = false;
  ended_.notify_all();
  if (!done) co_return Failed{done.error()};
  const std::optional<Model> after = world_.model(job.model);
  if (after && after->use) uses_[key.artifact] = *after->use;
  const bool shown = job.part == Part::kBeginning && after && after->resident;
  if (shown) live_[key] = after->load;
  log::info("module.evaluated", {{"module", key.label},
                                 {"part", job.part == Part::kText ? "text" : "beginning"},
                                 {"model", job.model},
                                 {"tokens", done->prompt_tokens},
                                 {"cached", done->cached_tokens}});
  co_return Result<>{};
}

Task<Result<int>> ModuleKeeper::warm(std::string model) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  const std::optional<Model> wanted = world_.model(model);
  if (!wanted) co_return fail(ErrorCode::kNotFound, "model \"" + model + "\" not found");
  int warmed = 0;
  const std::vector<Sequence> all = sequences();
  const std::vector<Asker> askers = world_.askers();
  for (const Sequence& sequence : all) {
    const bool listed = std::ranges::any_of(sequence.models, [&](const std::string& name) {
      const std::optional<Model> one = world_.model(name);
      return one && one->artifact == wanted->artifact;
    });
    if (!listed) continue;
    ++warmed;
    const Result<> counted = co_await count(sequence, model);
    if (!counted) co_return Failed{counted.error()};
    for (const Asker& asker : askers) {
      Job job{sequence, model, asker, Part::kBeginning};
      const Result<> done = co_await evaluate(std::move(job), Manner::kAsked);
      if (!done) co_return Failed{done.error()};
    }
  }
  const Result<> texts = co_await warm_moved(model, wanted->artifact);
  if (!texts) co_return Failed{texts.error()};
  co_return warmed;
}

// ---- for people ----

std::string ModuleKeeper::level(const Key& key, const Model& model) const {
  const auto known = known_.find(key);
  if (known == known_.end()) return {};
  const auto size = static_cast<int>(known->second.beginning.size());
  const auto live = live_.find(key);
  const bool in_cells = live != live_.end() && live->second == model.load && model.resident;
  if (in_cells && model.live_tokens >= size) return "live";
  const auto last = uses_.find(key.artifact);
  if (!model.use && last == uses_.end()) return {};
  PrefixRoom::Use use = model.use ? *model.use : last->second;
  const int whole = whole_blocks(known->second.beginning, use);
  std::string best = "none";
  for (const Asker& asker : world_.askers()) {
    use.group = asker.group;
    const PrefixRoom::Kept kept = world_.kept(use, known->second.beginning);
    if (whole > 0 && kept.memory >= whole) return "memory";
    if (whole > 0 && kept.anywhere >= whole) best = "disk";
  }
  return best;
}

ModuleStatus ModuleKeeper::status(const Module& module) const {
  ModuleStatus status{module, {}};
  for (const std::string& name : module.models) {
    ModuleStatus::OfModel shown{name, std::nullopt, "none"};
    const std::optional<Model> model = world_.model(name);
    if (model && module.broken.empty()) {
      const Key key{label_of(module), model->artifact};
      const auto known = known_.find(key);
      if (known != known_.end()) shown.tokens = static_cast<int>(known->second.text.size());
      shown.level = level(key, *model);
    }
    status.models.push_back(std::move(shown));
  }
  return status;
}

}  // namespace hearth::front
