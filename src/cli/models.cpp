// SPDX-License-Identifier: Apache-2.0
#include "cli/models.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/clock.h"
#include "cli/answer.h"
#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/model_details.h"
#include "cli/model_view.h"

namespace hearth::cli {

int list_names(const Session& session) {
  const auto models = models_of(session.api.hurried().get("/api/hearth/models"));
  if (!models) return report(models.error());
  for (const auto& value : *models) {
    const auto* model = value.if_object();
    if (model == nullptr) continue;
    print(one_line(text_in(*model, "name")) + "\n");
    for (const std::string& alias : texts_in(*model, "aliases")) print(one_line(alias) + "\n");
  }
  return kExitOk;
}

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

int show_model(const Session& session, const std::string& name) {
  const auto answer = session.api.get(model_target(name));
  if (session.json()) return print_json(answer);
  const auto model = object_of(answer);
  if (!model) return report(model.error());
  print(model_details(*model, Clock::real().wall_us(), session.out));
  // A file that is broken or absent has nothing to tell; what is known has been said.
  const auto content = object_of(session.api.get("/api/hearth/details/" + percent_encode(name)));
  if (content) print((session.out.terminal ? "\n" : "") + content_details(*content, session.out));
  return kExitOk;
}

int remove_models(const Session& session, const std::vector<std::string>& names) {
  int code = kExitOk;
  for (const std::string& name : names) {
    const auto answer = session.api.remove(model_target(name));
    if (!answer) {
      code = report(answer.error());
      if (code == kExitNoServer) return code;
    } else if (session.json()) {
      print_json(answer);
    } else {
      print(fmt::format("removed {}\n", name));
    }
  }
  return code;
}

int copy_model(const Session& session, const std::string& source, const std::string& destination) {
  const boost::json::object body{{"source", source}, {"destination", destination}};
  const auto copied = session.api.post("/api/copy", boost::json::serialize(body));
  if (!copied) return report(copied.error());
  if (session.json()) return print_json(session.api.get(model_target(destination)));
  print(fmt::format("{} is now a name of the same file as {}\n", destination, source));
  return kExitOk;
}

int import_model(const Session& session, const std::string& path, const std::string& name) {
  std::error_code nowhere;
  const std::filesystem::path whole = std::filesystem::absolute(path, nowhere);
  if (path.empty() || nowhere) {
    return report(Error{ErrorCode::kInvalid,
                        "no file \"" + path + "\"" + (nowhere ? ": " + nowhere.message() : "")});
  }
  const std::string absolute = whole.lexically_normal().string();
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

int rescan(const Session& session) {
  const auto answer = session.api.post("/api/hearth/rescan", "{}");
  if (session.json()) return print_json(answer);
  const auto models = models_of(answer);
  if (!models) return report(models.error());
  print(rescanned_sentence(models->size()));
  return kExitOk;
}

}  // namespace hearth::cli
