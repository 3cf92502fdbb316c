// SPDX-License-Identifier: Apache-2.0
#include "cli/documentation.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "api/documentation.h"
#include "cli/session.h"

namespace hearth::cli {
namespace {

int print_page(const std::string& path) {
  std::ifstream file{path};
  std::ostringstream text;
  if (!(text << file.rdbuf())) {
    return report(Error{ErrorCode::kNotFound, path + " cannot be read"});
  }
  const auto page = api::with_tables(text.str());
  if (!page) return report(page.error());
  print(*page);
  return kExitOk;
}

}  // namespace

void add_documentation(CLI::App& app) {
  auto path = std::make_shared<std::string>();  // lives as long as the callback
  auto* docs = app.add_subcommand("docs", "Print a page of docs/, its tables written anew");
  docs->group("")->add_option("PAGE", *path)->required();
  docs->callback([path] { throw CLI::RuntimeError{print_page(*path)}; });
}

}  // namespace hearth::cli
