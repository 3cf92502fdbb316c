// SPDX-License-Identifier: Apache-2.0
#include "front/prefix_reasons/normaliser.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <span>
#include <utility>

namespace hearth::front {
namespace {

constexpr std::size_t kLeastLetters = 3;

std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return c != '*' && c != ' ' && c != '\t'; }));
}

std::vector<std::string> split_at_stars(std::string_view pattern) {
  std::vector<std::string> parts(1);
  for (const char c : pattern) {
    if (c == '*') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

using Range = std::pair<std::size_t, std::size_t>;  // [from, to)

struct Match {
  std::vector<Range> stars;
  std::size_t end = 0;
};

// The first match from `from` on. Taking each literal where it first comes finds one if there is
// one, so nothing is ever tried again.
std::optional<Match> find_match(std::string_view line, std::size_t from,
                                std::span<const std::string> parts) {
  Match match;
  std::size_t at = parts.front().empty() ? from : line.find(parts.front(), from);
  if (at == std::string_view::npos) return std::nullopt;
  at += parts.front().size();
  for (const std::string& part : parts.subspan(1)) {
    const bool rest = part.empty() && &part == &parts.back();
    const std::size_t next = rest ? line.size() : line.find(part, at);
    if (next == std::string_view::npos) return std::nullopt;
    match.stars.push_back({at, next});
    at = next + part.size();
  }
  match.end = at;
  return match;
}

int cut_string(const PromptNormaliser& normaliser, boost::json::string& value) {
  std::string text{value};
  const int places = normaliser.cut(text);
  if (places > 0) value = text;
  return places;
}

boost::json::string* text_in(boost::json::value& part) {
  auto* object = part.if_object();
  if (object == nullptr) return nullptr;
  const auto* type = object->if_contains("type");
  if (type == nullptr || !type->is_string() || type->get_string() != "text") return nullptr;
  auto* text = object->if_contains("text");
  return text == nullptr ? nullptr : text->if_string();
}

// Counts the message's texts in `texts`.
int cut_message(const PromptNormaliser& normaliser, boost::json::object& message,
                std::size_t& texts) {
  auto* content = message.if_contains("content");
  if (content == nullptr) return 0;
  if (auto* text = content->if_string()) {
    ++texts;
    return cut_string(normaliser, *text);
  }
  int places = 0;
  if (!content->is_array()) return 0;
  for (boost::json::value& part : content->get_array()) {
    auto* text = text_in(part);
    if (text == nullptr) continue;
    ++texts;
    places += cut_string(normaliser, *text);
  }
  return places;
}

bool has_role(const boost::json::object& message, std::string_view role) {
  const auto* value = message.if_contains("role");
  return value != nullptr && value->is_string() && value->get_string() == role;
}

int cut_messages(const PromptNormaliser& normaliser, boost::json::array& messages) {
  int places = 0;
  std::size_t texts = 0;
  boost::json::object* first_user = nullptr;
  for (boost::json::value& value : messages) {
    auto* message = value.if_object();
    if (message == nullptr) continue;
    if (has_role(*message, "system") || has_role(*message, "developer")) {
      places += cut_message(normaliser, *message, texts);
    } else if (first_user == nullptr && has_role(*message, "user")) {
      first_user = message;
    }
  }
  if (texts == 0 && first_user != nullptr) places += cut_message(normaliser, *first_user, texts);
  return places;
}

}  // namespace

Result<> check_normalise_pattern(const std::string& pattern) {
  const auto refused = [&pattern](std::string_view why) {
    return fail(ErrorCode::kInvalid, std::string{why} + ": \"" + pattern.substr(0, 100) + "\"");
  };
  const auto stars = static_cast<std::size_t>(std::ranges::count(pattern, '*'));
  if (pattern.size() > PromptNormaliser::kLongestPattern) {
    return refused("must have patterns of at most 200 bytes");
  }
  if (pattern.find_first_of("\r\n") != std::string::npos) {
    return refused("must have patterns within one line");
  }
  if (stars == 0) return refused("must have a * in each pattern, for what is to be cut out");
  if (stars > PromptNormaliser::kMostStars) {
    return refused("must have patterns with at most 8 times *");
  }
  if (pattern.find("**") != std::string::npos) {
    return refused("must have something between two * of a pattern");
  }
  if (letters_of(pattern) < kLeastLetters) {
    return refused("must have patterns with at least 3 characters beside *, or all would match");
  }
  return {};
}

PromptNormaliser::PromptNormaliser(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (patterns_.size() == kMostPatterns) break;
    if (check_normalise_pattern(pattern)) patterns_.push_back(split_at_stars(pattern));
  }
}

int PromptNormaliser::cut_line(std::string& line, const Pattern& pattern) {
  std::string out;
  int places = 0;
  std::size_t from = 0;
  std::size_t kept = 0;  // of `line` up to here, `out` has what stays
  while (const auto match = find_match(line, from, pattern)) {
    for (const auto& [begin, end] : match->stars) {
      if (begin == end) continue;
      out.append(line, kept, begin - kept);
      kept = end;
      ++places;
    }
    from = match->end;
    if (from >= line.size()) break;
  }
  if (places == 0) return 0;
  out.append(line, kept);
  line = std::move(out);
  return places;
}

int PromptNormaliser::cut(std::string& text) const {
  int places = 0;
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t end = std::min(newline, text.size());
    if (end > kLongestText) break;
    std::string line = text.substr(at, end - at);
    const bool carriage = line.ends_with('\r');
    if (carriage) line.pop_back();
    for (const Pattern& pattern : patterns_) places += cut_line(line, pattern);
    out += line;
    if (carriage) out += '\r';
    if (newline != std::string::npos) out += '\n';
    at = newline == std::string::npos ? end : newline + 1;
  }
  if (places == 0) return 0;
  out.append(text, at);
  text = std::move(out);
  return places;
}

PromptNormaliser::Outcome PromptNormaliser::apply(std::string messages) const {
  if (empty() || messages.empty() || messages.size() > kLongestMessages) {
    return {std::move(messages), 0};
  }
  boost::system::error_code wrong;
  boost::json::value parsed = boost::json::parse(messages, wrong);
  auto* array = wrong ? nullptr : parsed.if_array();
  if (array == nullptr) return {std::move(messages), 0};
  const int places = cut_messages(*this, *array);
  if (places == 0) return {std::move(messages), 0};
  return {boost::json::serialize(parsed), places};
}

}  // namespace hearth::front
