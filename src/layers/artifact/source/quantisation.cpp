// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/quantisation.h"

#include <algorithm>
#include <array>

#include "layers/artifact/shard_name.h"

namespace hearth {
namespace {

using Words = std::string_view;

// Longer ones first where one begins another.
constexpr std::array<Words, 8> kWhole{"MXFP4_MOE", "MXFP4", "NVFP4", "BF16",
                                      "FP16",      "FP32",  "F16",   "F32"};
// What may follow "Q4", each after an underscore.
constexpr std::array<Words, 21> kParts{"0",  "1",   "4",  "8",  "K",  "XXS", "XS",
                                       "S",  "M",   "L",  "XL", "NL", "P",   "KS",
                                       "KL", "KSS", "KT", "R4", "R8", "XXL", "HQ"};

// Four bits, then more, then three, then what is not quantised.
constexpr std::array<Words, 41> kOrder{
    "Q4_K_M",  "Q4_K_XL", "Q4_K_L",    "Q4_K_S", "Q4_K",   "Q4_0",    "Q4_1",   "IQ4_NL", "IQ4_XS",
    "Q4",      "MXFP4",   "MXFP4_MOE", "NVFP4",  "Q5_K_M", "Q5_K_XL", "Q5_K_L", "Q5_K_S", "Q5_K",
    "Q5_0",    "Q5_1",    "Q5",        "Q6_K",   "Q6_K_L", "Q6_K_XL", "Q6",     "Q8_0",   "Q8_0_L",
    "Q8_K_XL", "Q8",      "Q3_K_XL",   "Q3_K_L", "Q3_K_M", "Q3_K_S",  "Q3_K",   "IQ3_M",  "IQ3_S",
    "IQ3_XS",  "IQ3_XXS", "BF16",      "F16",    "F32"};
constexpr std::size_t kNotQuantised = 3;

constexpr std::string_view kUnsloth = "UD-";

std::string upper(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

bool is_inner(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || !is_inner(text[at - 1]);
}

bool ends_word(std::string_view text, std::size_t at) {
  return at == text.size() || !is_inner(text[at]);
}

// How many characters of `text` are "_" and one of kParts, a whole word; 0: none.
std::size_t part_length(std::string_view text) {
  if (!text.starts_with('_')) return 0;
  std::size_t longest = 0;
  for (const std::string_view part : kParts) {
    const std::size_t length = part.size() + 1;
    if (text.substr(1).starts_with(part) && ends_word(text, length)) {
      longest = std::max(longest, length);
    }
  }
  return longest;
}

struct Match {
  std::size_t length = 0;
  bool quantised = true;
};

Match match_whole(std::string_view text) {
  for (const std::string_view word : kWhole) {
    if (text.starts_with(word) && ends_word(text, word.size())) {
      return {word.size(), !word.ends_with("16") && !word.ends_with("32")};
    }
  }
  return {};
}

// The quantisation that begins at the head of `text`.
Match match(std::string_view text) {
  std::size_t at = text.starts_with("IQ") || text.starts_with("TQ") ? 1 : 0;
  if (text.size() < at + 2 || text[at] != 'Q' || text[at + 1] < '1' || text[at + 1] > '8') {
    return match_whole(text);
  }
  at += 2;
  if (!ends_word(text, at)) return {};
  const std::size_t bare = at;
  for (std::size_t more; (more = part_length(text.substr(at))) > 0;) at += more;
  // "Q1" and "Q2" alone are quarters of a year.
  const bool enough = at > bare || (bare == 2 && text[1] > '2');
  return enough ? Match{at} : Match{};
}

std::string plain(std::string_view name) {
  if (name == "FP16") return "F16";
  if (name == "FP32") return "F32";
  return std::string{name};
}

std::string search(std::string_view text) {
  std::string found;
  bool quantised = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!begins_word(text, at)) continue;
    const Match here = match(text.substr(at));
    // The last one counts; what is not quantised is only said of a part where both stand.
    if (here.length == 0 || (quantised && !here.quantised)) continue;
    quantised = here.quantised;
    found = plain(text.substr(at, here.length));
    if (text.substr(0, at).ends_with(kUnsloth) && begins_word(text, at - kUnsloth.size())) {
      found.insert(0, kUnsloth);
    }
    at += here.length;
  }
  return found;
}

}  // namespace

std::string quantisation_in(std::string_view file_name) {
  std::string stem{file_name};
  if (const auto shard = parse_shard_name(file_name)) stem = shard->stem;
  stem = upper(stem);
  if (stem.ends_with(".GGUF")) stem.resize(stem.size() - 5);
  const std::size_t slash = stem.rfind('/');
  if (slash == std::string::npos) return search(stem);
  std::string in_name = search(std::string_view{stem}.substr(slash + 1));
  return in_name.empty() ? search(std::string_view{stem}.substr(0, slash)) : in_name;
}

std::optional<std::string> quantisation_named(std::string_view text) {
  const std::string name = upper(text);
  std::string_view rest = name;
  if (rest.starts_with(kUnsloth)) rest.remove_prefix(kUnsloth.size());
  if (rest.empty() || match(rest).length != rest.size()) return std::nullopt;
  return (rest.size() < name.size() ? std::string{kUnsloth} : std::string{}) + plain(rest);
}

int quantisation_rank(std::string_view quantisation) {
  const bool unsloth = quantisation.starts_with(kUnsloth);
  if (unsloth) quantisation.remove_prefix(kUnsloth.size());
  // Two and fewer bits come after three, and before what is not quantised.
  constexpr std::size_t kFewBits = kOrder.size() - kNotQuantised;
  std::size_t place = kOrder.size() + 1;
  const auto* found = std::ranges::find(kOrder, quantisation);
  if (found != kOrder.end()) {
    place = static_cast<std::size_t>(found - kOrder.begin());
    if (place >= kFewBits) ++place;
  } else if (!quantisation.empty()) {
    place = kFewBits;
  }
  return static_cast<int>(2 * place) + (unsloth ? 1 : 0);
}

}  // namespace hearth
