// SPDX-License-Identifier: Apache-2.0
#include "timeline/report.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "base/json.h"
#include "base/redact.h"
#include "base/stage.h"
#include "timeline/json_writer.h"

namespace hearth {
namespace {

constexpr std::size_t kLongestText = 500;  // bytes, of a message or a path in the history

std::int64_t count_of(Bytes bytes) { return static_cast<std::int64_t>(bytes.count()); }

std::string stages_json(const Timings& timings) {
  std::string out = "[";
  for (const TimedStage& stage : timings.stages) {
    JsonWriter json;
    json.string("name", name_of(stage.kind))
        .milliseconds("start_ms", stage.start)
        .milliseconds("ms", stage.length);
    if (stage.bytes > Bytes{}) json.integer("bytes", count_of(stage.bytes));
    if (stage.shared) json.raw("shared", "true");
    if (out.size() > 1) out += ',';
    out += json.object();
  }
  return out + "]";
}

std::string layer_json(const LayerSnapshot& layer) {
  JsonWriter json;
  json.string("level", layer.level)
      .number("fraction", layer.fraction)
      .integer("bytes", count_of(layer.bytes))
      .integer("total_bytes", count_of(layer.total));
  if (!layer.detail.empty()) json.string("detail", layer.detail);
  return json.object();
}

std::string before_json(const Before& before) {
  JsonWriter worker;
  worker.integer("uptime_ms", before.worker_uptime_ms)
      .integer("resident_bytes", count_of(before.worker_resident))
      .integer("anonymous_bytes", count_of(before.worker_anonymous))
      .integer("device_bytes", count_of(before.device));
  JsonWriter pressure;
  pressure.number("cpu", before.cpu_pressure).number("memory", before.memory_pressure);
  JsonWriter json;
  json.raw("artifact", layer_json(before.artifact))
      .raw("pages", layer_json(before.pages))
      .raw("weights", layer_json(before.weights))
      .raw("compiled", layer_json(before.compiled))
      .raw("prefix", layer_json(before.prefix))
      .raw("worker", worker.object())
      .raw("pressure", pressure.object());
  return json.object();
}

std::string saving_json(const Saving& saving) {
  JsonWriter json;
  if (saving.bytes) json.integer("bytes", count_of(*saving.bytes));
  if (saving.time) json.milliseconds("ms", *saving.time);
  if (saving.tokens) json.integer("tokens", *saving.tokens);
  return json.object();
}

std::string avoided_json(const Avoided& avoided) {
  JsonWriter json;
  if (avoided.artifact) json.raw("artifact", saving_json(*avoided.artifact));
  if (avoided.pages) json.raw("pages", saving_json(*avoided.pages));
  if (avoided.weights) json.raw("weights", saving_json(*avoided.weights));
  if (avoided.compiled) json.raw("compiled", saving_json(*avoided.compiled));
  if (avoided.prefix) json.raw("prefix", saving_json(*avoided.prefix));
  return json.object();
}

std::string verdict_json(const Verdict& verdict) {
  JsonWriter json;
  json.string("code", name_of(verdict.code));
  if (verdict.layer.empty()) {
    json.null("layer");
  } else {
    json.string("layer", verdict.layer);
  }
  json.milliseconds("cost_ms", verdict.cost)
      .string("remedy", verdict.remedy)
      .string("text", verdict.text);
  return json.object();
}

std::string warm_json(const WarmBound& warm) {
  JsonWriter json;
  json.milliseconds("ttft_ms", warm.wanted).milliseconds("bound_ms", warm.bound);
  if (!warm.why.empty()) json.string("why", warm.why);
  return json.object();
}

JsonWriter hearth_object(const RequestReport& report, PrefixTexts texts) {
  JsonWriter json;
  json.string("request_id", report.request_id);
  if (report.trace) json.string("trace_id", hex_of(report.trace->context.trace));
  if (report.response_class) {
    json.string("class", name_of(*report.response_class));
    const std::string_view cold = cold_layer_of(*report.response_class);
    if (!cold.empty()) json.string("cold_layer", cold);
  } else {
    json.null("class");
  }
  json.yes_or_no("shared", report.timings.shared)
      .milliseconds("queued_ms", report.timings.queued)
      .milliseconds("total_ms", report.timings.total)
      .milliseconds("overlap_ms", report.timings.overlap)
      .milliseconds("other_ms", report.timings.other)
      .raw("stages", stages_json(report.timings))
      .raw("before", before_json(report.before))
      .raw("avoided", avoided_json(report.avoided));
  if (report.prefix) json.raw("prefix", to_json(*report.prefix, texts));
  if (report.verdict) json.raw("verdict", verdict_json(*report.verdict));
  if (report.warm_bound) json.raw("warm", warm_json(*report.warm_bound));
  if (!report.chat_template.empty()) json.string("chat_template", report.chat_template);
  if (report.dropped_messages > 0 || report.dropped_tokens > 0) {
    JsonWriter truncated;
    truncated.integer("messages", report.dropped_messages).integer("tokens", report.dropped_tokens);
    json.raw("truncated", truncated.object());
  }
  return json;
}

std::string_view shortened(std::string_view text) {
  if (text.size() <= kLongestText) return text;
  text = text.substr(0, kLongestText);
  return text.substr(0, complete_utf8_prefix(text));
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  constexpr std::array<std::string_view, 3> kNames{"ok", "cancelled", "error"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::optional<double> tokens_per_second(const RequestReport& report) {
  if (report.generated_tokens < 2 || report.decode <= Duration{}) return std::nullopt;
  return (report.generated_tokens - 1) / (milliseconds_of(report.decode) / 1000);
}

std::string to_json(const RequestReport& report) {
  return hearth_object(report, PrefixTexts::kShown).object();
}

std::string to_history_json(const RequestReport& report) {
  JsonWriter json = hearth_object(report, PrefixTexts::kLeftOut);
  json.string("model", report.model)
      .string("api", report.api)
      .string("path", shortened(std::string_view{report.path}.substr(0, report.path.find('?'))))
      .integer("status", report.status)
      .string("outcome", name_of(report.outcome));
  if (!report.key.empty()) json.string("key", report.key);
  if (!report.message.empty()) {
    json.string("message", shortened(without_directories(report.message)));
  }
  json.integer("started_us", report.started_wall_us)
      .integer("prompt_tokens", report.prompt_tokens)
      .integer("cached_tokens", report.cached_tokens)
      .integer("generated_tokens", report.generated_tokens);
  if (report.time_to_first_token) json.milliseconds("ttft_ms", *report.time_to_first_token);
  json.milliseconds("prefill_ms", report.prefill).milliseconds("decode_ms", report.decode);
  if (const auto rate = tokens_per_second(report)) json.number("tokens_per_s", *rate);
  json.integer("bytes_read", count_of(report.bytes_read))
      .integer("major_faults", report.major_faults);
  return json.object();
}

std::string server_timing(const RequestReport& report) {
  std::string out;
  for (auto i = 0; i <= static_cast<int>(StageKind::kDecode); ++i) {
    const auto kind = static_cast<StageKind>(i);
    if (!report.timings.has(kind)) continue;
    if (!out.empty()) out += ", ";
    out += name_of(kind);
    out += ";dur=" + three_decimals(milliseconds_of(report.timings.time_in({kind})));
  }
  return out;
}

}  // namespace hearth
