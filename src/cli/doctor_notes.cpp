// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_notes.h"

#include <span>

#include "layers/pages/small_file.h"

namespace hearth::cli {

Result<std::vector<lab::Applied>> DoctorNotes::all() const {
  const std::string text = small_text(files_, path_);
  if (text.empty()) return std::vector<lab::Applied>{};
  Result<std::vector<lab::Applied>> applied = lab::decode_applied(text);
  if (!applied) return Failed{std::move(applied).error().during(path_)};
  return applied;
}

Result<std::vector<lab::Applied>> DoctorNotes::of(const std::string& server) const {
  Result<std::vector<lab::Applied>> applied = all();
  if (applied) std::erase_if(*applied, [&server](const auto& one) { return one.server != server; });
  return applied;
}

Result<> DoctorNotes::add(lab::Applied applied) const {
  Result<std::vector<lab::Applied>> list = all();
  if (!list) return Failed{list.error()};
  std::erase_if(*list, [&applied](const lab::Applied& one) {
    return one.server == applied.server && one.code == applied.code && one.model == applied.model;
  });
  list->push_back(std::move(applied));
  const std::string text = lab::encode(*list);
  const Result<> made = files_.make_directories(path_.substr(0, path_.rfind('/')), 0700);
  if (!made) return made;
  const std::string draft = path_ + ".new";
  Result<Fd> file = files_.open_write(draft, Files::Create::kIfMissing);
  if (!file) return Failed{file.error()};
  Result<> written = files_.resize(*file, Bytes{});
  if (written) written = files_.write_at(*file, 0, std::as_bytes(std::span{text}));
  if (written) written = files_.sync(*file);
  return written ? files_.rename(draft, path_) : written;
}

std::string DoctorNotes::usual_path(const Environment& environment) {
  const std::string state = environment("XDG_STATE_HOME");
  if (!state.empty()) return state + "/hearth/doctor.json";
  const std::string home = environment("HOME");
  if (!home.empty()) return home + "/.local/state/hearth/doctor.json";
  return "/var/lib/hearth/doctor.json";
}

}  // namespace hearth::cli
