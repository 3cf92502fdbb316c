// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/found/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"

namespace hearth::found {
namespace {

constexpr std::size_t kMostLevels = 16;
constexpr std::int64_t kSettled_ns = 2'000'000'000;

// A downloader keeps such a file beside the one that it fills in place.
constexpr std::array<std::string_view, 5> kUnderWay{".aria2", ".part", ".incomplete", ".download",
                                                    ".crdownload"};

bool is_under_way(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::any_of(kUnderWay, [&](std::string_view end) {
    return std::ranges::binary_search(names, name + std::string{end});
  });
}

}  // namespace

// One call of files_below().
struct Look::Walk {
  Want want;
  std::vector<SeenFile> files;
  std::vector<Identity> above;  // the directories that this one is in
};

std::string shown(std::string_view path) {
  std::string text = repair_utf8(path);
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 32; }, '?');
  return text;
}

bool ends_with_no_case(std::string_view text, std::string_view lower_case_end) {
  return text.size() >= lower_case_end.size() &&
         lower_case(text.substr(text.size() - lower_case_end.size())) == lower_case_end;
}

void Look::add(FoundModel model) {
  const std::string fallback = model.fallback;
  for (int n = 2; !called_.insert(model.name + "\n" + model.fallback).second; ++n) {
    model.fallback = fmt::format("{}-{}", fallback.empty() ? model.name : fallback, n);
  }
  scan_.models.push_back(std::move(model));
}

bool Look::is_recent(std::int64_t modified_ns) const {
  // A clock that is ahead dates files in the future; these are not waited for.
  return std::abs(options_.now_ns - modified_ns) < kSettled_ns;
}

bool Look::is_unfinished(const FileInfo& file, const std::string& real) {
  if (!is_recent(file.modified_ns)) return false;
  scan_.again_soon = true;
  return !options_.known.contains(real);
}

void Look::watch(const std::string& path) {
  const Result<FileInfo> info = files_.info(path);
  Watched watched{path, std::nullopt};
  if (info) watched.seen = *info;
  if (info && is_recent(info->modified_ns)) scan_.again_soon = true;
  scan_.watched.push_back(std::move(watched));
}

std::vector<std::string> Look::list(const std::string& directory) {
  watch(directory);
  Result<std::vector<std::string>> names = files_.list(directory);
  if (names) return std::move(*names);
  if (names.error().code() != ErrorCode::kNotFound) {
    problem(
        fmt::format("the folder {} cannot be read ({}); give the user of this server the right "
                    "to read it, or take it out of what is looked into",
                    shown(directory), shown(names.error().message())));
  }
  return {};
}

std::vector<SeenFile> Look::files_below(const std::string& directory, Want want) {
  Walk began{want, {}, {}};
  enter(began, directory, "");
  std::ranges::sort(began.files, {}, &SeenFile::path);
  return std::move(began.files);
}

// What a name stands for, links followed.
void Look::enter(Walk& at, const std::string& path, const std::string& relative) {
  const Result<FileInfo> info = files_.info(path);
  if (!info) {
    const Result<FileInfo> link = files_.link_info(path);
    const bool dangling = link && link->kind == FileKind::kLink;
    if (dangling && (at.want == Want::kAll || ends_with_no_case(path, ".gguf"))) {
      problem(
          fmt::format("the link {} leads nowhere ({}); bring back what it pointed at, or "
                      "delete the link",
                      shown(path), shown(info.error().message())));
    }
    return;  // otherwise it has gone since it was listed
  }
  if (info->kind == FileKind::kRegular) return take(at, SeenFile{path, relative, *info});
  if (info->kind != FileKind::kDirectory) {
    if (ends_with_no_case(path, ".gguf")) problem(shown(path) + " is no file that could be read");
    return;
  }
  const Identity self{info->device, info->inode};
  if (std::ranges::find(at.above, self) != at.above.end()) {
    return problem(
        fmt::format("the link {} leads back to a folder that it lies in; it is not "
                    "followed",
                    shown(path)));
  }
  if (!visited_.insert(self).second) return;
  if (at.above.size() > kMostLevels) {
    return problem(
        fmt::format("{} is more than {} folders deep and is not looked into; add it to "
                    "`folders` if it holds models",
                    shown(path), kMostLevels));
  }
  at.above.push_back(self);
  walk(at, path, relative);
  at.above.pop_back();
}

void Look::take(Walk& at, SeenFile seen) {
  if (at.want == Want::kModels && !ends_with_no_case(seen.relative, ".gguf")) return;
  if (!is_utf8(seen.path)) {
    return problem(fmt::format("the name of {} is not UTF-8; rename it", shown(seen.path)));
  }
  at.files.push_back(std::move(seen));
}

void Look::walk(Walk& at, const std::string& directory, const std::string& relative) {
  const std::vector<std::string> names = list(directory);
  for (const std::string& name : names) {
    if (name.starts_with('.') || name == "lost+found") continue;
    if (++entries_ > options_.most_entries) {
      if (entries_ == options_.most_entries + 1) {
        problem(
            fmt::format("{} holds more than {} entries; the rest is not looked at: name the "
                        "folders that hold models in `folders`",
                        shown(directory), options_.most_entries));
      }
      return;
    }
    if (at.want == Want::kModels && is_under_way(names, name)) {
      scan_.again_soon = true;
      continue;
    }
    enter(at, directory + "/" + name, relative.empty() ? name : relative + "/" + name);
  }
}

Result<std::string> Look::read_text(const std::string& path, std::size_t most) {
  const Result<FileInfo> info = files_.info(path);
  if (!info) return Failed{info.error()};
  if (info->kind != FileKind::kRegular) return fail(ErrorCode::kInvalid, "it is no file");
  if (info->size > Bytes{most}) {
    return fail(ErrorCode::kInvalid, fmt::format("it is larger than {} bytes", most));
  }
  const Result<Fd> file = files_.open_read(path);
  if (!file) return Failed{file.error()};
  std::string text(static_cast<std::size_t>(info->size.count()), '\0');
  const Result<std::size_t> read =
      files_.read_at(*file, 0, std::as_writable_bytes(std::span{text}));
  if (!read) return Failed{read.error()};
  text.resize(*read);
  return text;
}

std::optional<std::string> Look::real_path(const std::string& path) {
  Result<std::string> real = files_.real_path(path);
  if (!real) {
    problem(fmt::format("{} cannot be used: {}", shown(path), shown(real.error().message())));
    return std::nullopt;
  }
  if (!is_utf8(*real)) {
    problem(fmt::format("{} leads to a name that is not UTF-8; rename that", shown(path)));
    return std::nullopt;
  }
  return std::move(*real);
}

}  // namespace hearth::found
