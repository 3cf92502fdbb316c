// SPDX-License-Identifier: Apache-2.0
//
// Ollama's store: manifests as in a container registry, and blobs by digest.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "layers/artifact/found/found_name.h"
#include "layers/artifact/found/layouts.h"
#include "layers/artifact/source/plan_text.h"

namespace hearth::found {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostOfManifest = 1 << 20;
constexpr std::size_t kMostLayers = 1024;
constexpr std::string_view kHost = "registry.ollama.ai";
constexpr std::string_view kNamespace = "library";
constexpr std::string_view kLayer = "application/vnd.ollama.image.";

struct Layer {
  std::string kind;    // "model", "template", ...
  std::string digest;  // "sha256:..."
  Bytes size;
};

struct Manifest {
  std::string host, name_space, model, tag;
  std::string path;
  std::string shown_name;  // for people, in Ollama's words

  std::string full() const { return host + "/" + name_space; }
};

Failed damaged(std::string reason) { return fail(ErrorCode::kCorrupt, std::move(reason)); }

std::string text_in(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  return std::string{value->get_string()};
}

bool is_digest(std::string_view text) {
  constexpr std::string_view kAlgorithm = "sha256:";
  if (!text.starts_with(kAlgorithm) || text.size() != kAlgorithm.size() + 64) return false;
  return std::ranges::all_of(text.substr(kAlgorithm.size()), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

Result<Layer> layer_of(const json::value& value) {
  if (!value.is_object()) return damaged("a layer is no object");
  const json::object& object = value.get_object();
  Layer layer;
  layer.digest = text_in(object, "digest");
  if (!is_digest(layer.digest)) return damaged("a layer has no SHA-256 digest");
  const std::string type = text_in(object, "mediaType");
  if (type.starts_with(kLayer)) layer.kind = type.substr(kLayer.size());
  const json::value* size = object.if_contains("size");
  json::error_code bad;
  const auto bytes = size == nullptr ? std::uint64_t{0} : size->to_number<std::uint64_t>(bad);
  if (size == nullptr || bad) return damaged("a layer has no size");
  layer.size = Bytes{bytes};
  return layer;
}

Result<std::vector<Layer>> layers_in(const std::string& text) {
  const Result<json::value> value = parse_json(text);
  if (!value) return damaged(value.error().message());
  const json::value* list =
      value->is_object() ? value->get_object().if_contains("layers") : nullptr;
  if (list == nullptr || !list->is_array()) return damaged("it lists no layers");
  if (list->get_array().size() > kMostLayers) return damaged("it lists too many layers");
  std::vector<Layer> layers;
  for (const json::value& item : list->get_array()) {
    Result<Layer> layer = layer_of(item);
    if (!layer) return Failed{std::move(layer).error()};
    layers.push_back(std::move(*layer));
  }
  return layers;
}

// The path below the store's manifests. nullopt: no manifest.
std::optional<Manifest> manifest_of(const SeenFile& seen) {
  std::vector<std::string> parts{""};
  for (const char c : seen.relative) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() != 4) return std::nullopt;
  Manifest manifest{parts[0], parts[1], parts[2], parts[3], seen.path, ""};
  std::string above = manifest.full() + "/";
  if (manifest.host == kHost) above = manifest.name_space + "/";
  if (manifest.host == kHost && manifest.name_space == kNamespace) above.clear();
  manifest.shown_name = shown(above + manifest.model + ":" + manifest.tag);
  return manifest;
}

// One manifest on its way to a model.
class Reader {
 public:
  Reader(Look& look, const std::string& root, const Manifest& manifest)
      : look_{look}, blobs_{root + "/blobs/"}, manifest_{manifest} {}

  Result<std::optional<FoundModel>> read() {
    const Result<std::string> text = look_.read_text(manifest_.path, kMostOfManifest);
    if (!text) return Failed{text.error()};
    const Result<std::vector<Layer>> layers = layers_in(*text);
    if (!layers) return Failed{layers.error()};
    for (const Layer& layer : *layers) {
      if (Result<> done = take(layer); !done) return Failed{std::move(done).error()};
    }
    if (unfinished_) return std::optional<FoundModel>{};
    // Without weights of its own it is one that Ollama only passes on to another machine.
    if (model_.paths.empty()) return std::optional<FoundModel>{};
    model_.settings = std::move(texts_.settings);
    return name();
  }

 private:
  Result<> take(const Layer& layer) {
    if (layer.kind == "model") return take_file(layer, model_.paths);
    if (layer.kind == "adapter") return take_file(layer, model_.adapters);
    if (layer.kind == "tensor") {
      return fail(ErrorCode::kUnsupported,
                  "its weights are safetensors, and only GGUF can be read here; pull a tag of it "
                  "that is quantised for llama.cpp");
    }
    return take_text(layer);
  }

  // Blobs were called "sha256:..." once.
  Result<std::string> blob(const Layer& layer) {
    std::string name = layer.digest;
    name[6] = '-';
    for (const std::string& path : {blobs_ + name, blobs_ + layer.digest}) {
      const Result<FileInfo> info = look_.files().info(path);
      if (!info && info.error().code() == ErrorCode::kNotFound) continue;
      if (!info) return Failed{info.error()};
      if (info->kind != FileKind::kRegular) return damaged("a blob of it is no file");
      if (info->size != layer.size) {
        return damaged(fmt::format("a blob of it has {} bytes where the manifest says {}",
                                   info->size.count(), layer.size.count()));
      }
      return path;
    }
    return damaged("a blob of it is missing, " + layer.digest);
  }

  Result<> take_file(const Layer& layer, std::vector<std::string>& into) {
    const Result<std::string> path = blob(layer);
    if (!path) return Failed{path.error()};
    Result<std::string> real = look_.files().real_path(*path);
    if (!real) return Failed{std::move(real).error()};
    const Result<FileInfo> info = look_.files().info(*real);
    if (!info) return Failed{info.error()};
    unfinished_ = look_.is_unfinished(*info, *real) || unfinished_;
    into.push_back(std::move(*real));
    return {};
  }

  Result<> take_text(const Layer& layer) {
    if (!is_plan_text(layer.kind)) return {};
    const Result<std::string> path = blob(layer);
    if (!path) return Failed{path.error()};
    const Result<std::string> text = look_.read_text(*path, kMaxPlanText.count());
    if (!text) return Failed{Error{text.error()}.during("its " + layer.kind)};
    PlannedFile file;
    file.name = layer.kind;
    return apply_text(texts_, file, *text);
  }

  Result<std::optional<FoundModel>> name() {
    const std::string full = name_of(manifest_.full(), manifest_.model, manifest_.tag);
    const bool official = manifest_.host == kHost;
    const std::string above = !official                            ? manifest_.full()
                              : manifest_.name_space == kNamespace ? std::string{}
                                                                   : manifest_.name_space;
    model_.name = name_of(above, manifest_.model, manifest_.tag);
    if (model_.name.empty()) {
      return fail(ErrorCode::kInvalid,
                  "its name cannot be used here; copy it under another with "
                  "`ollama cp`");
    }
    model_.fallback = official ? full : name_of(above, manifest_.model, manifest_.tag + "-ollama");
    return std::optional<FoundModel>{std::move(model_)};
  }

  Look& look_;
  std::string blobs_;
  const Manifest& manifest_;
  FoundModel model_;
  FetchPlan texts_;  // whose settings are the model's
  bool unfinished_ = false;
};

}  // namespace

void look_into_ollama(Look& look, const std::string& root) {
  const std::string manifests = root + "/manifests";
  if (!look.files().info(manifests)) return look.watch(root);
  for (const SeenFile& seen : look.files_below(manifests, Want::kAll)) {
    const std::optional<Manifest> manifest = manifest_of(seen);
    if (!manifest) continue;
    // Ollama writes over a manifest in place, which its folder does not show.
    look.watch(seen.path);
    Result<std::optional<FoundModel>> model = Reader{look, root, *manifest}.read();
    if (!model) {
      look.problem(fmt::format("Ollama's {} cannot be used ({}); `ollama pull {}` may mend it",
                               manifest->shown_name, shown(model.error().message()),
                               manifest->shown_name));
    } else if (*model) {
      look.add(std::move(**model));
    }
  }
}

}  // namespace hearth::found
