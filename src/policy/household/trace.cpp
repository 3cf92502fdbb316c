// SPDX-License-Identifier: Apache-2.0
#include "policy/household/trace.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace hearth::household {
namespace {

constexpr std::string_view kHeading = "seconds,model,size_gb,service_s";
constexpr double kMostSeconds = 10 * 366 * 86400.0;
constexpr double kMostGb = 1e6;

std::optional<double> number_in(std::string_view text, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!(value >= 0 && value <= most)) return std::nullopt;
  return value;
}

Duration duration_of(double seconds) {
  return Duration{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
}

std::optional<std::array<std::string_view, 4>> fields_of(std::string_view line) {
  std::array<std::string_view, 4> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto comma = line.find(',');
    if ((comma == line.npos) != (i + 1 == fields.size())) return std::nullopt;
    fields[i] = line.substr(0, comma);
    line.remove_prefix(comma == line.npos ? line.size() : comma + 1);
  }
  return fields;
}

class Reader {
 public:
  // Empty, or what is wrong.
  std::string_view add(std::string_view line) {
    const auto fields = fields_of(line);
    if (!fields) return "four fields are wanted";
    const auto seconds = number_in((*fields)[0], kMostSeconds);
    const auto gb = number_in((*fields)[2], kMostGb);
    const auto service = number_in((*fields)[3], kMostSeconds);
    if (!seconds || !gb || !service) return "a number is missing or out of range";
    const Bytes size{static_cast<std::uint64_t>(std::llround(*gb * 1e9))};
    if ((*fields)[1].empty() || size == Bytes{}) return "a model has no name or no size";
    const auto [known, is_new] = models_.emplace((*fields)[1], trace.models.size());
    if (is_new) trace.models.push_back({known->first, size});
    if (trace.models[known->second].size != size) return "a model has two sizes";
    const Duration at = duration_of(*seconds);
    if (!trace.requests.empty() && at < trace.requests.back().at) return "time goes back";
    trace.requests.push_back({at, known->second, duration_of(*service)});
    return {};
  }

  Trace trace;

 private:
  std::map<std::string, std::size_t, std::less<>> models_;
};

}  // namespace

Result<Trace> parse_trace(std::string_view csv) {
  Reader reader;
  for (int number = 1; !csv.empty(); ++number) {
    const auto end = csv.find('\n');
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(end == csv.npos ? csv.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (number == 1) {
      if (line != kHeading) return fail(ErrorCode::kInvalid, fmt::format("no \"{}\"", kHeading));
      continue;
    }
    const std::string_view wrong = reader.add(line);
    if (!wrong.empty()) return fail(ErrorCode::kInvalid, fmt::format("line {}: {}", number, wrong));
  }
  if (reader.trace.requests.empty()) return fail(ErrorCode::kInvalid, "the trace has no request");
  return std::move(reader.trace);
}

std::string to_csv(const Trace& trace) {
  std::string text = fmt::format("{}\n", kHeading);
  for (const TraceRequest& request : trace.requests) {
    const TraceModel& model = trace.models[request.model];
    text += fmt::format("{:.1f},{},{:g},{:g}\n", milliseconds_of(request.at) / 1000, model.name,
                        static_cast<double>(model.size.count()) / 1e9,
                        milliseconds_of(request.service) / 1000);
  }
  return text;
}

}  // namespace hearth::household
