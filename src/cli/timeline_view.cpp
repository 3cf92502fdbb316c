// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cli/display_width.h"
#include "cli/format.h"
#include "cli/json_fields.h"
#include "cli/model_fields.h"
#include "cli/model_view.h"
#include "cli/prefix_view.h"
#include "cli/timeline_bar.h"

namespace hearth::cli {
namespace {

constexpr std::size_t kStageWidth = 17;  // "artifact.metadata"
constexpr std::size_t kTimeWidth = 8;
constexpr std::size_t kBytesWidth = 9;
constexpr std::size_t kGaps = 8;
constexpr std::size_t kWidestBar = 60;
constexpr std::size_t kKeyWidth = 8;

std::string bytes_text(const boost::json::object& object, std::string_view name) {
  const std::int64_t bytes = integer_in(object, name);
  return bytes > 0 ? format_bytes(Bytes{static_cast<std::uint64_t>(bytes)}) : std::string{};
}

std::string milliseconds_text(const boost::json::object& object, std::string_view name) {
  const auto ms = number_in(object, name);
  return ms ? format_milliseconds(*ms) : std::string{};
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

class View {
 public:
  View(const boost::json::object& request, const OutputStyle& style)
      : request_{request}, style_{style} {}

  void title(std::int64_t now_us);
  void stages();
  void tokens();
  void prefix();
  void verdict();
  void before();
  void saved();
  std::string take() && { return std::move(text_); }

 private:
  std::size_t bar_width() const;
  std::string stage_line(const boost::json::object& stage, double total_ms) const;
  void sum_line(std::string_view name, std::string_view field);
  void line(std::string text);
  void blank() { text_ += '\n'; }
  // "key      text", wrapped with the text's column kept. An empty text writes nothing.
  void keyed(std::string_view key, std::string_view text);

  const boost::json::object& request_;
  const OutputStyle& style_;
  std::string text_;
};

void View::line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text_ += text + '\n';
}

void View::keyed(std::string_view key, std::string_view text) {
  if (text.empty()) return;
  const std::string indent(kKeyWidth + 2, ' ');
  const std::string wrapped = wrap(one_line(text), style_.width, indent);
  const std::string label = pad_right(std::string{key}, kKeyWidth + 2);
  line(style_.paint(Paint::kDim, label) + wrapped.substr(std::min(indent.size(), wrapped.size())));
}

void View::title(std::int64_t now_us) {
  const std::string model = one_line(text_in(request_, "model"));
  const std::string response_class = text_in(request_, "class");
  const std::string total = milliseconds_text(request_, "total_ms");
  line(style_.paint(Paint::kBold, joined({model, response_class, total}, ", ")));
  const double age = seconds_since(request_, "started_us", now_us);
  const std::string path = text_in(request_, "path");
  line(style_.paint(Paint::kDim, one_line(joined({path.empty() ? text_in(request_, "api") : path,
                                                  text_in(request_, "request_id"),
                                                  age < 0 ? std::string{} : format_age(age)},
                                                 style_.unicode ? " · " : ", "))));
  const std::string outcome = text_in(request_, "outcome");
  if (outcome.empty() || outcome == "ok") return;
  const std::string message = text_in(request_, "message");
  line(style_.paint(outcome == "error" ? Paint::kRed : Paint::kYellow,
                    one_line(joined({outcome, message == outcome ? "" : message}, ": "))));
}

std::size_t View::bar_width() const {
  const std::size_t taken = kStageWidth + 2 * kTimeWidth + kBytesWidth + kGaps;
  return std::clamp<std::size_t>(style_.width > taken ? style_.width - taken : 0, 10, kWidestBar);
}

std::string View::stage_line(const boost::json::object& stage, double total_ms) const {
  const double start = number_in(stage, "start_ms").value_or(0);
  const double ms = number_in(stage, "ms").value_or(0);
  const Place place = total_ms > 0 ? Place{start / total_ms, ms / total_ms} : Place{};
  const BarStyle bars = style_.unicode ? BarStyle::kUnicode : BarStyle::kAscii;
  const std::string bar = pad_right(timeline_bar(place, bar_width(), bars), bar_width());
  return fmt::format("{}  {}  {}  {}  {}", pad_right(one_line(text_in(stage, "name")), kStageWidth),
                     pad_left(format_milliseconds(start), kTimeWidth),
                     pad_left(format_milliseconds(ms), kTimeWidth), bar,
                     pad_left(bytes_text(stage, "bytes"), kBytesWidth));
}

void View::sum_line(std::string_view name, std::string_view field) {
  const std::string value = milliseconds_text(request_, field);
  if (value.empty()) return;
  line(pad_right(std::string{name}, kStageWidth + kTimeWidth + 4) + pad_left(value, kTimeWidth));
}

void View::stages() {
  const double total_ms = number_in(request_, "total_ms").value_or(0);
  const auto* stages = array_in(request_, "stages");
  blank();
  std::string heading =
      fmt::format("{}  {}  {}  {}  {}", pad_right("STAGE", kStageWidth),
                  pad_left("START", kTimeWidth), pad_left("TAKES", kTimeWidth),
                  pad_right("IN THE TOTAL", bar_width()), pad_left("BYTES", kBytesWidth));
  line(style_.paint(Paint::kDim, heading));
  if (stages != nullptr) {
    for (const auto& stage : *stages) {
      if (stage.is_object()) line(stage_line(stage.get_object(), total_ms));
    }
  }
  sum_line("total", "total_ms");
  sum_line("overlap", "overlap_ms");
  sum_line("other", "other_ms");
  blank();
}

void View::tokens() {
  const std::int64_t prompt = integer_in(request_, "prompt_tokens");
  const std::int64_t cached = integer_in(request_, "cached_tokens");
  const std::int64_t generated = integer_in(request_, "generated_tokens");
  std::vector<std::string> parts;
  const std::string first = milliseconds_text(request_, "ttft_ms");
  if (!first.empty()) parts.push_back("first after " + first);
  if (prompt > 0) {
    parts.push_back(cached > 0 ? fmt::format("{} in the prompt, {} of them cached", prompt, cached)
                               : fmt::format("{} in the prompt", prompt));
  }
  if (generated > 0) parts.push_back(fmt::format("{} written", generated));
  if (const auto rate = number_in(request_, "tokens_per_s")) {
    parts.push_back(fmt::format("{:.1f} a second", *rate));
  }
  keyed("tokens", joined(parts, "; "));
}

void View::prefix() {
  const auto* prefix = object_in(request_, "prefix");
  if (prefix == nullptr) return;
  keyed("restored", restored_text(*prefix));
  keyed("missed", miss_text(*prefix));
  keyed("not kept", one_line(text_in(*prefix, "not_restorable")));
  const std::int64_t cut = integer_in(*prefix, "normalised");
  if (cut > 0) keyed("cut out", fmt::format("{} of the prompt, by prefix_normalise", cut));
}

void View::verdict() {
  const std::string response_class = text_in(request_, "class");
  const std::string layer = text_in(request_, "cold_layer");
  std::string text = response_class;
  if (!layer.empty()) text += fmt::format(", the {} had to be warmed", layer);
  if (flag_in(request_, "shared")) text += ", together with another request";
  keyed("class", text);
  const auto* verdict = object_in(request_, "verdict");
  if (verdict == nullptr) return;
  keyed("why", joined({text_in(*verdict, "code"), text_in(*verdict, "text")}, ": "));
  keyed("cost", milliseconds_text(*verdict, "cost_ms"));
  keyed("remedy", text_in(*verdict, "remedy"));
}

void View::before() {
  const auto* before = object_in(request_, "before");
  if (before == nullptr) return;
  std::string_view key = "before";
  for (const std::string_view name : kLayers) {
    const auto* layer = object_in(*before, name);
    if (layer == nullptr) continue;
    std::string text = pad_right(std::string{name}, 10) + pad_right(level_text(name, *layer), 15) +
                       "  " + pad_left(bytes_text(*layer, "bytes"), kBytesWidth);
    if (const std::string detail = text_in(*layer, "detail"); !detail.empty()) {
      text += "  " + one_line(detail);
    }
    line(style_.paint(Paint::kDim, pad_right(std::string{key}, kKeyWidth + 2)) +
         clip(text, style_.width - kKeyWidth - 2));
    key = "";
  }
}

void View::saved() {
  const auto* avoided = object_in(request_, "avoided");
  if (avoided == nullptr) return;
  std::string_view key = "saved";
  for (const std::string_view name : kLayers) {
    const auto* saving = object_in(*avoided, name);
    if (saving == nullptr) continue;
    const std::int64_t tokens = integer_in(*saving, "tokens");
    const std::string time = milliseconds_text(*saving, "ms");
    const std::string text =
        joined({tokens > 0 ? fmt::format("{} tokens", tokens) : std::string{},
                bytes_text(*saving, "bytes"), time.empty() ? time : "about " + time},
               ", ");
    if (text.empty()) continue;
    line(style_.paint(Paint::kDim, pad_right(std::string{key}, kKeyWidth + 2)) +
         pad_right(std::string{name}, 10) + text);
    key = "";
  }
}

}  // namespace

std::string timeline_view(const boost::json::object& request, std::int64_t now_us,
                          const OutputStyle& style) {
  View view{request, style};
  view.title(now_us);
  view.stages();
  view.tokens();
  view.prefix();
  view.verdict();
  view.before();
  view.saved();
  return std::move(view).take();
}

std::string reply_summary(const boost::json::object& hearth, const boost::json::object& timings,
                          double first_token_ms) {
  std::vector<std::string> parts{text_in(hearth, "class")};
  if (first_token_ms > 0) parts.push_back("first token " + format_milliseconds(first_token_ms));
  const auto rate = number_in(timings, "predicted_per_second");
  if (rate && *rate > 0) parts.push_back(fmt::format("{:.1f} tokens/s", *rate));
  if (const auto* prefix = object_in(hearth, "prefix")) {
    parts.push_back(restored_text(*prefix));
    parts.push_back(miss_text(*prefix));
  }
  return joined(parts, ", ");
}

}  // namespace hearth::cli
