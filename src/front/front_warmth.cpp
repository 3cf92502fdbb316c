// SPDX-License-Identifier: Apache-2.0
//
// FrontService and warm(T, g): how a model with a ttft_ms may wait, and whether that holds.
#include <algorithm>
#include <utility>

#include "front/front_service.h"

namespace hearth::front {
namespace {

constexpr std::chrono::hours kDefaultGap{8};

Forecast forecast(const Outlook& outlook) { return outlook.alone(FirstToken::kShortPrompt); }

}  // namespace

WarmKeeper::World FrontService::warmth_world() {
  WarmKeeper::World world{world_.loop,
                          Moments{world_.clock},
                          world_.files,
                          config_.data + "/warmth.json",
                          [this](const std::string& artifact) { return warmth_view(artifact); },
                          [this](std::string artifact, RungDecision decision) {
                            return stand(std::move(artifact), std::move(decision));
                          },
                          [this](std::string artifact) { return probe(std::move(artifact)); }};
  world.on_change = [this] { events_.publish("warmth", levels()); };
  return world;
}

WarmKeeper::Terms FrontService::warmth_terms() const {
  WarmKeeper::Terms all;
  for (const NamedModel& named : named_) {
    const NamedModel* holder = holder_of(named.artifact.id);
    const ModelOptions options = config_.effective(holder->key);
    const std::int64_t ttft = options.ttft_ms.value_or(0);
    if (ttft == 0) continue;
    WarmTerms terms;
    terms.ttft = std::chrono::milliseconds{ttft};
    terms.gap = options.idle_gap ? options.idle_gap->length() : kDefaultGap;
    all[named.artifact.id] = terms;
  }
  return all;
}

std::optional<WarmView> FrontService::warmth_view(const std::string& artifact) const {
  const auto found = models_.find(artifact);
  const std::optional<LoadSet> load_set = load_set_of(artifact);
  if (found == models_.end() || !found->second || !load_set) return std::nullopt;
  const Model& model = *found->second;
  const ModelHost& host = model.host();
  const Starts& starts = model.starts();
  const Artifact& files = model.named().artifact;
  const PageSnapshot* pages = layers_.pages().snapshot(artifact);
  const Bytes set = size_of(*load_set);
  Bytes need = set;
  if (host.ready()) {
    const wire::MemoryUse& use = host.ready()->estimate;
    need = use.weights + use.mapped + use.context + use.compute;
  }
  WarmView view;
  const Forecast by_pages = forecast(starts.outlook_at(files, Starts::Stand::kPages));
  const Forecast by_weights = forecast(starts.outlook_at(files, Starts::Stand::kResident));
  view.offers = {{Rung::kPages, by_pages, Bytes{}}, {Rung::kResident, by_weights, need}};
  if (set <= keeper_.most()) {
    view.offers.push_back({Rung::kPinnedPages, by_pages, set});
    view.offers.push_back({Rung::kResidentPinned, by_weights, need});
  }
  const bool locked = keeper_.holds(artifact, *load_set, Bytes{});
  if (host.level() == WeightsLevel::kResident) {
    view.stands = locked ? Rung::kResidentPinned : Rung::kResident;
  } else if (locked) {
    view.stands = Rung::kPinnedPages;
  } else if (host.level() == WeightsLevel::kHollow && pages != nullptr &&
             pages->residency.missing() == Bytes{}) {
    view.stands = Rung::kPages;
  }
  view.as_it_is = forecast(model.outlook());
  view.harmed = protected_->reason();
  // What it holds already is room for it.
  view.room = levels_->budget().free() +
              std::max(host_levels_->held_by_load(artifact), keeper_.held(artifact));
  view.psi_avg300 = levels_->memory_avg300();
  view.busy = host.is_busy() || host.level() == WeightsLevel::kLoading;
  view.may_probe = prewarm_signs().requests == 0;
  return view;
}

Task<Result<>> FrontService::stand(std::string artifact, RungDecision decision) {
  ModelHost* host = host_of(artifact);
  const std::optional<LoadSet> load_set = load_set_of(artifact);
  if (host == nullptr || !load_set) co_return fail(ErrorCode::kNotFound, "the model went");
  const bool users = pin_of(artifact, "pages") != nullptr;
  if (keeps_pins(decision.rung)) {
    std::string whose = artifact;
    LoadSet all = *load_set;
    Result<> kept = co_await keeper_.keep(std::move(whose), std::move(all), Bytes{});
    if (!kept) co_return kept;
  } else if (!users) {
    keeper_.forget(artifact);
  }
  host = host_of(artifact);
  if (host == nullptr) co_return fail(ErrorCode::kNotFound, "the model went");
  if (keeps_weights(decision.rung)) {
    co_return co_await host->ensure_resident(&stopping_, LoadFor::kAsked);
  }
  if (decision.rung == Rung::kNone) co_return Result<>{};
  Result<> worker = co_await host->ensure_worker(&stopping_);
  if (!worker) co_return worker;
  const auto found = models_.find(artifact);
  if (found == models_.end()) co_return fail(ErrorCode::kNotFound, "the model went");
  Subject subject = found->second->subject();
  Target warmest;
  auto warmed = co_await layers_.pages().warm(std::move(subject), std::move(warmest), warm_ups_);
  if (!warmed) co_return Failed{std::move(warmed).error()};
  co_return Result<>{};
}

// The way that requests go, but for the history and the model's use.
Task<Result<Duration>> FrontService::probe(std::string artifact) {
  const NamedModel* named = holder_of(artifact);
  if (named == nullptr || stopping_) co_return fail(ErrorCode::kConflict, "there is no such model");
  GenerateRequest request;
  request.context.model = named->name;
  request.context.api = kProbeApi;
  request.context.by_itself = true;
  request.context.first_byte = world_.loop.now();
  request.message.prompt = "Is anybody at home?";
  request.message.max_tokens = 1;
  request.message.cache_prompt = false;
  const TimePoint begun = world_.loop.now();
  std::optional<Duration> time;
  std::optional<Error> error;
  {
    std::unique_ptr<Reply> reply = generate(std::move(request), Delivery::kStreamed);
    bool over = false;
    while (!over) {
      const Event event = co_await reply->next();
      if (std::holds_alternative<Started>(event)) time = world_.loop.now() - begun;
      if (const auto* refused = std::get_if<Refused>(&event)) error = refused->error;
      over = std::holds_alternative<Finished>(event) || error.has_value();
    }
    reply->sent(error ? 503 : 200);
  }
  if (stopping_) co_return fail(ErrorCode::kCancelled, "the server is stopping");
  if (error) co_return Failed{*error};
  if (!time) co_return fail(ErrorCode::kUnavailable, "no token came");
  co_return *time;
}

void FrontService::note_first_token(const RequestRun& run, const std::string& artifact) {
  if (stopping_) return;  // what is cut off then is nobody's fault
  if (const auto token = run.first_token()) {
    warmth_->answered(artifact, *token);
  } else if (run.used_model() && run.generates()) {
    FirstToken so_far;
    so_far.time = run.waited();
    warmth_->gave_up(artifact, so_far);
  }
  warmth_->left(artifact);
}

}  // namespace hearth::front
