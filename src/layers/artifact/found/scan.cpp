// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/found/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "layers/artifact/found/layouts.h"
#include "layers/artifact/found/look.h"

namespace hearth {
namespace {

// What to do about a store whose files are another user's.
std::string remedy_of(const StoreRoot& root) {
  if (root.store == Store::kOllama) {
    return "add the user of this server to the group of Ollama's files (`sudo usermod -a -G ollama "
           "USER`, then log in anew), or leave ollama out of `stores`";
  }
  if (root.store == Store::kFolder) return "give the user of this server the right to read it";
  return fmt::format(
      "give the user of this server the right to read it, or leave {} out of `stores`",
      name_of(root.store));
}

StoreScan::Root enter(const Files& files, const StoreRoot& root, StoreScan& scan) {
  const Result<FileInfo> info = files.info(root.path);
  if (!info && info.error().code() == ErrorCode::kNotFound) {
    scan.watched.push_back(Watched{root.path, std::nullopt});
    if (root.store == Store::kFolder) {
      scan.problems.push_back(
          fmt::format("the watched folder {} is not there; its models come "
                      "back with it",
                      found::shown(root.path)));
    }
    return StoreScan::Root::kMissing;
  }
  const Result<std::string> real = files.real_path(root.path);
  const auto names = files.list(root.path);
  if (info && real && names) {
    scan.real_path = *real;
    return StoreScan::Root::kThere;
  }
  scan.watched.push_back(Watched{root.path, std::nullopt});
  if (info) scan.watched.back().seen = *info;
  const Error& error = !info ? info.error() : !real ? real.error() : names.error();
  scan.problems.push_back(fmt::format("{} cannot be read ({}): {}", found::shown(root.path),
                                      found::shown(error.message()), remedy_of(root)));
  return StoreScan::Root::kUnreadable;
}

}  // namespace

StoreScan scan_store(const Files& files, const StoreRoot& root, const ScanOptions& options) {
  StoreScan scan;
  scan.root = enter(files, root, scan);
  if (scan.root != StoreScan::Root::kThere) return scan;
  found::Look look{files, options, scan};
  switch (root.store) {
    case Store::kHuggingFace:
      found::look_into_hugging_face(look, root.path);
      break;
    case Store::kOllama:
      found::look_into_ollama(look, root.path);
      break;
    case Store::kLmStudio:
      found::look_into_lm_studio(look, root.path);
      break;
    case Store::kFolder:
      found::look_into_folder(look, root.path);
      break;
    case Store::kUser:
    case Store::kHearth:
      break;
  }
  return scan;
}

bool has_changed(const Files& files, const std::vector<Watched>& watched) {
  return std::ranges::any_of(watched, [&files](const Watched& was) {
    const Result<FileInfo> now = files.info(was.path);
    return now.has_value() != was.seen.has_value() || (now && *now != *was.seen);
  });
}

}  // namespace hearth
