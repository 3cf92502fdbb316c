// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "front/prefix_plans.h"

namespace hearth::front::testing {

// Plans that a test holds back and fills in; it notes what it is told, in order.
class FakePlans : public PrefixPlans {
 public:
  explicit FakePlans(EventLoop& loop) : released_{loop} {}

  std::optional<Fd> arena(const std::string& artifact) override {
    heard += "arena " + artifact + ";";
    return Fd{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  }
  void worker_lost(const std::string& artifact) override { heard += "lost " + artifact + ";"; }
  void note_blocks(std::uint64_t request, const wire::BlocksMessage& blocks) override {
    heard += "blocks " + std::to_string(request) + " " + std::to_string(blocks.sizes.size()) + ";";
  }

  std::string group_of(const std::string& key) const override { return "group of " + key; }
  int normalise(wire::GenerateMessage& message) const override {
    const std::size_t date = message.prompt.find("Monday");
    if (date == std::string::npos) return 0;
    message.prompt.erase(date, 6);
    return 1;
  }
  std::string domain(const PrefixRoom::Use& use) const override { return "root of " + use.group; }
  Task<std::vector<wire::Frame>> plan(PrefixRoom::Ask ask) override {
    const std::uint64_t request = ask.request;
    heard += "plan " + std::to_string(request) + ";";
    asks.push_back(std::move(ask));
    while (holds) co_await released_.wait();
    std::vector<wire::Frame> frames;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      frames.push_back(
          wire::make_frame(wire::FrameType::kPrefixPlan, request, wire::encode(messages[i])));
    }
    co_return frames;
  }
  PrefixRoom::Found found(std::uint64_t) const override { return finding; }
  void note_started(std::uint64_t request, const wire::StartedMessage&) override {
    heard += "started " + std::to_string(request) + ";";
  }
  void close(std::uint64_t request) override { heard += "close " + std::to_string(request) + ";"; }

  void release() {
    holds = false;
    released_.notify_all();
  }

  std::string heard;
  std::vector<PrefixRoom::Ask> asks;
  std::vector<wire::PrefixPlanMessage> messages{{}};
  PrefixRoom::Found finding;
  bool holds = false;

 private:
  Notify released_;
};

}  // namespace hearth::front::testing
