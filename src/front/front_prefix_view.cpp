// SPDX-License-Identifier: Apache-2.0
//
// FrontService telling what is kept of prompts, and giving it back.
#include <set>
#include <utility>

#include "base/log.h"
#include "front/front_service.h"
#include "front/prefix_json.h"
#include "timeline/json_writer.h"

namespace hearth::front {

std::vector<VolatileHead> FrontService::prefix_findings(PromptTexts texts) const {
  std::vector<VolatileHead> findings;
  if (!prefix_) return findings;
  for (VolatileHead& head : prefix_->reasons().findings()) {
    const NamedModel* named = holder_of(head.model);
    if (named == nullptr) continue;  // it has left the catalogue since
    head.model = named->name;
    if (texts == PromptTexts::kWithheld) {
      head.character.reset();
      head.had.clear();
      head.has.clear();
    }
    findings.push_back(std::move(head));
  }
  return findings;
}

PrefixView::OfModel FrontService::prefix_of(const NamedModel& named) const {
  PrefixView::OfModel shown;
  shown.name = named.name;
  if (prefix_) shown.stored = prefix_->room().stored(named.artifact.id);
  const ModelHost* host = host_of(named.artifact.id);
  if (host == nullptr || !host->has_worker()) return shown;
  shown.live_tokens = host->live_tokens();
  shown.slots = host->heartbeat().slots;
  if (host->ready()) shown.not_restorable = host->ready()->not_restorable;
  return shown;
}

// Of a model's several names the first.
std::string FrontService::prefix(PromptTexts texts) const {
  PrefixView view;
  if (prefix_) view.figures = prefix_->room().figures();
  std::set<std::string> told;
  for (const NamedModel& named : named_) {
    if (!told.insert(named.artifact.id).second) continue;
    PrefixView::OfModel model = prefix_of(named);
    const bool holds =
        model.live_tokens > 0 || model.stored.tokens_memory > 0 || model.stored.tokens_disk > 0;
    const bool says = !model.slots.empty() || !model.not_restorable.empty();
    if (holds || says) view.models.push_back(std::move(model));
  }
  view.findings = prefix_findings(texts);
  view.modules = modules_json();
  return to_json(view);
}

std::string FrontService::doctor(PromptTexts texts) const {
  return JsonWriter{}.raw("findings", to_json(prefix_findings(texts))).object();
}

Task<Result<Bytes>> FrontService::cool_prefix(PrefixChoice choice) {
  const auto pass = tasks_.enter();
  if (!pass) co_return fail(ErrorCode::kUnavailable, "the server is stopping");
  if (!prefix_) co_return fail(ErrorCode::kUnsupported, "the prefix layer is switched off");
  PrefixRoom::Choice chosen;
  if (!choice.model.empty()) {
    const Result<ModelStatus> known = model(choice.model);
    if (!known) co_return Failed{known.error()};
    chosen.artifact = known->artifact;
  }
  if (choice.key) chosen.group = prefix_->group_of_name(*choice.key);
  const bool spills = choice.tier == PrefixChoice::Tier::kMemory;
  Result<Bytes> freed = Bytes{};
  if (spills) {
    freed = co_await prefix_->room().spill(std::move(chosen));
  } else {
    freed = co_await prefix_->drop_chosen(std::move(chosen));
  }
  if (freed) {
    log::info(spills ? "prefix.spilled" : "prefix.dropped",
              {{"model", choice.model.empty() ? "all" : choice.model},
               {"key", choice.key.value_or("all")},
               {"bytes", static_cast<std::int64_t>(freed->count())}});
  }
  co_return freed;
}

}  // namespace hearth::front
