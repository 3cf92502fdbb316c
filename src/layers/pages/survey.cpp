// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/survey.h"

#include <algorithm>
#include <utility>

#include "layers/pages/memory_room.h"

namespace hearth {

Bytes Survey::total() const {
  Bytes sum;
  for (const Share& share : shares) sum += share.residency.total;
  return sum;
}

Bytes Survey::missing() const {
  Bytes sum;
  for (const Share& share : shares) sum += share.residency.missing();
  return sum;
}

const Survey::Share* Survey::main_share() const {
  const auto weight = [](const Share& share) {
    return std::pair{share.residency.missing(), share.residency.total};
  };
  const auto found = std::ranges::max_element(shares, {}, weight);
  return found == shares.end() ? nullptr : &*found;
}

Result<Survey> survey_of(const Files& files, const LoadSet& load_set) {
  Survey survey;
  for (const FileRanges& part : load_set) {
    Result<Fd> file = files.open_read(part.path);
    if (!file) return Failed{std::move(file).error()};
    Device device = device_of(files, part.path);
    auto share = std::ranges::find_if(
        survey.shares, [&](const auto& other) { return other.device.key == device.key; });
    if (share == survey.shares.end()) {
      survey.shares.push_back(Survey::Share{std::move(device), {}});
      share = std::prev(survey.shares.end());
    }
    for (const Range& range : part.ranges) share->residency.add(residency_of(*file, range));
  }
  survey.room = memory_room(files);
  return survey;
}

}  // namespace hearth
