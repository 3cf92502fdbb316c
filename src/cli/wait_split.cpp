// SPDX-License-Identifier: Apache-2.0
#include "cli/wait_split.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

constexpr std::size_t kPrefix = 4;
constexpr std::size_t kWork = 6;
constexpr std::size_t kOther = kWaitParts.size() - 1;

std::size_t part_named(std::string_view name) {
  const auto* found = std::ranges::find(kWaitParts, name);
  return found == kWaitParts.end() ? kOther : static_cast<std::size_t>(found - kWaitParts.begin());
}

std::size_t part_of(std::string_view stage) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kParts{
      {{"queue", "queue"},
       {"artifact.metadata", "artifact"},
       {"artifact.download", "artifact"},
       {"artifact.verify", "artifact"},
       {"spawn", "weights"},
       {"read", "pages"},
       {"load", "weights"},
       {"compile", "compiled"},
       {"context", "weights"},
       {"tokenize", "work"},
       {"restore", "prefix"},
       {"prefill", "work"},
       {"first_decode", "work"},
       {"decode", "work"}}};
  const auto* found =
      std::ranges::find(kParts, stage, &std::pair<std::string_view, std::string_view>::first);
  return found == kParts.end() ? kOther : part_named(found->second);
}

struct Span {
  std::size_t part;
  double from, to;
};

std::vector<Span> spans_of(const boost::json::object& entry, double until) {
  std::vector<Span> spans;
  for (const boost::json::object* stage : objects_in(entry, "stages")) {
    const double from = number_in(*stage, "start_ms").value_or(0);
    const double to = from + number_in(*stage, "ms").value_or(0);
    if (std::min(to, until) > from) {
      spans.push_back({part_of(text_in(*stage, "name")), from, std::min(to, until)});
    }
  }
  return spans;
}

std::vector<double> edges_of(const std::vector<Span>& spans, double until) {
  std::vector<double> edges{0, until};
  for (const Span& span : spans) {
    edges.push_back(span.from);
    edges.push_back(span.to);
  }
  std::ranges::sort(edges);
  return edges;
}

}  // namespace

WaitSplit wait_split(const boost::json::object& entry) {
  WaitSplit split{};
  const double total = number_in(entry, "total_ms").value_or(0);
  const double until = number_in(entry, "ttft_ms").value_or(total);
  const std::vector<Span> spans = spans_of(entry, until);
  const std::vector<double> edges = edges_of(spans, until);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    std::size_t coldest = kOther;
    for (const Span& span : spans) {
      const bool covers = span.from <= edges[i] && span.to >= edges[i + 1];
      if (covers) coldest = std::min(coldest, span.part);
    }
    split[coldest] += edges[i + 1] - edges[i];
  }
  const boost::json::object& verdict = part_in(entry, "verdict");
  if (text_in(verdict, "layer") == "prefix") {
    const double again = std::min(split[kWork], number_in(verdict, "cost_ms").value_or(0));
    split[kWork] -= again;
    split[kPrefix] += again;
  }
  return split;
}

}  // namespace hearth::cli
