// SPDX-License-Identifier: Apache-2.0
#include "lab/report/report.h"

#include "lab/report/csv.h"
#include "lab/report/html.h"

namespace hearth::lab {

Result<Summary> write_report(RunDirectory& run) {
  Summary summary = summarise(run.info(), run.rows());
  Result<> done = run.write("report.html", html_page(run.info(), run.rows(), summary));
  if (done) done = run.write("rows.csv", csv_of(run.rows()));
  if (done) done = run.write("summary.json", to_json(run.info(), summary));
  if (!done) return Failed{done.error()};
  return summary;
}

}  // namespace hearth::lab
