// SPDX-License-Identifier: Apache-2.0
#include "api/admin/reports.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"

namespace hearth::api::admin {
namespace {

class Reports : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  boost::json::array list() const {
    return boost::json::parse(list_runs(Files::real(), directory_.path())).as_array();
  }
  Result<std::string> read(const std::string& name, ReportPart part = ReportPart::kPage) const {
    return report_file(Files::real(), directory_.path(), name, part);
  }

  TemporaryDirectory directory_;
};

TEST_F(Reports, AreListedNewestFirst) {
  write("a/run.json", R"({"study": "classes", "model": "m.gguf", "started_wall_us": 10})");
  write("a/report.html", "<p>");
  write("b/run.json", R"({"study": "idle", "started_wall_us": 20})");
  write("broken/run.json", "{");
  write("nothing/else.txt", "");
  write(".hidden/run.json", "{}");
  const auto runs = list();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].at("name").as_string(), "b");
  EXPECT_FALSE(runs[0].at("report").as_bool());
  EXPECT_EQ(runs[1].at("study").as_string(), "classes");
  EXPECT_TRUE(runs[1].at("report").as_bool());
}

TEST_F(Reports, ThereMayBeNone) {
  EXPECT_EQ(list_runs(Files::real(), directory_.path() + "/missing"), "[]");
}

TEST_F(Reports, OnlyFilesOfRunsAreRead) {
  write("a/report.html", "<p>hello</p>");
  write("secret", "no");
  EXPECT_EQ(read("a").value_or(""), "<p>hello</p>");
  for (const char* name : {"b", "..", ".", "", "a/../..", "secret", "a\n"}) {
    const auto text = read(name);
    ASSERT_FALSE(text) << name;
    EXPECT_EQ(text.error().message(), "there is no such report") << name;
  }
  EXPECT_FALSE(read("a", ReportPart::kSummary));
}

TEST(ReportsDirectory, LiesInTheDataDirectory) {
  EXPECT_EQ(reports_directory(R"({"options": [{"name": "data", "value": "/d"}]})").value_or(""),
            "/d/reports");
  EXPECT_FALSE(reports_directory(R"({"options": []})"));
  EXPECT_FALSE(reports_directory("?"));
}

}  // namespace
}  // namespace hearth::api::admin
