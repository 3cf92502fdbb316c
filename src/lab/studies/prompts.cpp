// SPDX-License-Identifier: Apache-2.0
#include "lab/studies/prompts.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hearth::lab {
namespace {

// A prime count, so that any stride visits all of them.
constexpr std::array<std::string_view, 97> kWords{
    "the",   "house", "is",    "warm",  "and",   "water", "on",   "table",  "light",  "for",
    "a",     "small", "room",  "with",  "two",   "books", "we",   "read",   "them",   "at",
    "night", "when",  "all",   "was",   "done",  "in",    "town", "there",  "came",   "man",
    "who",   "said",  "that",  "his",   "car",   "could", "not",  "go",     "up",     "hill",
    "so",    "he",    "would", "stay",  "some",  "days",  "more", "than",   "one",    "year",
    "ago",   "my",    "first", "work",  "had",   "been",  "to",   "make",   "bread",  "by",
    "hand",  "they",  "asked", "how",   "it",    "may",   "help", "people", "see",    "their",
    "own",   "way",   "about", "long",  "time",  "or",    "just", "very",   "little", "after",
    "this",  "she",   "took",  "her",   "old",   "green", "coat", "from",   "door",   "where",
    "only",  "new",   "good",  "white", "paper", "were",  "found"};

std::size_t seed_of(int number) {
  // Neighbouring numbers start far from each other.
  return static_cast<std::size_t>(static_cast<unsigned>(number) * 2654435761U >> 8);
}

}  // namespace

std::string prompt_of(int tokens, int number) {
  const std::size_t start = seed_of(number);
  const std::size_t stride = 1 + start % (kWords.size() - 1);
  std::string text;
  for (int n = 0; n < std::max(tokens, 1); ++n) {
    if (n > 0) text += ' ';
    text += kWords[(start + static_cast<std::size_t>(n) * stride) % kWords.size()];
  }
  return text;
}

std::string prompt_about(int topic, int shared, int own, int number) {
  return prompt_of(shared, -1 - topic) + ' ' + prompt_of(own, number);
}

}  // namespace hearth::lab
