// SPDX-License-Identifier: Apache-2.0
#include "lab/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/temporary_directory.h"
#include "lab/report/csv.h"
#include "lab/report/html.h"
#include "lab/report/html_text.h"
#include "lab/report/plot.h"
#include "lab/report/sample_run.h"
#include "lab/report/terminal.h"

namespace hearth::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string page_of(const RunInfo& info, const std::vector<Trial>& rows) {
  return html_page(info, rows, summarise(info, rows));
}

TEST(Report, StandsBesideTheRows) {
  const TemporaryDirectory temporary;
  Result<RunDirectory> run = RunDirectory::create(Files::real(), temporary / "run", sample::info());
  ASSERT_TRUE(run);
  for (const Trial& row : sample::rows(3)) ASSERT_TRUE(run->add(row));
  const Result<Summary> summary = write_report(*run);
  ASSERT_TRUE(summary) << summary.error().message();
  EXPECT_EQ(summary->cells.size(), 6);
  for (const char* name : {"report.html", "rows.csv", "summary.json"}) {
    EXPECT_GT(std::filesystem::file_size(run->path() + '/' + name), 100) << name;
  }
}

TEST(HtmlPage, NeedsNothingElse) {
  const std::string page = page_of(sample::info(), sample::rows(5));
  for (const char* foreign :
       {"http://", "https://", "//cdn", "<script", "<img", "<link", "url(", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(foreign)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
}

TEST(HtmlPage, ShowsWhatThereIs) {
  std::vector<Trial> rows = sample::rows(5);
  rows[1].flags = {"busy: 0.8 cores"};
  RunInfo info = sample::info();
  info.left_out = {{"ollama: hollow", "it has no such state"}};
  const std::string page = page_of(info, rows);
  for (const char* part :
       {"after reboot", "nothing is in memory", "1.33 × hearth", "half of it had to be read",
        "busy: 0.8 cores", "it has no such state", "joules: no", "stage by stage",
        "n = 4, 1 flagged", "faster in 3 of 3", "untold: "}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(HtmlPage, OfNothingSaysSo) {
  EXPECT_THAT(page_of({}, {}), HasSubstr("Nothing has been measured yet"));
}

TEST(HtmlPage, OfFailuresAloneListsThem) {
  Trial failed = sample::row("hearth", "after reboot", 0);
  failed.timing = {};
  failed.failure = "nobody listens";
  const std::string page = page_of(sample::info(), {failed, failed});
  EXPECT_THAT(page, HasSubstr("nobody listens"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(HtmlPage, HasEveryPictureThatAStudyAsksFor) {
  std::vector<Trial> rows;
  for (const char* arm : {"all warm", "all cold", "all but pages", "only pages"}) {
    rows.push_back(sample::row("hearth", arm, 100.0 * static_cast<double>(rows.size() + 1)));
  }
  Trial paused = sample::row("hearth", "10 min, injected", 100);
  paused.extra["gap_s"] = 600;
  rows.push_back(paused);
  Trial met = sample::row("hearth", "household", 700);
  met.study = "mix";
  met.extra = {{"day", 0.5}, {"days", 1}};
  met.response_class = "storage-cold";
  rows.push_back(met);
  const std::string page = page_of({}, rows);
  for (const char* id : {"curve-gap_s", "layers", "mixture", "stages", "states", "tables"}) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + std::string{id} + "\""));
  }
}

// Whatever a server, a file name or a command line says stays text.
TEST(HtmlPage, TakesNoMarkupFromOutside) {
  const std::string evil = "</title><script>alert(1)</script>\"'><img src=x onerror=y>";
  std::vector<Trial> rows = sample::rows(3);
  for (Trial& row : rows) {
    row.verdict_text = row.arm = row.side = row.verdict_code = evil;
    row.timing.stages_ms = {{evil, 3}};
    row.report = "{\"stages\":[{\"name\":\"<script>\",\"start_ms\":0,\"ms\":3}]}";
  }
  rows[0].flags = {evil};
  rows[1].failure = evil;
  RunInfo info;
  info.study = info.model = evil;
  info.machine = "{\"<script>\":[\"<script>\",{\"a\":\"<script>\"}]}";
  info.options = info.machine;
  info.about = {{evil, evil}};
  info.versions = info.left_out = {{evil, evil}};
  info.not_observable = {evil};
  const std::string page = page_of(info, rows);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
}

struct EscapeCase {
  const char* name;
  std::string text;
  std::string expected;
};
class Escape : public ::testing::TestWithParam<EscapeCase> {};
TEST_P(Escape, LeavesText) { EXPECT_EQ(escaped(GetParam().text), GetParam().expected); }
INSTANTIATE_TEST_SUITE_P(
    Html, Escape,
    ::testing::Values(EscapeCase{"Plain", "page-cold 50 % – ü", "page-cold 50 % – ü"},
                      EscapeCase{"Markup", "<a href=\"x\">'&",
                                 "&lt;a href=&quot;x&quot;&gt;&#39;&amp;"},
                      EscapeCase{"Control", std::string{"a\0\x1b[31m\x7f\nb", 10}, "a[31m b"},
                      EscapeCase{"C1",
                                 "a\xC2\x9B"
                                 "b",
                                 "ab"},
                      EscapeCase{"Direction",
                                 "a\xE2\x80\xAE"
                                 "b\xE2\x81\xA6"
                                 "c",
                                 "abc"},
                      EscapeCase{"NotUtf8", "a\xFF", "a\xEF\xBF\xBD"}),
    [](const auto& test) { return test.param.name; });

TEST(Scale, IsInDecadesWhereValuesAreFarApart) {
  EXPECT_FALSE(Scale::over({10, 200}).is_logarithmic());
  const Scale wide = Scale::over({10, 4000});
  EXPECT_TRUE(wide.is_logarithmic());
  EXPECT_FALSE(Scale::over({0, 4000}).is_logarithmic());
  EXPECT_GT(wide.at(10), 0);
  EXPECT_LT(wide.at(4000), 100);
  EXPECT_EQ(wide.at(0), 0);
  EXPECT_GE(wide.ticks().size(), 3);
  EXPECT_EQ(Scale::over({}).at(0.5) > 0, true);
  EXPECT_EQ(Scale::over({0}).at(0), 0);
}

TEST(Csv, QuotesAndDefusesFormulas) {
  Trial row = sample::row("=cmd()", "a, \"b\"", 1.5);
  row.extra["gap_s"] = 60;
  const std::string csv = csv_of({row});
  EXPECT_THAT(csv, HasSubstr("\r\nclasses,'=cmd(),\"a, \"\"b\"\"\",,0,0,0,0,1,,1.5,"));
  const auto line_end = csv.find("\r\n");
  EXPECT_THAT(csv.substr(0, line_end), HasSubstr(",gap_s,"));
  // As many cells in each line; the quoted comma is one of the second's.
  EXPECT_EQ(std::count(csv.begin(), csv.begin() + static_cast<std::ptrdiff_t>(line_end), ',') + 1,
            std::count(csv.begin() + static_cast<std::ptrdiff_t>(line_end), csv.end(), ','));
}

TEST(Report, ShowsWhatTheProofSaysInWords) {
  std::vector<Trial> rows = sample::rows(3);
  for (Trial& row : rows) {
    row.before.pages_by = "cachestat";
    row.before.mapped = false;
    row.before.pages_evicted = Bytes{4096};
    row.before.told = {{"weights", row.block == 0 ? "hollow" : "none"}};
  }
  const std::string csv = csv_of(rows);
  const std::string head = csv.substr(0, csv.find("\r\n"));
  for (const char* name : {",pages_evicted,", ",mapped,", ",pages_by,", ",told.weights,"}) {
    EXPECT_THAT(head, HasSubstr(name));
  }
  EXPECT_THAT(csv, HasSubstr(",no,cachestat,hollow,"));
  const std::string page = page_of(sample::info(), rows);
  EXPECT_THAT(page, HasSubstr("<th>evicted</th>"));
  EXPECT_THAT(page, HasSubstr("<th>weights, told</th>"));
  EXPECT_THAT(page, HasSubstr("none<small>2 of 3; hollow 1</small>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"text\">cachestat</td>"));
}

TEST(Report, CallsARangeSo) {
  EXPECT_THAT(page_of(sample::info(), sample::rows(5)), HasSubstr("<small>range "));
  EXPECT_THAT(page_of(sample::info(), sample::rows(8)), Not(HasSubstr("<small>range ")));
  TextLook look;
  look.terminal = true;
  const Summary few = summarise(sample::info(), sample::rows(5));
  EXPECT_THAT(terminal_text(sample::info(), few, look), HasSubstr("(range "));
  EXPECT_THAT(to_json(sample::info(), few), HasSubstr("\"kind\":\"range\""));
  EXPECT_THAT(to_json(sample::info(), summarise(sample::info(), sample::rows(8))),
              HasSubstr("\"kind\":\"interval\""));
}

TEST(TerminalText, SaysWhatAMixtureCannotTell) {
  Trial met = sample::row("hearth", "household", 700);
  met.study = "mix";
  met.extra = {{"day", 0.5}, {"days", 1}, {"planned", 4}};
  Trial hung = met;
  hung.block = 1;
  hung.timing = {};
  hung.timing.total_ms = 60'000;
  hung.failure = "hung: nothing came";
  TextLook look;
  look.terminal = true;
  const std::string text = terminal_text({}, summarise({}, {met, hung}), look);
  EXPECT_THAT(text, HasSubstr("seconds a day cannot be told (no immediate repeat"));
  EXPECT_THAT(text, HasSubstr("p99 at least 59"));
  EXPECT_THAT(text, HasSubstr("1 of 4 requests count"));
  const std::string page = page_of({}, {met, hung});
  EXPECT_THAT(page, HasSubstr("not told"));
  EXPECT_THAT(page, HasSubstr("at least "));
}

TEST(TerminalText, DrawsOnATerminalAndSeparatesByTabsInAPipe) {
  const Summary summary = summarise(sample::info(), sample::rows(5));
  TextLook look;
  look.terminal = look.unicode = true;
  look.width = 120;
  const std::string text = terminal_text(sample::info(), summary, look);
  EXPECT_THAT(text, HasSubstr("after reboot\n  hearth"));
  EXPECT_THAT(text, HasSubstr("█"));
  EXPECT_THAT(text, HasSubstr("1.33× hearth"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const std::string piped = terminal_text(sample::info(), summary, {});
  EXPECT_THAT(piped, HasSubstr("after reboot\thearth\t"));
  EXPECT_EQ(std::count(piped.begin(), piped.end(), '\n'), 7);
}

TEST(TerminalText, PassesNoEscapeCodesOn) {
  std::vector<Trial> rows = sample::rows(1);
  for (Trial& row : rows)
    row.arm =
        "\x1b[2J\x07\xC2\x9B"
        "bad";
  TextLook look;
  look.terminal = true;
  const std::string text = terminal_text({}, summarise({}, rows), look);
  EXPECT_THAT(text, HasSubstr("[2Jbad"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x9B")));
}

}  // namespace
}  // namespace hearth::lab
