// SPDX-License-Identifier: Apache-2.0
//
// What a pull says of itself: how far it is, and in which stage.
#include <algorithm>
#include <utility>

#include "front/pulls/pull.h"
#include "front/signed_count.h"

namespace hearth::front {

std::vector<Stage> Pull::stages() const {
  std::vector<Stage> stages = stages_;
  if (running_ && !stages.empty()) stages.back().end = world_.loop.now();
  return stages;
}

Bytes Pull::done() const {
  Bytes done;
  for (const Part& part : parts_)
    done += part.is_here() ? part.size : std::min(part.kept, part.size);
  return done;
}

Bytes Pull::total() const {
  Bytes total;
  for (const Part& part : parts_) total += part.size;
  return total;
}

std::vector<std::string> Pull::keys() const {
  std::vector<std::string> keys;
  for (const Part& part : parts_) keys.push_back(part.key);
  return keys;
}

std::vector<Pull::Unwritten> Pull::unwritten() const {
  std::vector<Unwritten> files;
  for (const Part& part : parts_) {
    if (!part.is_here()) files.push_back({part.key, part.size, part.kept});
  }
  return files;
}

bool Pull::holds(const std::string& key) const {
  const auto of_part = [](const Part& part) { return part.key; };
  return holding_ && std::ranges::find(parts_, key, of_part) != parts_.end();
}

void Pull::enter(StageKind kind, std::string stage) {
  const TimePoint now = world_.loop.now();
  if (!stages_.empty()) stages_.back().end = now;
  if (stages_.empty() || stages_.back().kind != kind) {
    stages_.push_back(Stage{kind, now, now, Bytes{}});
  }
  progress_.stage = std::move(stage);
}

// What came belongs to the last stage in which something came.
void Pull::count_received() {
  Bytes earlier;
  Stage* last = nullptr;
  for (Stage& stage : stages_) {
    if (stage.kind != StageKind::kArtifactDownload) continue;
    if (last != nullptr) earlier += last->bytes;
    last = &stage;
  }
  if (last != nullptr) last->bytes = received() - earlier;
}

std::string Pull::plan_note() const {
  if (!plan_) return {};
  std::string text = plan_->choice;
  for (const std::string& note : plan_->notes) text += (text.empty() ? "" : "; ") + note;
  return text;
}

void Pull::tell() {
  progress_.all_done = signed_count(done());
  progress_.all_total = signed_count(total());
  progress_.bytes_per_s = rate_.bytes_per_s();
  progress_.eta_ms = total() > Bytes{} ? rate_.eta_ms(missing()) : std::nullopt;
  owner_.progressed(*this);
}

}  // namespace hearth::front
