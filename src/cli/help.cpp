// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "base/nearest.h"
#include "cli/program.h"
#include "cli/session.h"

namespace hearth::cli {
namespace {

// More edits than half of the letters are another word.
bool is_near(std::string_view word, std::string_view verb) {
  return edit_distance(word, verb) <= std::max(word.size(), verb.size()) / 2;
}

std::vector<const CLI::App*> shown_verbs(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

std::string nearest_verb(const CLI::App& app, std::string_view word) {
  std::vector<std::string_view> names;
  for (const CLI::App* verb : shown_verbs(app)) {
    names.emplace_back(verb->get_name());
    names.insert(names.end(), verb->get_aliases().begin(), verb->get_aliases().end());
  }
  if (names.empty()) return {};
  const std::string_view nearest = hearth::nearest(word, names);
  return is_near(word, nearest) ? std::string{nearest} : std::string{};
}

std::string no_such_verb(const CLI::App& app, std::string_view word) {
  const std::string nearest = nearest_verb(app, word);
  return fmt::format(
      "there is no verb \"{}\"; {}", word,
      nearest.empty() ? "`hearth help` lists all" : "did you mean \"" + nearest + "\"?");
}

int help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string above;
  for (const std::string& word : words) {
    const auto named =
        at->get_subcommands([&word](const CLI::App* verb) { return verb->check_name(word); });
    if (named.empty()) {
      report(Error{ErrorCode::kNotFound, no_such_verb(*at, word)});
      return kExitUsage;
    }
    above += (above.empty() ? "" : " ") + at->get_name();
    at = named.front();
  }
  // Not help(), which speaks of the verb that was chosen: this one.
  print(at->get_formatter()->make_help(at, above + (above.empty() ? "" : " ") + at->get_name(),
                                       CLI::AppFormatMode::Normal));
  return kExitOk;
}

}  // namespace

void add_help(CLI::App& app) {
  // Owned by the callback below, which lives as long as `app`.
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = app.add_subcommand("help", "Explain a verb");
  verb->add_option("VERB", *words, "Which one; an overview without");
  verb->footer(example("hearth help warm"));
  verb->callback([&app, words] { throw CLI::RuntimeError{help(app, *words)}; });
}

std::string unknown_verb(const CLI::App& app) {
  if (!app.get_subcommands().empty()) return {};
  for (const std::string& word : app.remaining()) {
    if (!word.starts_with('-')) return no_such_verb(app, word);
  }
  return {};
}

}  // namespace hearth::cli
