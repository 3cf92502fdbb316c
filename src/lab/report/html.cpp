// SPDX-License-Identifier: Apache-2.0
#include "lab/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/time_text.h"
#include "lab/report/figures.h"
#include "lab/report/html_parts.h"
#include "lab/report/html_text.h"

namespace hearth::lab {
namespace {

constexpr const char* kHead =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    // Nothing is fetched and nothing runs, whatever got into the page.
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n";

std::string title_of(const RunInfo& info) {
  const std::string& study = info.study;
  if (study == "classes") return "Cold, warm and between";
  if (study == "idle") return "What a pause costs";
  if (study == "ablate") return "One layer at a time";
  if (study == "mix") return "A household’s day";
  return study.empty() ? "A run of the lab" : study;
}

std::string card(const std::string& about, const std::string& figure, const std::string& detail) {
  return "<div class=\"card\"><small>" + about + "</small><b>" + figure + "</b><small>" + detail +
         "</small></div>\n";
}

// The states in which the first side waits least and most.
std::string extremes(const PageContent& page) {
  const Cell* least = nullptr;
  const Cell* most = nullptr;
  const auto wait = [](const Cell* cell) { return cell->figure("wait_ms")->middle; };
  for (const Cell& cell : page.summary.cells) {
    if (cell.side != page.summary.sides.front() || cell.figure("wait_ms") == nullptr) continue;
    if (least == nullptr || wait(&cell) < wait(least)) least = &cell;
    if (most == nullptr || wait(&cell) > wait(most)) most = &cell;
  }
  if (least == nullptr || least == most) return {};
  const std::string side = escaped(least->side);
  std::string times;
  if (wait(least) > 0) times = fmt::format(", {:.3g} times as long", wait(most) / wait(least));
  return card(side + " at its fastest", milliseconds_text(wait(least)), escaped(least->arm)) +
         card(side + " at its slowest", milliseconds_text(wait(most)), escaped(most->arm) + times);
}

std::string against(const PageContent& page, const std::string& other) {
  int faster = 0, slower = 0, all = 0;
  for (const Ratio& ratio : page.summary.ratios) {
    if (ratio.other != other) continue;
    ++all;
    if (ratio.ratio.high < 1) ++faster;
    if (ratio.ratio.low > 1) ++slower;
  }
  if (all == 0) return {};
  return card(escaped(page.summary.sides.front()) + " against " + escaped(other),
              fmt::format("faster in {} of {}", faster, all),
              fmt::format("slower in {}; in {} the interval leaves it open", slower,
                          all - faster - slower));
}

std::string counted(const PageContent& page) {
  const std::size_t left = page.summary.left_out.size();
  const std::size_t all = page.rows.size();
  return card("requests that count", fmt::format("{} of {}", all - left, all),
              left == 0 ? "none was left out" : "the others are listed, with the reason");
}

std::string navigation(const std::string& body) {
  constexpr std::array<std::pair<const char*, const char*>, 11> kLinks{
      {{"mixture", "household"},
       {"states", "states"},
       {"curve-gap_s", "pauses"},
       {"curve-prompt_length", "prompts"},
       {"curve-storage_mb_s", "storage"},
       {"layers", "layers"},
       {"stages", "stages"},
       {"tables", "figures"},
       {"left-out", "left out"},
       {"not-observable", "not observable"},
       {"machine", "machine"}}};
  std::string links;
  for (const auto& [id, name] : kLinks) {
    if (body.find(fmt::format("<section id=\"{}\"", id)) == std::string::npos) continue;
    links += fmt::format("<a href=\"#{}\">{}</a>", id, name);
  }
  return "<nav>" + links + "</nav>\n";
}

std::string header(const RunInfo& info) {
  std::string versions;
  for (const auto& [side, version] : info.versions) {
    versions += (versions.empty() ? "" : ", ") + escaped(side) + ' ' + escaped(version);
  }
  return fmt::format(
      "<header><h1>{}</h1><p class=\"dim\">hearth lab {}, {}, {}{}{}; seed {}</p></header>\n",
      escaped(title_of(info)), escaped(info.study), escaped(info.model),
      rfc3339(info.started_wall_us, Fraction::kNone), versions.empty() ? "" : "; ", versions,
      info.seed);
}

constexpr const char* kMethod =
    "<section id=\"method\"><h2>How this was measured</h2><p>Each trial brings the server into its "
    "state, proves by what the kernel says that it is in it, waits for a quiet machine, and sends "
    "one fixed request. The order is random within blocks in which each state of each server comes "
    "once; who goes first changes. Figures are medians; intervals are bootstraps at 95 "
    "%; of fewer than 6 requests there is none, and their range is given; servers are compared in "
    "pairs from the same block. What could not be proved, was disturbed "
    "or is impossible is kept, marked and not counted.</p><p>All rows: <a "
    "href=\"rows.jsonl\">rows.jsonl</a>, <a href=\"rows.csv\">rows.csv</a>; these figures: <a "
    "href=\"summary.json\">summary.json</a>.</p></section>\n";

}  // namespace

std::string headline_section(const PageContent& page) {
  if (page.rows.empty()) return "<p>Nothing has been measured yet.</p>\n";
  std::string cards;
  for (const MixHeadline& mixture : page.summary.mixtures) {
    cards += card(escaped(mixture.side) + " makes a household wait",
                  mixture.seconds_a_day ? fmt::format("{:.1f} s a day", *mixture.seconds_a_day)
                                        : std::string{"not told"},
                  mixture.seconds_a_day ? std::string{"beyond what an immediate repeat takes"}
                                        : escaped(mixture.not_told));
  }
  if (page.summary.mixtures.empty()) cards += extremes(page);
  for (std::size_t i = 1; i < page.summary.sides.size(); ++i) {
    cards += against(page, page.summary.sides[i]);
  }
  return "<div class=\"cards\">\n" + cards + counted(page) + "</div>\n";
}

std::string html_page(const RunInfo& info, const std::vector<Trial>& rows, const Summary& summary) {
  const PageContent page{info, rows, summary};
  std::string body = mixture_section(page) + distribution_section(page) + curve_sections(page) +
                     worth_section(page) + waterfall_section(page) + table_section(page) +
                     left_out_section(page) + not_observable_section(page) + kMethod +
                     machine_section(page);
  return kHead + ("<title>" + escaped(title_of(info) + " – " + info.model)) + "</title>\n<style>" +
         std::string{page_style()} + "</style></head>\n<body><main>" + header(info) +
         navigation(body) + headline_section(page) + body + "</main></body></html>\n";
}

}  // namespace hearth::lab
