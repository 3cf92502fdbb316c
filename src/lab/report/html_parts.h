// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/report/summary.h"
#include "lab/run_directory.h"

namespace hearth::lab {

// What the page is about. Refers to what it is made from.
struct PageContent {
  const RunInfo& info;
  const std::vector<Trial>& rows;
  const Summary& summary;

  // The class that colours a side, the same all over the page.
  std::string colour(const std::string& side) const;
};

// The sections of the page; each is empty where there is nothing to show.
std::string headline_section(const PageContent& page);
std::string distribution_section(const PageContent& page);
std::string waterfall_section(const PageContent& page);
std::string curve_sections(const PageContent& page);
std::string worth_section(const PageContent& page);
std::string mixture_section(const PageContent& page);
std::string table_section(const PageContent& page);
std::string left_out_section(const PageContent& page);
std::string not_observable_section(const PageContent& page);
std::string machine_section(const PageContent& page);

// What the sections are made of. Everything that is passed is HTML already.
std::string section(const std::string& id, const std::string& heading, const std::string& content);
// Name, picture and figures, side by side or on a phone one below the other.
struct PlotRow {
  std::string colour;  // a class
  std::string name;
  std::string picture;
  std::string figures;
};
std::string plot_row(const PlotRow& row);
std::string axis_row(const std::string& axis);
// A sample of each colour with its name.
struct LegendEntry {
  std::string kind;  // classes
  std::string name;
};
std::string legend(const std::vector<LegendEntry>& entries);
// "1.20 s" with "1.1 s to 1.3 s" below, or "range 1.1 s to 1.3 s" where there is no interval.
std::string interval_html(const Interval& interval);

}  // namespace hearth::lab
