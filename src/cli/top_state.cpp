// SPDX-License-Identifier: Apache-2.0
#include "cli/top_state.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "cli/json_fields.h"
#include "cli/model_fields.h"

namespace hearth::cli {
namespace {

using Object = boost::json::object;

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool is_named(std::string_view full, std::string_view wanted) {
  const std::string name = lower(wanted);
  return full == name || full == name + ":latest";
}

std::vector<TopState::Stage> stages_of(const Object& event) {
  std::vector<TopState::Stage> stages;
  for (const Object* stage : objects_in(event, "stages")) {
    stages.push_back({text_in(*stage, "name"), number_in(*stage, "start_ms").value_or(0),
                      number_in(*stage, "ms")});
  }
  return stages;
}

bool is_load(const TopState::Stage& stage) { return stage.name == "load"; }

// A load is told of as a stage only once it has ended; until then the model's level tells of it.
void note_load(TopState::UnderWay& one, std::string_view level, TimePoint now) {
  const double elapsed_ms = milliseconds_of(now - one.since);
  const auto open = std::ranges::find_if(one.stages, [](const auto& stage) { return !stage.ms; });
  if (level == "loading" && open == one.stages.end()) {
    one.stages.push_back({"load", elapsed_ms, std::nullopt});
  } else if (level != "loading" && open != one.stages.end() && is_load(*open)) {
    open->ms = elapsed_ms - open->start_ms;
  }
}

}  // namespace

void TopState::take(std::string_view type, std::string_view data, const TopMoment& moment) {
  const auto parsed = parse_json(data);
  if (!parsed || !parsed->is_object()) return;
  const Object& event = parsed->get_object();
  if (type == "request") {
    if (text_in(event, "outcome") == "running") {
      on_under_way(event, moment);
    } else {
      on_ended(event, moment);
    }
  } else if (type == "levels") {
    on_levels(event, moment);
  } else if (type == "model") {
    stale.models = true;
  } else if (type == "move" || type == "services") {
    stale.memory = true;
  } else if (type == "warmth") {
    levels = event;
  } else if (type == "lost") {
    stale.everything = true;
  }
}

void TopState::set_running(const Object& answer, const TopMoment& moment) {
  under_way.clear();
  for (const Object* request : objects_in(answer, "requests")) on_under_way(*request, moment);
}

bool TopState::add_history(const Object& answer, const TopMoment& moment) {
  const auto entries = objects_in(answer, "requests");
  for (const Object* entry : entries) {
    if (recent.size() < kRecent) recent.push_back(*entry);
    const std::int64_t started = integer_in(*entry, "started_us");
    if (started < moment.midnight_us) return false;
    waits.push_back({started, wait_split(*entry)});
  }
  return !entries.empty();
}

void TopState::forget_history() {
  recent.clear();
  waits.clear();
}

void TopState::put_model(Object model) {
  const std::string name = text_in(model, "name");
  if (Object* known = model_named(name)) {
    *known = std::move(model);
  } else {
    models.push_back(std::move(model));
  }
}

void TopState::on_under_way(const Object& event, const TopMoment& moment) {
  const double elapsed_ms = number_in(event, "elapsed_ms").value_or(0);
  const auto elapsed = std::chrono::duration<double, std::milli>{elapsed_ms};
  UnderWay one{.id = text_in(event, "request_id"),
               .model = text_in(event, "model"),
               .path = text_in(event, "path"),
               .since = moment.now - std::chrono::duration_cast<Duration>(elapsed),
               .ttft_ms = number_in(event, "ttft_ms"),
               .stages = stages_of(event)};
  const auto known = std::ranges::find(under_way, one.id, &UnderWay::id);
  if (one.ttft_ms) one.stages.push_back({"decode", *one.ttft_ms, std::nullopt});
  if (known == under_way.end()) {
    under_way.push_back(std::move(one));
    return;
  }
  if (one.model.empty()) one.model = known->model;
  if (!one.ttft_ms && std::ranges::none_of(one.stages, is_load)) {
    std::ranges::copy_if(known->stages, std::back_inserter(one.stages), is_load);
  }
  *known = std::move(one);
}

void TopState::on_ended(const Object& entry, const TopMoment& moment) {
  const std::string id = text_in(entry, "request_id");
  std::erase_if(under_way, [&id](const UnderWay& one) { return one.id == id; });
  std::erase_if(waits, [&](const Wait& wait) { return wait.started_us < moment.midnight_us; });
  recent.insert(recent.begin(), entry);
  if (recent.size() > kRecent) recent.pop_back();
  waits.push_back({integer_in(entry, "started_us"), wait_split(entry)});
  if (const Object* model = model_named(text_in(entry, "model"))) {
    stale.model.insert(text_in(*model, "name"));
  }
  stale.memory = true;
}

void TopState::on_levels(const Object& event, const TopMoment& moment) {
  const std::string name = text_in(event, "model");
  const Object& told = part_in(event, "layers");
  const std::string level = text_in(part_in(told, "weights"), "level");
  for (UnderWay& one : under_way) {
    if (!level.empty() && is_named(name, one.model)) note_load(one, level, moment.now);
  }
  stale.memory = true;
  Object* model = model_named(name);
  if (model == nullptr) return;
  stale.model.insert(name);
  auto& layers = (*model)["layers"];
  if (!layers.is_object()) layers.emplace_object();
  for (const auto& [layer, state] : told) layers.get_object()[layer] = state;
}

Object* TopState::model_named(std::string_view name) {
  for (auto& value : models) {
    Object* model = value.if_object();
    if (model != nullptr && is_named(text_in(*model, "name"), name)) return model;
  }
  return nullptr;
}

}  // namespace hearth::cli
