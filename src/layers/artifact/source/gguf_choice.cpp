// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/gguf_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/size_text.h"
#include "layers/artifact/shard_name.h"
#include "layers/artifact/source/quantisation.h"
#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

constexpr std::size_t kMostListed = 40;
constexpr std::string_view kSuffix = ".gguf";

std::string file_of(std::string_view path) {
  return std::string{path.substr(path.find_last_of('/') + 1)};
}

// Whether `word` stands in `name` between characters that are no letters.
bool has_word(std::string_view name, std::string_view word) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !letter(name[at - 1]);
    if (begins && (end == name.size() || !letter(name[end]))) return true;
  }
  return false;
}

enum class Role { kModel, kProjector, kAdapter, kOther };

Role role_of(std::string_view path) {
  const std::string name = lower_case(file_of(path));
  if (name.find("mmproj") != std::string::npos) return Role::kProjector;
  if (has_word(name, "lora") || has_word(name, "adapter")) return Role::kAdapter;
  const bool imatrix = name.find("imatrix") != std::string::npos;
  if (imatrix && quantisation_in(name).empty()) return Role::kOther;
  // What a model drafts with, of no use alone.
  if (name.starts_with("mtp-") || name.starts_with("eagle")) return Role::kOther;
  return Role::kModel;
}

struct Piece {
  int number = 1;
  RepositoryFile file;
};
GgufSet set_of(const std::pair<std::string, int>& key, std::vector<Piece> pieces) {
  std::ranges::sort(pieces, {}, &Piece::number);
  GgufSet set;
  set.stem = key.first;
  set.count = key.second;
  set.quantisation = quantisation_in(set.stem);
  for (Piece& piece : pieces) set.files.push_back(std::move(piece.file));
  return set;
}

using Sets = std::vector<const GgufSet*>;

Sets matching(const std::vector<GgufSet>& sets, const std::function<bool(const GgufSet&)>& fits) {
  Sets found;
  for (const GgufSet& set : sets) {
    if (fits(set)) found.push_back(&set);
  }
  return found;
}

bool is_file(const GgufSet& set, const std::string& wanted) {
  const auto names = [&](const std::string& path) {
    return lower_case(path) == wanted || lower_case(file_of(path)) == wanted ||
           lower_case(file_of(path)) == wanted + std::string{kSuffix};
  };
  return names(set.stem) || std::ranges::any_of(set.files, names, &RepositoryFile::path);
}

bool ends_with_word(const GgufSet& set, const std::string& wanted) {
  const std::string stem = lower_case(set.stem);
  if (!stem.ends_with(wanted) || stem.size() == wanted.size()) return false;
  return std::string_view{"-._/"}.find(stem[stem.size() - wanted.size() - 1]) !=
         std::string_view::npos;
}

// From the narrowest reading of `wanted` to the widest; the first that fits something counts.
Sets find_wanted(const std::vector<GgufSet>& sets, const std::string& wanted) {
  using Fits = std::function<bool(const GgufSet&)>;
  const Fits readings[] = {
      [&](const GgufSet& set) { return is_file(set, wanted); },
      [&](const GgufSet& set) { return lower_case(set.quantisation) == wanted; },
      [&](const GgufSet& set) { return lower_case(set.quantisation) == "ud-" + wanted; },
      [&](const GgufSet& set) { return ends_with_word(set, wanted); },
  };
  for (const Fits& fits : readings) {
    if (Sets found = matching(sets, fits); !found.empty()) return found;
  }
  return {};
}

// All of the best quantisation.
Sets find_best(const std::vector<GgufSet>& sets) {
  Sets whole = matching(sets, [](const GgufSet& set) { return set.whole(); });
  if (whole.empty()) return matching(sets, [](const GgufSet&) { return true; });
  const auto rank = [](const GgufSet* set) { return quantisation_rank(set->quantisation); };
  const GgufSet* best = *std::ranges::min_element(whole, {}, rank);
  std::erase_if(whole,
                [best](const GgufSet* set) { return set->quantisation != best->quantisation; });
  return whole;
}

// The same model in one file and in several is one choice: one file is simpler.
Sets without_doubles(const Sets& found) {
  Sets kept;
  for (const GgufSet* set : found) {
    const bool doubled = std::ranges::any_of(found, [set](const GgufSet* other) {
      return other->whole() && other->count < set->count &&
             file_of(other->stem) == file_of(set->stem);
    });
    if (!doubled) kept.push_back(set);
  }
  return kept;
}

std::string names_of(const Sets& sets) {
  std::string text;
  for (const GgufSet* set : sets) {
    if (!text.empty()) text += ", ";
    text += set->files.front().path;
  }
  return text;
}

}  // namespace

Bytes GgufSet::size() const {
  Bytes total;
  for (const RepositoryFile& file : files) total += file.size;
  return total;
}

GgufFiles sort_gguf_files(std::vector<RepositoryFile> files) {
  GgufFiles sorted;
  std::map<std::pair<std::string, int>, std::vector<Piece>> piles;
  for (RepositoryFile& file : files) {
    const Role role = role_of(file.path);
    if (role == Role::kProjector) ++sorted.projectors;
    if (role == Role::kAdapter) ++sorted.adapters;
    if (role == Role::kOther) ++sorted.other;
    if (role != Role::kModel) continue;
    const std::optional<ShardName> shard = parse_shard_name(file.path);
    std::string stem = shard ? shard->stem : file.path.substr(0, file.path.size() - kSuffix.size());
    piles[{std::move(stem), shard ? shard->count : 1}].push_back(
        Piece{shard ? shard->number : 1, std::move(file)});
  }
  for (auto& [key, pieces] : piles) sorted.sets.push_back(set_of(key, std::move(pieces)));
  std::ranges::stable_sort(sorted.sets, {}, &GgufSet::size);
  return sorted;
}

Result<GgufSet> choose_gguf(const std::vector<GgufSet>& sets, std::string_view wanted) {
  const Sets found =
      without_doubles(wanted.empty() ? find_best(sets) : find_wanted(sets, lower_case(wanted)));
  if (found.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("it has no \"{}\"; it has {}", wanted, list_of(sets)));
  }
  if (found.size() > 1) {
    return fail(ErrorCode::kInvalid, fmt::format("{} files fit; name one after a colon: {}",
                                                 found.size(), names_of(found)));
  }
  const GgufSet& chosen = *found.front();
  if (!chosen.whole()) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("it has only {} of the {} files that {} was cut into; others of it are "
                    "{}",
                    chosen.files.size(), chosen.count, file_of(chosen.stem), list_of(sets)));
  }
  return chosen;
}

std::string label_of(const GgufSet& set, const std::vector<GgufSet>& among) {
  const auto same = std::ranges::count(among, set.quantisation, &GgufSet::quantisation);
  if (set.quantisation.empty() || same > 1) return set.files.front().path;
  return set.quantisation;
}

std::string list_of(const std::vector<GgufSet>& sets) {
  std::string text;
  for (std::size_t i = 0; i < std::min(sets.size(), kMostListed); ++i) {
    if (i > 0) text += ", ";
    text += fmt::format("{} ({})", label_of(sets[i], sets), size_text(sets[i].size()));
  }
  if (sets.size() > kMostListed) text += fmt::format(" and {} more", sets.size() - kMostListed);
  return text;
}

}  // namespace hearth
