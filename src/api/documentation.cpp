// SPDX-License-Identifier: Apache-2.0
#include "api/documentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/api.h"
#include "api/errors.h"
#include "api/ollama/option_rules.h"
#include "base/stage.h"
#include "timeline/response_class.h"
#include "timeline/verdict_code.h"

namespace hearth::api {
namespace {

constexpr std::string_view kBegin = "<!-- begin: ";
constexpr std::string_view kBeginTail = " -->\n";
constexpr std::string_view kEnd = "<!-- end -->";

std::string route_table() {
  std::string out = "| route | key | does |\n| --- | --- | --- |\n";
  for (const Route& route : routes()) {
    std::string path{route.pattern};
    if (path.ends_with("{rest}")) path.replace(path.size() - 6, 6, "{name}");
    out += fmt::format("| `{} {}` | {} | {} |\n", route.method, path, name_of(route.needs),
                       route.summary);
  }
  return out;
}

std::string error_table() {
  std::string out =
      "| status | type | for Anthropic's clients | when |\n| --- | --- | --- | --- |\n";
  for (const ErrorKind& kind : error_kinds()) {
    out += fmt::format("| {} | `{}` | `{}` | {} |\n", kind.status, kind.type, kind.anthropic,
                       kind.when);
  }
  return out;
}

std::string ollama_option_table() {
  std::string out = "| option | | meaning |\n| --- | --- | --- |\n";
  for (const ollama::OptionRule& rule : ollama::option_rules()) {
    std::string what = "honoured";
    if (rule.treatment == ollama::Treatment::kNeutralOnly) {
      what = fmt::format("only `{}`", rule.neutral);
    } else if (rule.treatment == ollama::Treatment::kNoEffect) {
      what = "no effect";
    }
    out += fmt::format("| `{}` | {} | {} |\n", rule.name, what, rule.text);
  }
  return out;
}

std::string stage_list() {
  std::string out;
  for (int i = 0; i <= static_cast<int>(StageKind::kDecode); ++i) {
    out += fmt::format("{}`{}`", out.empty() ? "" : " · ", name_of(static_cast<StageKind>(i)));
  }
  return out + "\n";
}

std::string class_list() {
  std::string out;
  for (int i = 0; i <= static_cast<int>(ResponseClass::kWarm); ++i) {
    out += fmt::format("{}`{}`", out.empty() ? "" : " · ", name_of(static_cast<ResponseClass>(i)));
  }
  return out + "\n";
}

std::string verdict_list() {
  std::string out;
  std::string_view before;
  for (int i = 0; i <= static_cast<int>(VerdictCode::kMemorySwapped); ++i) {
    const std::string_view name = name_of(static_cast<VerdictCode>(i));
    const std::string_view group = name.substr(0, name.find('.'));
    const std::string_view separator = group == before ? ", " : "\n- ";
    out += fmt::format("{}`{}`", out.empty() ? "- " : separator, name);
    before = group;
  }
  return out + "\n";
}

struct Block {
  std::string_view name;
  std::string (*text)();
};

constexpr std::array kBlocks{
    Block{"routes", route_table},
    Block{"errors", error_table},
    Block{"ollama options", ollama_option_table},
    Block{"stages", stage_list},
    Block{"classes", class_list},
    Block{"verdicts", verdict_list},
};

}  // namespace

Result<std::string> with_tables(std::string_view page) {
  std::string out;
  for (;;) {
    const std::size_t begin = page.find(kBegin);
    if (begin == std::string_view::npos) return out.append(page);
    const std::size_t name_at = begin + kBegin.size();
    const std::size_t name_end = page.find(kBeginTail, name_at);
    const std::size_t end = page.find(kEnd, name_at);
    if (name_end == std::string_view::npos || end == std::string_view::npos || end < name_end) {
      return fail(ErrorCode::kInvalid, "a block of the page has no end");
    }
    const std::string_view name = page.substr(name_at, name_end - name_at);
    const auto* block = std::ranges::find(kBlocks, name, &Block::name);
    if (block == kBlocks.end()) {
      return fail(ErrorCode::kInvalid, fmt::format("there is no table {}", name));
    }
    out.append(page.substr(0, name_end + kBeginTail.size())).append(block->text());
    page.remove_prefix(end);
  }
}

}  // namespace hearth::api
