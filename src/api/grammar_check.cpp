// SPDX-License-Identifier: Apache-2.0
#include "api/grammar_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/grammar_reader.h"

namespace hearth::api {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10;
// Parts that may all be empty, one after the other: with ("a"?){N} the engine takes 3 s a token for
// N = 100, and more than 40 s for 190. Repetitions within repetitions are no better.
constexpr long kMostInARow = 100;
constexpr long kMostNested = 100;

using Item = Grammar::Item;
using Sequence = Grammar::Sequence;

std::string named(const Grammar::Rule& rule) {
  return rule.name.empty() ? std::string{"a group"} : "rule " + rule.name;
}

class Study {
 public:
  explicit Study(const Grammar& grammar)
      : grammar_{grammar},
        empty_(grammar.rules.size()),
        figures_(grammar.rules.size()),
        marks_(grammar.rules.size(), Mark::kNew) {}

  std::optional<std::string> complaint() {
    if (!grammar_.names.contains("root")) return "there is no rule named root";
    find_empty();
    for (std::size_t i = 0; i < grammar_.rules.size(); ++i) {
      const Grammar::Rule& rule = grammar_.rules[i];
      if (!rule.defined) return fmt::format("line {}: there is no {}", rule.line, named(rule));
    }
    for (std::size_t i = 0; i < grammar_.rules.size() && !wrong_; ++i) visit(i);
    std::ranges::fill(marks_, Mark::kNew);
    for (std::size_t i = 0; i < grammar_.rules.size() && !wrong_; ++i) measure(i);
    return wrong_;
  }

 private:
  enum class Mark { kNew, kOpen, kDone };
  struct Figures {
    long row = 0;     // the most parts that may all be empty, one after the other
    long nested = 0;  // how often its innermost part is repeated; 0: nothing is
  };

  void wrong(std::size_t line, std::string what) {
    if (!wrong_) wrong_ = fmt::format("line {}: {}", line, what);
  }

  bool child_empty(const Item& item) const {
    return item.rule >= 0 && empty_[static_cast<std::size_t>(item.rule)];
  }
  bool may_be_empty(const Item& item) const { return item.empty || child_empty(item); }

  void find_empty() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < empty_.size(); ++i) {
        if (empty_[i]) continue;
        const bool empty =
            std::ranges::any_of(grammar_.rules[i].alternates, [this](const Sequence& sequence) {
              return std::ranges::all_of(sequence,
                                         [this](const Item& item) { return may_be_empty(item); });
            });
        if (!empty || !grammar_.rules[i].defined) continue;
        empty_[i] = changed = true;
      }
    }
  }

  // No rule may come to itself before it has read anything.
  void visit(std::size_t index) {
    const Grammar::Rule& rule = grammar_.rules[index];
    if (marks_[index] == Mark::kOpen) wrong(rule.line, named(rule) + " begins with itself");
    if (marks_[index] != Mark::kNew || wrong_) return;
    marks_[index] = Mark::kOpen;
    for (const Sequence& sequence : rule.alternates) visit_beginning(sequence);
    marks_[index] = Mark::kDone;
  }

  void visit_beginning(const Sequence& sequence) {
    for (const Item& item : sequence) {
      if (item.rule >= 0) visit(static_cast<std::size_t>(item.rule));
      if (!may_be_empty(item)) return;
    }
  }

  const Figures& measure(std::size_t index) {
    if (marks_[index] != Mark::kNew) return figures_[index];
    marks_[index] = Mark::kOpen;
    for (const Sequence& sequence : grammar_.rules[index].alternates) measure(index, sequence);
    marks_[index] = Mark::kDone;
    return figures_[index];
  }

  void measure(std::size_t index, const Sequence& sequence) {
    long row = 0;
    for (const Item& item : sequence) {
      Figures child;
      if (item.rule >= 0) child = measure(static_cast<std::size_t>(item.rule));
      check(item, child);
      row = may_be_empty(item) ? row + row_of(item, child) : 0;
      if (row > kMostInARow) {
        wrong(item.line, fmt::format("more than {} parts in a row may all be empty", kMostInARow));
      }
      Figures& figures = figures_[index];
      figures.row = std::max(figures.row, row);
      figures.nested = std::max(figures.nested, nested_of(item, child));
    }
  }

  long row_of(const Item& item, const Figures& child) const {
    return child_empty(item) ? item.times * std::max(1L, child.row) : 1;
  }
  static long nested_of(const Item& item, const Figures& child) {
    const long inner = std::min(std::max(1L, child.nested), kMostNested + 1);
    return item.repeated || child.nested > 0 ? item.times * inner : 0;
  }

  void check(const Item& item, const Figures& child) {
    if (item.endless && child_empty(item)) {
      wrong(item.line, "what may be empty is repeated without a bound");
    }
    if (item.times > 1 && child.nested > 0 && nested_of(item, child) > kMostNested) {
      wrong(item.line, fmt::format("repetitions within a repetition come to more than {}; write "
                                   "fewer, or none within",
                                   kMostNested));
    }
  }

  const Grammar& grammar_;
  std::vector<char> empty_;
  std::vector<Figures> figures_;
  std::vector<Mark> marks_;
  std::optional<std::string> wrong_;
};

}  // namespace

Result<> check_grammar(std::string_view text) {
  if (text.size() > kMostBytes) {
    return fail(ErrorCode::kInvalid, fmt::format("a grammar may have {} KiB", kMostBytes >> 10));
  }
  if (text.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kInvalid, "a grammar has no NUL in it; write \\x00");
  }
  auto grammar = parse_grammar(text);
  if (!grammar) return Failed{std::move(grammar).error()};
  if (auto complaint = Study{*grammar}.complaint()) {
    return fail(ErrorCode::kInvalid, std::move(*complaint));
  }
  return {};
}

}  // namespace hearth::api
