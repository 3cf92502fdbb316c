// SPDX-License-Identifier: Apache-2.0
#include "cli/models.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/clock.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/model_view.h"

namespace hearth::cli {
namespace {

std::string model_target(const std::string& name) {
  return "/api/hearth/models/" + percent_encode(name);
}

int print_json(const Result<std::string>& answer) {
  if (!answer) return report(answer.error());
  print(answer->ends_with('\n') ? *answer : *answer + "\n");
  return kExitOk;
}

Result<boost::json::array> models_of(const Result<std::string>& answer) {
  auto object = object_of(answer);
  if (!object) return Failed{std::move(object).error()};
  const auto* models = array_in(*object, "models");
  return models == nullptr ? boost::json::array{} : *models;
}

// POSTs to /api/hearth/<action> and says what the layer is like afterwards.
int change(const Session& session, std::string_view action, const std::string& name,
           const std::string& layer) {
  boost::json::object body{{"model", name}};
  if (action == "warm" || action == "cool") body["layer"] = layer;
  const auto answer =
      session.api.post(fmt::format("/api/hearth/{}", action), boost::json::serialize(body));
  if (session.json()) return print_json(answer);
  const auto model = object_of(answer);
  if (!model) return report(model.error());
  print(level_sentence(*model, layer));
  return kExitOk;
}

}  // namespace

int list_models(const Session& session) {
  const auto answer = session.api.get("/api/hearth/models");
  if (session.json()) return print_json(answer);
  const auto models = models_of(answer);
  if (!models) return report(models.error());
  if (models->empty() && session.out.terminal) {
    print("No models yet; add one with `hearth import FILE.gguf`\n");
    return kExitOk;
  }
  print(models_table(*models, Clock::real().wall_us(), session.out));
  return kExitOk;
}

int list_levels(const Session& session, Show show) {
  const auto answer = session.api.get("/api/hearth/models");
  if (session.json()) return print_json(answer);
  auto models = models_of(answer);
  if (!models) return report(models.error());
  boost::json::array shown;
  for (const auto& model : *models) {
    const bool cold = !model.is_object() || is_stone_cold(model.get_object());
    if (show == Show::kAll || !cold) shown.push_back(model);
  }
  const std::string table = levels_table(shown, session.out);
  if (!table.empty()) {
    print(table);
  } else if (session.out.terminal) {
    print(models->empty() ? "No models yet; add one with `hearth import FILE.gguf`\n"
                          : "Every model is cold; `hearth ps --all` shows them\n");
  }
  return kExitOk;
}

int show_model(const Session& session, const std::string& name) {
  const auto answer = session.api.get(model_target(name));
  if (session.json()) return print_json(answer);
  const auto model = object_of(answer);
  if (!model) return report(model.error());
  print(model_details(*model, Clock::real().wall_us(), session.out));
  return kExitOk;
}

int load_model(const Session& session, const std::string& name) {
  return change(session, "load", name, "weights");
}

int unload_model(const Session& session, const std::string& name) {
  return change(session, "unload", name, "weights");
}

int warm_layer(const Session& session, const std::string& name, const std::string& layer) {
  return change(session, "warm", name, layer);
}

int cool_layer(const Session& session, const std::string& name, const std::string& layer) {
  return change(session, "cool", name, layer);
}

int remove_model(const Session& session, const std::string& name) {
  const auto answer = session.api.remove(model_target(name));
  if (session.json()) return print_json(answer);
  if (!answer) return report(answer.error());
  print(fmt::format("removed {}; its file stays where it is\n", name));
  return kExitOk;
}

int import_model(const Session& session, const std::string& path, const std::string& name) {
  const std::string absolute =
      std::filesystem::absolute(std::filesystem::path{path}).lexically_normal().string();
  const boost::json::object body{{"path", absolute},
                                 {"name", name.empty() ? default_model_name(path) : name}};
  const auto answer = session.api.post("/api/hearth/import", boost::json::serialize(body));
  if (session.json()) return print_json(answer);
  const auto model = object_of(answer);
  if (!model) return report(model.error());
  const auto size =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_in(*model, "size")));
  const std::string quantization = text_in(*model, "quantization");
  print(fmt::format("imported {} ({}{}{}), by reference\n", text_in(*model, "name"),
                    format_bytes(Bytes{size}), quantization.empty() ? "" : ", ", quantization));
  return kExitOk;
}

}  // namespace hearth::cli
