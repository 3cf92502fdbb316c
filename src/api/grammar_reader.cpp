// SPDX-License-Identifier: Apache-2.0
#include "api/grammar_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace hearth::api {
namespace {

constexpr int kMostNesting = 64;
constexpr std::size_t kMostRules = 2000;
constexpr int kMostRepeats = 2000;  // the engine's own limit

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || is_digit(c);
}

// Once something is wrong, it is at the end of the text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_{text} {}

  Result<Grammar> read() {
    skip_space(Lines::kAcross);
    while (more()) read_rule();
    if (wrong_) return fail(ErrorCode::kInvalid, *wrong_);
    return std::move(grammar_);
  }

 private:
  enum class Lines { kAcross, kWithin };

  bool more() const { return at_ < text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip(std::size_t count) { go_to(at_ + count); }
  void go_to(std::size_t end) {
    end = std::min(end, text_.size());
    const auto passed = text_.substr(at_, end - at_);
    line_ += static_cast<std::size_t>(std::ranges::count(passed, '\n'));
    at_ = end;
  }
  bool take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    skip(what.size());
    return true;
  }
  void wrong(const std::string& what) {
    if (!wrong_) wrong_ = fmt::format("line {}: {}", line_, what);
    at_ = text_.size();
  }

  void skip_space(Lines lines) {
    while (more()) {
      const char c = peek();
      const bool space = c == ' ' || c == '\t';
      if (c == '#') {
        go_to(text_.find_first_of("\r\n", at_));
      } else if (space || (lines == Lines::kAcross && (c == '\r' || c == '\n'))) {
        skip(1);
      } else {
        return;
      }
    }
  }

  std::string read_name() {
    const std::size_t begin = at_;
    while (is_word(peek())) skip(1);
    if (at_ == begin) wrong("the name of a rule is expected: letters, digits and -");
    return std::string{text_.substr(begin, at_ - begin)};
  }

  int rule_named(const std::string& name) {
    const auto [found, added] =
        grammar_.names.try_emplace(name, static_cast<int>(grammar_.rules.size()));
    if (added) add_rule({name, {}, false, line_});
    return found->second;
  }

  int add_rule(Grammar::Rule rule) {
    if (grammar_.rules.size() >= kMostRules) {
      wrong(fmt::format("a grammar may have {} rules and groups", kMostRules));
    }
    grammar_.rules.push_back(std::move(rule));
    return static_cast<int>(grammar_.rules.size()) - 1;
  }

  void read_rule() {
    const std::string name = read_name();
    if (wrong_) return;
    const int rule = rule_named(name);
    skip_space(Lines::kWithin);
    const std::size_t defined_at = line_;
    if (!take("::=")) return wrong("::= is expected after the name of a rule");
    skip_space(Lines::kAcross);
    auto alternates = read_alternates(name, Lines::kWithin);
    Grammar::Rule& entry = grammar_.rules[static_cast<std::size_t>(rule)];
    entry = {name, std::move(alternates), true, defined_at};
    if (more() && peek() != '\r' && peek() != '\n') {
      return wrong(fmt::format("'{}' has no place here", printable(peek())));
    }
    skip_space(Lines::kAcross);
  }

  static std::string printable(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }

  std::vector<Grammar::Sequence> read_alternates(const std::string& name, Lines lines) {
    std::vector<Grammar::Sequence> alternates;
    alternates.push_back(read_sequence(name, lines));
    while (take("|")) {
      skip_space(Lines::kAcross);
      alternates.push_back(read_sequence(name, lines));
    }
    return alternates;
  }

  Grammar::Sequence read_sequence(const std::string& name, Lines lines) {
    Grammar::Sequence sequence;
    while (more()) {
      const std::size_t items = sequence.size();
      if (read_repetition(sequence, lines)) continue;
      if (wrong_) break;
      if (!read_item(name, lines, sequence) || items == sequence.size()) break;
    }
    return sequence;
  }

  // False when nothing begins here that belongs to the sequence.
  bool read_item(const std::string& name, Lines lines, Grammar::Sequence& sequence) {
    Grammar::Item item;
    item.line = line_;
    const char c = peek();
    if (c == '"') {
      item.empty = read_text();
    } else if (c == '[') {
      item.empty = read_set();
    } else if (c == '<' || c == '!') {
      read_token();
    } else if (is_word(c)) {
      item.rule = rule_named(read_name());
    } else if (c == '(') {
      item.rule = read_group(name);
    } else if (c == '.') {
      skip(1);
    } else {
      return false;
    }
    skip_space(lines);
    sequence.push_back(item);
    return true;
  }

  // True when it is empty.
  bool read_text() {
    skip(1);
    const std::size_t begin = at_;
    while (peek() != '"') {
      if (!more()) return wrong("a text has no end"), false;
      read_character();
    }
    skip(1);
    return at_ == begin + 1;
  }

  bool read_set() {
    skip(1);
    if (peek() == '^') skip(1);
    const std::size_t begin = at_;
    while (peek() != ']') {
      if (!more()) return wrong("a set of characters has no end"), false;
      read_character();
    }
    skip(1);
    return at_ == begin + 1;
  }

  void read_character() {
    if (peek() != '\\') return skip(1);
    const char kind = peek(1);
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    constexpr std::string_view kPlain = "trn\\\"[]-";
    if (digits == 0 && (kind == '\0' || kPlain.find(kind) == std::string_view::npos)) {
      return wrong(fmt::format("\\{} is no escape that is known", printable(kind)));
    }
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_hex(peek(2 + i))) {
        return wrong(fmt::format("{} hexadecimal digits are expected after \\{}", digits, kind));
      }
    }
    skip(2 + digits);
  }

  void read_token() {
    (void)take("!");
    if (!take("<")) return wrong("< is expected before a token");
    const std::size_t end = text_.find_first_of(">\n", at_);
    if (end == std::string_view::npos || text_[end] != '>') return wrong("a token has no end");
    go_to(end + 1);
  }

  int read_group(const std::string& name) {
    if (++depth_ > kMostNesting) {
      wrong(fmt::format("groups may be nested {} deep", kMostNesting));
      return -1;
    }
    skip(1);
    skip_space(Lines::kAcross);
    auto alternates = read_alternates(name, Lines::kAcross);
    if (!take(")")) wrong("a group has no end: ) is expected");
    --depth_;
    return add_rule({name, std::move(alternates), true, line_});
  }

  // True when there was one.
  bool read_repetition(Grammar::Sequence& sequence, Lines lines) {
    const char c = peek();
    if (c != '*' && c != '+' && c != '?' && c != '{') return false;
    const bool nothing = sequence.empty() || is_nothing(sequence.back());
    if (nothing) return wrong(fmt::format("{} repeats nothing", c)), false;
    Grammar::Item& item = sequence.back();
    if (item.repeated) item = as_group(item);
    item.repeated = true;
    skip(1);
    if (c == '{') {
      read_bounds(item);
    } else {
      item.endless = c != '?';
      item.empty = item.empty || c != '+';
    }
    skip_space(lines);
    return !wrong_;
  }

  static bool is_nothing(const Grammar::Item& item) {
    return item.empty && item.rule < 0 && !item.repeated;
  }

  // A repetition of a repetition.
  Grammar::Item as_group(const Grammar::Item& item) {
    Grammar::Item group;
    group.rule = add_rule({"", {{item}}, true, item.line});
    group.line = item.line;
    return group;
  }

  void read_bounds(Grammar::Item& item) {
    skip_space(Lines::kAcross);
    const std::optional<int> low = read_count();
    if (!low) return wrong("a count is expected after {");
    skip_space(Lines::kAcross);
    std::optional<int> high = low;
    if (take(",")) {
      skip_space(Lines::kAcross);
      high = read_count();
      skip_space(Lines::kAcross);
    }
    if (!take("}")) return wrong("} is expected after a count");
    if (*low > kMostRepeats || high.value_or(0) > kMostRepeats) {
      return wrong(fmt::format("nothing can be repeated more than {} times", kMostRepeats));
    }
    if (high && *high < *low)
      return wrong(fmt::format("{{{},{}}} ends before it begins", *low, *high));
    item.endless = !high;
    item.times = std::max(1, high.value_or(*low));
    item.empty = item.empty || *low == 0;
  }

  // What is too large for an int is too many in any case.
  std::optional<int> read_count() {
    const std::size_t begin = at_;
    while (is_digit(peek())) skip(1);
    if (at_ == begin) return std::nullopt;
    int count = 0;
    const auto read = std::from_chars(text_.data() + begin, text_.data() + at_, count);
    return read.ec == std::errc{} ? count : kMostRepeats + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  int depth_ = 0;
  std::optional<std::string> wrong_;
  Grammar grammar_;
};

}  // namespace

Result<Grammar> parse_grammar(std::string_view text) { return Reader{text}.read(); }

}  // namespace hearth::api
