// SPDX-License-Identifier: Apache-2.0
#include "cli/levels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "cli/answer.h"
#include "cli/answer_lines.h"
#include "cli/budget.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/model_view.h"
#include "cli/progress_bar.h"
#include "cli/quantity.h"
#include "cli/transfer_view.h"

namespace hearth::cli {
namespace {

constexpr std::string_view kSecretBegins = "hearth-";
constexpr std::size_t kSecretLength = 50;

struct Change {
  std::string_view action;  // of /api/hearth/
  boost::json::object body;
  http::Headers headers{};

  std::string target() const { return fmt::format("/api/hearth/{}", action); }
};

using Sentence = std::string (*)(const boost::json::object& model, std::string_view layer);

int tell(const Session& session, const Result<std::string>& answer, Sentence sentence,
         std::string_view layer) {
  if (session.json()) return print_json(answer);
  const auto model = object_of(answer);
  if (!model) return report(model.error());
  print(sentence(*model, layer));
  return kExitOk;
}

Result<std::string> post(const Session& session, const Change& change) {
  return session.api.post(change.target(), boost::json::serialize(change.body), change.headers);
}

Result<std::string> post_with_progress(const Session& session, Change change) {
  change.body["return_progress"] = true;
  ProgressBar bar{stderr, session.error};
  AnswerLines stream{[&bar](const boost::json::object& line) {
    const auto* progress = object_in(line, "progress");
    if (progress != nullptr) bar.update(progress_note(*progress));
    return progress != nullptr;
  }};
  const auto sent = session.api.stream(
      change.target(), boost::json::serialize(change.body),
      [&stream](std::string_view bytes) {
        stream.feed(bytes);
        return true;
      },
      change.headers);
  if (!sent) return Failed{sent.error()};
  return stream.finish();
}

int warm_up(const Session& session, Change change, std::string_view layer,
            const WarmingOptions& options) {
  if (!options.keep_alive.empty()) change.body["keep_alive"] = options.keep_alive;
  if (options.wait_seconds) {
    change.headers.push_back({"Prefer", fmt::format("wait={}", *options.wait_seconds)});
  }
  const bool drawn = session.error.terminal && !session.json();
  const auto answer =
      drawn ? post_with_progress(session, std::move(change)) : post(session, change);
  return tell(session, answer, level_sentence, layer);
}

// Wrong usage that no server need be asked about.
Result<> check_cooling(const std::string& name, std::string_view layer,
                       const CoolOptions& options) {
  const auto wrong = [](std::string_view what) {
    return fail(ErrorCode::kInvalid, std::string{what});
  };
  const bool narrowed = options.all || !options.tier.empty() || !options.key.empty();
  if (narrowed && layer != "prefix") {
    return wrong("--all, --tier and --key are about --layer prefix");
  }
  if (options.all && !name.empty()) return wrong("either a MODEL or --all, not both");
  if (!options.all && name.empty()) return wrong("which MODEL? --all is all of them");
  if (options.key.size() == kSecretLength && options.key.starts_with(kSecretBegins)) {
    return wrong(
        "after `cool`, --key takes the name of a key; the key itself goes before the verb");
  }
  return {};
}

std::string freed_sentence(const boost::json::object& answer, std::string_view) {
  const auto bytes =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_in(answer, "freed_bytes")));
  return fmt::format("{} given back\n", format_bytes(Bytes{bytes}));
}

int preview_cool(const Session& session, const std::string& name, const std::string& layer) {
  const auto answer =
      post(session, {"cool", {{"model", name}, {"layer", layer}, {"preview", true}}});
  if (session.json()) return print_json(answer);
  const auto whole = object_of(answer);
  if (!whole) return report(whole.error());
  if (const auto* preview = object_in(*whole, "preview")) print(cool_preview_text(*preview));
  return kExitOk;
}

}  // namespace

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
  const ModelNotes notes = shown.empty() ? ModelNotes{} : broken_claims(session);
  const std::string table = levels_table(shown, notes, Clock::real().wall_us(), session.out);
  if (!table.empty()) {
    print(table);
  } else if (session.out.terminal) {
    print(models->empty() ? "No models yet; add one with `hearth import FILE.gguf`\n"
                          : "Every model is cold; `hearth ps --all` shows them\n");
  }
  return kExitOk;
}

int load_model(const Session& session, const std::string& name, const WarmingOptions& options) {
  return warm_up(session, {"load", {{"model", name}}}, "weights", options);
}

int warm_layer(const Session& session, const std::string& name, const std::string& layer,
               const WarmingOptions& options) {
  if (!options.keep_alive.empty() && layer != "weights") {
    return report(Error{ErrorCode::kInvalid, "--keep-alive is about weights, not " + layer});
  }
  return warm_up(session, {"warm", {{"model", name}, {"layer", layer}}}, layer, options);
}

int unload_model(const Session& session, const std::string& name) {
  return tell(session, post(session, {"unload", {{"model", name}}}), level_sentence, "weights");
}

int cool_layer(const Session& session, const std::string& name, const std::string& layer,
               const CoolOptions& options) {
  if (const Result<> sound = check_cooling(name, layer, options); !sound) {
    report(sound.error());
    return kExitUsage;
  }
  if (options.preview) return preview_cool(session, name, layer);
  Change change{"cool", {{"layer", layer}}};
  if (!options.all) change.body["model"] = name;
  if (!options.tier.empty()) change.body["tier"] = "memory";
  if (!options.key.empty()) change.body["key"] = options.key;
  const Sentence sentence = options.all ? freed_sentence : level_sentence;
  return tell(session, post(session, change), sentence, layer);
}

int pin_layer(const Session& session, const std::string& name, const std::string& layer,
              const std::string& bytes) {
  Change change{"pin", {{"model", name}, {"layer", layer}}};
  if (!bytes.empty()) {
    if (layer != "pages") {
      return report(Error{ErrorCode::kInvalid, "--bytes needs --layer pages; weights stay whole"});
    }
    const auto size = parse_size(bytes);
    if (!size) return report(size.error());
    change.body["bytes"] = size->count();
  }
  return tell(session, post(session, change), pins_sentence, layer);
}

int unpin_layer(const Session& session, const std::string& name, const std::string& layer) {
  Change change{"unpin", {{"model", name}}};
  if (!layer.empty()) change.body["layer"] = layer;
  return tell(session, post(session, change), pins_sentence, layer);
}

}  // namespace hearth::cli
