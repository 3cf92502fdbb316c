// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/wait_split.h"

namespace hearth::cli {

struct TopMoment {
  TimePoint now;
  std::int64_t wall_us = 0;
  std::int64_t midnight_us = 0;  // wall time at which today began here
};

// What `hearth top` knows of a server. Answers fill it, live events keep it up to date; `stale`
// says what must be asked for again. A plain value, of one thread at a time.
struct TopState {
  struct Stage {
    std::string name;
    double start_ms = 0;
    std::optional<double> ms{};  // none while it goes on
  };
  struct UnderWay {
    std::string id, model, path;
    TimePoint since;
    std::optional<double> ttft_ms{};
    std::vector<Stage> stages{};
  };
  struct Wait {
    std::int64_t started_us = 0;
    WaitSplit split{};
  };
  struct Stale {
    bool everything = false;
    bool models = false;  // the list of them
    bool memory = false;
    std::set<std::string> model{};  // these alone
    bool any() const { return everything || models || memory || !model.empty(); }
  };
  enum class Link { kLive, kLost };

  std::string address;
  Link link = Link::kLive;
  boost::json::object version, memory, levels;
  TimePoint version_read{};  // its uptime was right then
  boost::json::array models;
  std::vector<UnderWay> under_way;          // oldest first
  std::vector<boost::json::object> recent;  // newest first, kRecent at most
  std::vector<Wait> waits;                  // of today, in no order
  Stale stale;

  static constexpr std::size_t kRecent = 20;

  // One live event. Of a type that is not known, or without the form that it should have: nothing.
  void take(std::string_view type, std::string_view data, const TopMoment& moment);

  // GET /api/hearth/running
  void set_running(const boost::json::object& answer, const TopMoment& moment);
  // Entries of the history, newest first: what is recent, and today's waits. True when all of them
  // are of today, so that more of them may be.
  bool add_history(const boost::json::object& answer, const TopMoment& moment);
  void forget_history();
  // One model as the server tells of it, in its place in the list.
  void put_model(boost::json::object model);

 private:
  void on_under_way(const boost::json::object& event, const TopMoment& moment);
  void on_ended(const boost::json::object& entry, const TopMoment& moment);
  void on_levels(const boost::json::object& event, const TopMoment& moment);
  boost::json::object* model_named(std::string_view name);
};

}  // namespace hearth::cli
