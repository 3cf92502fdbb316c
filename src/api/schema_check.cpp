// SPDX-License-Identifier: Apache-2.0
#include "api/schema_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema_references.h"

namespace hearth::api {
namespace json = boost::json;
namespace {

// The engine's grammars refuse to repeat anything more often.
constexpr std::int64_t kMostRepeats = 2000;
constexpr double kLargestPattern = 2000;
// With repetitions inside: the ways to read a text multiply. Measured with (a?){N}: N = 60 takes
// 0.3 s of the engine's time, 100 takes 3 s, 190 more than 40 s.
constexpr double kLargestNested = 100;

constexpr std::array<std::string_view, 4> kCounts{"minLength", "maxLength", "minItems", "maxItems"};
constexpr std::array<std::string_view, 13> kNotEnforced{"not",
                                                        "multipleOf",
                                                        "if",
                                                        "contains",
                                                        "patternProperties",
                                                        "minProperties",
                                                        "maxProperties",
                                                        "uniqueItems",
                                                        "dependentRequired",
                                                        "dependentSchemas",
                                                        "propertyNames",
                                                        "unevaluatedItems",
                                                        "unevaluatedProperties"};
constexpr std::array<std::array<std::string_view, 2>, 3> kBounds{
    {{"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}}};

// What a pattern grows to when its repetitions are written out. A group that is repeated within
// another one counts as nested.
class PatternSize {
 public:
  explicit PatternSize(std::string_view pattern) {
    for (std::size_t at = 0; at < pattern.size() && balanced_; ++at) at = take(pattern, at);
    balanced_ = balanced_ && groups_.size() == 1;
  }

  bool balanced() const { return balanced_; }
  bool fits() const {
    return groups_.front().total <= (nested_ ? kLargestNested : kLargestPattern);
  }

 private:
  struct Group {
    double total = 0;
    double last = 0;       // what a repetition would repeat
    bool repeats = false;  // something in it is repeated, however deep
  };

  void add(double size) {
    groups_.back().last = size;
    groups_.back().total += size;
  }

  // Returns where what it took ends.
  std::size_t take(std::string_view pattern, std::size_t at) {
    switch (pattern[at]) {
      case '\\':
        add(1);
        return at + 1;
      case '[':
        add(1);
        return end_of_class(pattern, at);
      case '(':
        groups_.push_back({});
        return at;
      case ')':
        close();
        return at;
      case '{':
        return repeat(pattern, at);
      case '?':
      case '*':
      case '+':
        groups_.back().repeats = true;
        return at;
      default:
        add(1);
        return at;
    }
  }

  std::size_t end_of_class(std::string_view pattern, std::size_t at) {
    for (++at; at < pattern.size() && pattern[at] != ']'; ++at) {
      if (pattern[at] == '\\') ++at;
    }
    balanced_ = at < pattern.size();
    return at;
  }

  void close() {
    balanced_ = groups_.size() > 1;
    if (!balanced_) return;
    const Group inner = groups_.back();
    groups_.pop_back();
    add(inner.total);
    last_repeats_ = inner.repeats;
    groups_.back().repeats = groups_.back().repeats || inner.repeats;
  }

  std::size_t repeat(std::string_view pattern, std::size_t at) {
    const std::size_t end = pattern.find('}', at);
    if (end == std::string_view::npos) return at;
    std::int64_t most = 1;
    for (std::size_t i = at + 1; i < end; ++i) {
      std::int64_t count = 0;
      const auto [stop, error] = std::from_chars(&pattern[i], &pattern[end], count);
      if (error == std::errc::result_out_of_range) count = kMostRepeats + 1;
      if (error != std::errc::invalid_argument) i = static_cast<std::size_t>(stop - pattern.data());
      most = std::max(most, count);
    }
    Group& group = groups_.back();
    group.total += group.last * static_cast<double>(most - 1);
    group.last *= static_cast<double>(most);
    nested_ = nested_ || last_repeats_;
    group.repeats = true;
    return end;
  }

  std::vector<Group> groups_{Group{}};
  bool balanced_ = true;
  bool last_repeats_ = false;  // the group that was closed last holds a repetition
  bool nested_ = false;
};

class Checker {
 public:
  Checker(const Fields& schema, SchemaUse use) : fields_{schema}, use_{use} {}

  void check(const json::value& value, const std::string& path) {
    if (fields_.failed()) return;
    if (const json::array* list = value.if_array()) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        check((*list)[i], fmt::format("{}[{}]", path, i));
      }
    } else if (const json::object* object = value.if_object()) {
      check(*object, path);
    }
  }

  void check(const json::object& schema, const std::string& path) {
    check_keywords(schema, path);
    for (const auto& member : schema) check_member(member, path);
  }

 private:
  static std::string below(const std::string& path, std::string_view name) {
    return path.empty() ? std::string{name} : fmt::format("{}.{}", path, name);
  }

  // The names in `properties` and `$defs` are the client's own, not keywords.
  void check_member(const json::key_value_pair& member, const std::string& path) {
    const std::string_view name = member.key();
    const bool names = name == "properties" || name == "$defs" || name == "definitions";
    if (!names || !member.value().is_object()) {
      const bool is_data = name == "enum" || name == "const" || name == "default" ||
                           name == "examples" || name == "required";
      if (!is_data) check(member.value(), below(path, name));
      return;
    }
    for (const auto& own : member.value().get_object()) {
      check(own.value(), below(below(path, name), own.key()));
    }
  }

  void check_keywords(const json::object& schema, const std::string& path) {
    for (const std::string_view name : kCounts) {
      const json::value* count = schema.if_contains(name);
      const auto number = count == nullptr ? std::nullopt : integer_of(*count);
      if (number && *number > kMostRepeats) {
        fail(below(path, name), fmt::format("at most {} is possible", kMostRepeats));
      }
    }
    for (const auto& [low, high] : kBounds) check_bounds(schema, path, low, high);
    const json::value* pattern = schema.if_contains("pattern");
    if (pattern != nullptr && pattern->is_string()) {
      check_pattern(std::string_view{pattern->get_string()}, below(path, "pattern"));
    }
    check_reference(schema, path);
    if (use_ != SchemaUse::kReply) return;
    for (const std::string_view name : kNotEnforced) {
      const json::value* keyword = schema.if_contains(name);
      if (keyword == nullptr || *keyword == json::value(false)) continue;
      fail(below(path, name), "this keyword cannot be enforced here, so it is refused");
    }
  }

  void check_reference(const json::object& schema, const std::string& path) {
    const json::value* reference = schema.if_contains("$ref");
    if (reference == nullptr || !reference->is_string()) return;
    if (!leads_back(fields_.json(), reference->get_string())) return;
    fail(below(path, "$ref"), "leads back to itself: no text could fit");
  }

  void check_bounds(const json::object& schema, const std::string& path, std::string_view low,
                    std::string_view high) {
    const json::value* least = schema.if_contains(low);
    const json::value* most = schema.if_contains(high);
    if (least == nullptr || most == nullptr || !least->is_number() || !most->is_number()) return;
    if (least->to_number<double>() <= most->to_number<double>()) return;
    fail(below(path, low), fmt::format("is more than {}: no text could follow this", high));
  }

  void check_pattern(std::string_view pattern, const std::string& path) {
    const PatternSize size{pattern};
    if (!size.balanced()) return fail(path, "its brackets do not match");
    if (!size.fits()) return fail(path, "it repeats too much to be followed in reasonable time");
    if (use_ != SchemaUse::kReply) return;
    if (!pattern.starts_with('^') || !pattern.ends_with('$')) {
      fail(path, "only patterns for the whole text can be enforced, as ^…$");
    } else if (pattern.find("(?") != std::string_view::npos) {
      fail(path, "groups that begin with (? cannot be enforced");
    }
  }

  void fail(const std::string& path, const std::string& message) { fields_.fail(path, message); }

  const Fields& fields_;
  const SchemaUse use_;
};

}  // namespace

void check_schema(const Fields& schema, SchemaUse use) {
  Checker checker{schema, use};
  checker.check(schema.json(), "");
}

}  // namespace hearth::api
