// SPDX-License-Identifier: Apache-2.0
#include "worker/long_text.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/json.h"

namespace hearth::worker {
namespace {

using engine::AddSpecial;
using engine::Token;
using engine::Vocabulary;

constexpr std::size_t kReadWhole = std::size_t{1} << 20;
constexpr std::size_t kBytesPerToken = 8;  // twice what most text has

std::string_view last_bytes(std::string_view text, std::size_t count) {
  std::size_t from = text.size() - std::min(count, text.size());
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
  return text.substr(from);
}

std::string_view first_bytes(std::string_view text, std::size_t count) {
  const std::string_view part = text.substr(0, count);
  return part.substr(0, complete_utf8_prefix(part));
}

struct Part {
  std::vector<Token> tokens;
  std::size_t bytes = 0;
};

// As much of one end as has more than `wanted` tokens, or the whole text.
template <class Take>
Part read_part(const Vocabulary& vocabulary, std::string_view text, int wanted, Take take) {
  std::size_t bytes = kBytesPerToken * static_cast<std::size_t>(wanted) + 256;
  for (;; bytes *= 2) {
    const std::string_view part = take(text, bytes);
    std::vector<Token> tokens = vocabulary.tokenize(part, AddSpecial::kNo);
    const bool enough = tokens.size() > static_cast<std::size_t>(wanted);
    if (enough || bytes >= text.size()) return {std::move(tokens), part.size()};
  }
}

// By what the part that was read has.
int unread_of(std::string_view text, const Part& part, std::size_t read) {
  const double per_byte = static_cast<double>(part.tokens.size()) / static_cast<double>(part.bytes);
  const double unread = per_byte * static_cast<double>(text.size()) - static_cast<double>(read);
  constexpr double kMost = std::numeric_limits<int>::max() / 2;
  return static_cast<int>(std::clamp(unread, 0.0, kMost));
}

}  // namespace

LongText read_ends(const Vocabulary& vocabulary, std::string_view text, AddSpecial special,
                   TextEnds ends) {
  if (text.size() <= kReadWhole) return {vocabulary.tokenize(text, special), 0};
  const int most = std::max(ends.most, 1);
  Part tail = read_part(vocabulary, text, most, last_bytes);
  if (tail.bytes == text.size()) return {vocabulary.tokenize(text, special), 0};

  LongText out;
  if (special == AddSpecial::kYes) out.tokens = vocabulary.tokenize("", special);
  if (vocabulary.ends_with_special() && !out.tokens.empty()) out.tokens.pop_back();
  const int head = std::clamp(ends.head, 0, most);
  if (head > 0) {
    const Part first = read_part(vocabulary, text, head, first_bytes);
    const auto count = std::min(first.tokens.size(), static_cast<std::size_t>(head));
    out.tokens.insert(out.tokens.end(), first.tokens.begin(),
                      first.tokens.begin() + static_cast<std::ptrdiff_t>(count));
  }
  out.tokens.insert(out.tokens.end(), tail.tokens.begin(), tail.tokens.end());
  out.unread_tokens = unread_of(text, tail, out.tokens.size());
  return out;
}

LongText read_beginning(const Vocabulary& vocabulary, std::string_view text, int most) {
  if (text.size() <= kReadWhole) return {vocabulary.tokenize(text, AddSpecial::kYes), 0};
  const Part part = read_part(vocabulary, text, std::max(most, 1), first_bytes);
  LongText out;
  out.tokens = vocabulary.tokenize(text.substr(0, part.bytes), AddSpecial::kYes);
  out.unread_tokens = unread_of(text, part, part.tokens.size());
  return out;
}

}  // namespace hearth::worker
