// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/ollama_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "layers/artifact/source/auth_challenge.h"
#include "layers/artifact/source/plan_text.h"
#include "layers/artifact/source/source_answer.h"
#include "layers/artifact/source/source_text.h"

namespace hearth::registry {
namespace {

namespace json = boost::json;
using namespace hearth::literals;

constexpr Bytes kMaxManifest = 4_MiB;  // what the distribution specification wants to be possible
constexpr Bytes kMaxToken = 64_KiB;
constexpr std::size_t kMaxLayers = 1024;
constexpr std::string_view kKind = "application/vnd.ollama.image.";
constexpr std::string_view kAlgorithm = "sha256:";

struct Layer {
  std::string kind;  // "model", "template"; empty: not one of Ollama's
  std::string sha256;
  Bytes size;
};

std::string described(const ModelSource& source) {
  return fmt::format("{}:{} on {}", source.repository, source.version, server_of(source));
}

// ---- what went wrong ----

Failed refused(const ModelSource& source, const IndexAnswer& answer) {
  if (answer.with_token) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not for everybody, and its registry gives a token for it only "
                            "to those it knows; models behind a login are not supported",
                            described(source)));
  }
  return fail(ErrorCode::kInvalid,
              fmt::format("{} is not for everybody ({})", described(source), answer.status));
}

Result<> check_status(const ModelSource& source, const IndexAnswer& answer) {
  switch (answer.status) {
    case 200:
      return {};
    case 401:
    case 403:
      return refused(source, answer);
    case 404:
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} has no {}:{}; check its name and tag", server_of(source),
                              source.repository, source.version));
    case 412:
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} is made for a newer version of Ollama only (412); pull the model "
                              "from hf.co instead",
                              described(source)));
    default:
      return unexpected_status(source, answer.status);
  }
}

// ---- reading a manifest ----

Result<Layer> read_layer(const ModelSource& source, const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return senseless(source, "a layer is none");
  Layer layer;
  const std::string type = text_member(*object, "mediaType");
  if (type.starts_with(kKind)) layer.kind = type.substr(kKind.size());
  const std::string digest = text_member(*object, "digest");
  if (digest.starts_with(kAlgorithm)) layer.sha256 = digest.substr(kAlgorithm.size());
  if (!is_sha256(layer.sha256)) return senseless(source, "a layer's digest is no SHA-256");
  const std::optional<Bytes> size = size_member(*object, "size");
  if (!size) return senseless(source, "a layer has no size, or one that cannot be");
  layer.size = *size;
  return layer;
}

Result<std::vector<Layer>> read_layers(const ModelSource& source, std::string_view body) {
  const Result<json::value> value = parse_json(body);
  const json::object* object = value ? value->if_object() : nullptr;
  if (object == nullptr) return senseless(source, "the manifest is no JSON object");
  if (object->contains("manifests")) {
    return fail(ErrorCode::kUnsupported,
                described(source) + " is a container image for several machines, not a model");
  }
  const json::value* list = object->if_contains("layers");
  if (list == nullptr || !list->is_array()) return senseless(source, "the manifest has no layers");
  if (list->get_array().size() > kMaxLayers) {
    return senseless(source, "the manifest has too many layers");
  }
  std::vector<Layer> layers;
  for (const json::value& item : list->get_array()) {
    Result<Layer> layer = read_layer(source, item);
    if (!layer) return Failed{std::move(layer).error()};
    layers.push_back(std::move(*layer));
  }
  return layers;
}

// ---- the plan ----

class Planner {
 public:
  explicit Planner(const ModelSource& source) : source_{source} {}

  Result<FetchPlan> run(const std::vector<Layer>& layers) {
    for (const Layer& layer : layers) {
      if (Result<> taken = take(layer); !taken) return Failed{std::move(taken).error()};
    }
    if (plan_.files.empty()) {
      return fail(ErrorCode::kUnsupported, described(source_) +
                                               " has no weights that can be run "
                                               "here; it may be a model that only "
                                               "runs on its publisher's machines");
    }
    name_files(plan_.files, "");
    name_files(plan_.adapters, "-adapter");
    return std::move(plan_);
  }

 private:
  Result<> take(const Layer& layer) {
    if (layer.kind == "model") return add(plan_.files, layer, "");
    if (layer.kind == "adapter") return add(plan_.adapters, layer, "");
    if (layer.kind == "prompt") return add_text(layer, "template");
    if (is_plan_text(layer.kind)) return add_text(layer, layer.kind);
    if (layer.kind == "tensor") {
      return fail(ErrorCode::kUnsupported,
                  described(source_) +
                      " holds safetensors for Ollama's MLX engine, and only GGUF "
                      "can be run here; pull another tag of it, or a GGUF from "
                      "hf.co");
    }
    leave_out(layer);
    return {};
  }

  void leave_out(const Layer& layer) {
    std::string note = "a layer of unknown kind is left out";
    if (layer.kind == "projector") {
      note = "images are not supported yet, so the projector for them is left out";
    }
    if (layer.kind == "draft") note = "there is no drafting, so the draft model is left out";
    if (layer.kind == "json") return;
    if (std::ranges::find(plan_.notes, note) == plan_.notes.end()) plan_.notes.push_back(note);
  }

  Result<> add(std::vector<PlannedFile>& files, const Layer& layer, std::string_view name) {
    files.push_back({std::string{name},
                     fmt::format("{}/v2/{}/blobs/{}{}", source_.endpoint, source_.repository,
                                 kAlgorithm, layer.sha256),
                     layer.sha256, layer.size});
    return {};
  }

  Result<> add_text(const Layer& layer, std::string_view kind) {
    if (layer.size > kMaxPlanText) return senseless(source_, "a text of the model is too long");
    return add(plan_.texts, layer, kind);
  }

  // A registry has no names for files.
  void name_files(std::vector<PlannedFile>& files, std::string_view what) {
    const std::string model = source_.repository.substr(source_.repository.find('/') + 1);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string number =
          files.size() == 1 ? "" : fmt::format("-{:05}-of-{:05}", i + 1, files.size());
      files[i].name = fmt::format("{}-{}{}{}.gguf", model, source_.version, what, number);
    }
  }

  const ModelSource& source_;
  FetchPlan plan_;
};

}  // namespace

IndexRequest index_request(const ModelSource& source) {
  IndexRequest request;
  request.url =
      fmt::format("{}/v2/{}/manifests/{}", source.endpoint, source.repository, source.version);
  request.headers.push_back({"Accept",
                             "application/vnd.docker.distribution.manifest.v2+json, "
                             "application/vnd.oci.image.manifest.v1+json"});
  request.limit = kMaxManifest;
  return request;
}

Result<IndexRequest> token_request(const ModelSource& source, const IndexAnswer& answer) {
  Result<AuthChallenge> challenge = AuthChallenge::find_bearer(answer.headers);
  if (!challenge) return Failed{std::move(challenge).error().during(described(source))};
  Result<HttpUrl> realm = HttpUrl::parse(challenge->realm);
  if (!realm) return senseless(source, "where it gives tokens is no address");
  if (source.host.scheme == "https" && realm->scheme != "https") {
    return senseless(source, "it gives tokens over a connection without encryption");
  }
  IndexRequest request;
  request.url =
      realm->origin() + (realm->path.empty() ? "/" : realm->path) + challenge->query(realm->query);
  request.headers.push_back({"Accept", "application/json"});
  request.limit = kMaxToken;
  return request;
}

Result<HeaderField> token_header(const IndexAnswer& answer) {
  if (answer.status != 200) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("the registry gives no token to those it does not know ({})", answer.status));
  }
  const Result<json::value> value = parse_json(answer.body);
  const json::object* object = value ? value->if_object() : nullptr;
  std::string token = object != nullptr ? text_member(*object, "token") : "";
  if (token.empty() && object != nullptr) token = text_member(*object, "access_token");
  Result<HeaderField> header = bearer(token);
  if (!header) return fail(ErrorCode::kCorrupt, "the registry gave a token that is none");
  return header;
}

Result<FetchPlan> plan_of(const ModelSource& source, const IndexAnswer& answer) {
  if (Result<> fit = check_status(source, answer); !fit) return Failed{std::move(fit).error()};
  const Result<std::vector<Layer>> layers = read_layers(source, answer.body);
  if (!layers) return Failed{layers.error()};
  Result<FetchPlan> plan = Planner{source}.run(*layers);
  if (!plan) return plan;
  plan->source = source.text;
  plan->name = source.name;
  plan->revision = std::string{kAlgorithm} + hex_of(Sha256{}.add(answer.body).finish());
  return plan;
}

}  // namespace hearth::registry
