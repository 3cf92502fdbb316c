// SPDX-License-Identifier: Apache-2.0
#include "api/admin/level_requests.h"

#include <algorithm>
#include <array>
#include <limits>

#include "api/fields.h"
#include "api/sampling.h"

namespace hearth::api::admin {
namespace {

constexpr std::array<std::string_view, 5> kLayers{"artifact", "pages", "weights", "compiled",
                                                  "prefix"};

template <class T>
Result<T> parsed(const std::string& text, T (*read)(const Fields&)) {
  auto object = parse_body(text);
  if (!object) return Failed{std::move(object).error()};
  Fields::FirstError error;
  T call = read(Fields{*object, "", error});
  if (error) return Failed{std::move(*error)};
  return call;
}

std::string read_layer(const Fields& body) {
  std::string layer = body.required_text("layer");
  if (std::ranges::find(kLayers, layer) == kLayers.end()) {
    body.fail("layer", "must be artifact, pages, weights, compiled or prefix");
  }
  return layer;
}

std::string read_pinned_layer(const Fields& body, std::string_view absent) {
  std::string layer = body.text("layer").value_or(std::string{absent});
  if (layer != absent && layer != "weights" && layer != "pages") {
    body.fail("layer", "must be weights or pages: only these can be pinned");
  }
  return layer;
}

WarmCall read_load(const Fields& body) {
  WarmCall call;
  call.layer = "weights";
  call.options.model = body.required_text("model");
  call.options.keep_alive = read_keep_alive(body);
  keep(call.options.return_progress, body.flag("return_progress"));
  return call;
}

WarmCall read_warm(const Fields& body) {
  WarmCall call = read_load(body);
  call.layer = read_layer(body);
  if (call.options.keep_alive && call.layer != "weights") {
    const auto name = body.has("keep_alive") ? "keep_alive" : "ttl";
    body.fail(name, "says how long weights stay; it means nothing for the layer " + call.layer);
  }
  return call;
}

LayerCall read_unload(const Fields& body) { return {body.required_text("model"), {}}; }

void read_choice_of_prefixes(const Fields& body, LayerCall& call) {
  const auto tier = body.text("tier");
  if (tier && *tier != "memory" && *tier != "ram") {
    body.fail("tier", "must be memory; without it, memory and disk are cooled");
  }
  call.memory_only = tier.has_value();
  call.key = body.text("key");
  if (call.key && call.key->empty()) body.fail("key", "must be the name of an API key");
  for (const std::string_view member : {"tier", "key"}) {
    if (call.layer != "prefix" && body.has(member)) {
      body.fail(member, "means something for the layer prefix only");
    }
  }
}

LayerCall read_cool(const Fields& body) {
  LayerCall call;
  call.layer = read_layer(body);
  const bool all = call.layer == "prefix" && !body.has("model");
  if (!all) call.model = body.required_text("model");
  read_choice_of_prefixes(body, call);
  call.preview = body.flag("preview").value_or(false);
  if (call.preview && call.layer != "artifact" && call.layer != "compiled") {
    body.fail("preview", "only of the layers artifact and compiled; the others delete nothing");
  }
  return call;
}

LayerCall read_pin(const Fields& body) {
  LayerCall call = read_unload(body);
  call.layer = read_pinned_layer(body, "weights");
  const auto bytes = body.integer("bytes", {0, std::numeric_limits<std::int64_t>::max()});
  if (bytes.value_or(0) > 0 && call.layer != "pages") {
    body.fail("bytes", "pages can be pinned in part; weights stay whole");
  }
  call.bytes = Bytes{static_cast<std::uint64_t>(bytes.value_or(0))};
  return call;
}

LayerCall read_unpin(const Fields& body) {
  LayerCall call = read_unload(body);
  call.layer = read_pinned_layer(body, "");
  return call;
}

}  // namespace

Result<WarmCall> parse_load(const std::string& body) { return parsed(body, read_load); }
Result<WarmCall> parse_warm(const std::string& body) { return parsed(body, read_warm); }
Result<LayerCall> parse_unload(const std::string& body) { return parsed(body, read_unload); }
Result<LayerCall> parse_cool(const std::string& body) { return parsed(body, read_cool); }
Result<LayerCall> parse_pin(const std::string& body) { return parsed(body, read_pin); }
Result<LayerCall> parse_unpin(const std::string& body) { return parsed(body, read_unpin); }

}  // namespace hearth::api::admin
