// SPDX-License-Identifier: Apache-2.0
#include "api/documentation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "api/errors.h"

namespace hearth::api {
namespace {

std::string page_of(const char* name) {
  const auto root = std::filesystem::path{__FILE__}.parent_path().parent_path().parent_path();
  std::ostringstream text;
  text << std::ifstream{root / "docs" / name}.rdbuf();
  return text.str();
}

class DocumentationPage : public ::testing::TestWithParam<const char*> {};

TEST_P(DocumentationPage, HasTheTablesOfTheCode) {
  const std::string page = page_of(GetParam());
  ASSERT_NE(page.find("<!-- begin: "), std::string::npos);
  const auto made = with_tables(page);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(page, *made) << "make docs writes it anew";
}

INSTANTIATE_TEST_SUITE_P(Pages, DocumentationPage, ::testing::Values("api.md", "layers.md"));

TEST(Documentation, RewritesWhatIsBetweenTheMarks) {
  const auto made = with_tables("a\n<!-- begin: classes -->\nold\n<!-- end -->\nb\n");
  ASSERT_TRUE(made);
  EXPECT_EQ(*made,
            "a\n<!-- begin: classes -->\n`artifact-cold` · `storage-cold` · `load-cold` · "
            "`compile-cold` · `prefix-cold` · `warm`\n<!-- end -->\nb\n");
}

TEST(Documentation, RefusesPagesThatAreNotInOrder) {
  for (const char* page : {"<!-- begin: routes -->\n", "<!-- begin: routes",
                           "<!-- begin: nothing -->\n<!-- end -->"}) {
    const auto made = with_tables(page);
    ASSERT_FALSE(made) << page;
    EXPECT_EQ(made.error().code(), ErrorCode::kInvalid);
  }
}

TEST(Documentation, NamesEachKindOfErrorOnceAndSaysWhen) {
  std::set<std::pair<int, std::string_view>> seen;
  for (const ErrorKind& kind : error_kinds()) {
    EXPECT_TRUE(seen.insert({kind.status, kind.type}).second) << kind.status << kind.type;
    EXPECT_FALSE(kind.when.empty()) << kind.status << kind.type;
  }
}

}  // namespace
}  // namespace hearth::api
