// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "front/prewarm/testing/sim_clocks.h"
#include "front/warmth/warm_keeper.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front::testing {

// One model on a machine: it answers as fast as where it stands allows.
class WarmHouse {
 public:
  WarmHouse() { start(); }
  ~WarmHouse() { stop(); }

  void start() {
    WarmKeeper::World world{loop,    clocks.moments(), Files::real(), path(),
                            nullptr, nullptr,          nullptr};
    world.view = [this](const std::string&) { return view(); };
    world.apply = [this](std::string, RungDecision decision) {
      return apply(this, std::move(decision));
    };
    world.probe = [this](std::string) { return probe(this); };
    keeper = std::make_unique<WarmKeeper>(std::move(world));
    keeper->load();
    keeper->set(terms);
    keeper->start();
    loop.run_for(std::chrono::seconds{1});
  }
  void stop() {
    if (!keeper) return;
    loop.spawn(keeper->stop());
    loop.run_for(std::chrono::seconds{5});
    save();
    keeper.reset();
  }
  void save() {
    loop.spawn(keeper->save(pool));
    loop.run_ready();
  }
  // Of the server. Its weights are gone with it.
  void restart() {
    stop();
    stands = Rung::kPages;
    start();
  }

  std::optional<WarmView> view() const {
    if (gone) return std::nullopt;
    WarmView view;
    view.offers = {offer(Rung::kPages, pages, {}),
                   offer(Rung::kResident, resident, Bytes{std::uint64_t{4} << 30}),
                   offer(Rung::kResidentPinned, resident, Bytes{std::uint64_t{6} << 30})};
    view.stands = stands;
    view.as_it_is = offer(stands, time(), {}).forecast;
    view.harmed = harmed;
    view.room = room;
    view.psi_avg300 = psi;
    view.busy = busy;
    view.may_probe = may_probe;
    return view;
  }
  static RungOffer offer(Rung rung, Duration time, Bytes holds) {
    return {rung, {time, time * 9 / 10, time * 11 / 10, true}, holds};
  }
  Duration time() const {
    return slow + (keeps_weights(stands)   ? resident
                   : stands == Rung::kNone ? std::chrono::seconds{9}
                                           : pages);
  }

  static Task<Result<>> apply(WarmHouse* house, RungDecision decision) {
    house->applied.push_back(decision.rung);
    co_await house->loop.sleep(std::chrono::seconds{1});
    if (house->cannot_move) co_return fail(ErrorCode::kNoSpace, "no room");
    house->stands = decision.rung == Rung::kNone ? Rung::kPages : decision.rung;
    co_return Result<>{};
  }
  static Task<Result<Duration>> probe(WarmHouse* house) {
    EXPECT_EQ(house->harmed, "");
    EXPECT_FALSE(house->busy);
    ++house->probes;
    const Duration time = house->time();
    co_await house->loop.sleep(time);
    if (house->probe_error) co_return fail(*house->probe_error, "no answer");
    co_return time;
  }

  void ask() {
    busy = true;
    FirstToken token;
    token.time = time();
    loop.run_for(token.time);
    keeper->answered("m", token);
    loop.run_for(std::chrono::seconds{3});
    busy = false;
    keeper->left("m");
  }
  WarmVerdict verdict() const { return keeper->verdict("m").value_or(WarmVerdict{}); }
  boost::json::object json() const { return parse_json(keeper->json("m"))->as_object(); }
  std::string path() const { return directory.path() + "/warmth.json"; }

  SimEventLoop loop;
  SimClocks clocks{loop};
  Pool pool = Pool::inline_for_tests();
  hearth::testing::TempDir directory;
  WarmKeeper::Terms terms{{"m", {std::chrono::milliseconds{800}, std::chrono::hours{8}}}};
  std::unique_ptr<WarmKeeper> keeper;

  Rung stands = Rung::kNone;
  Duration pages = std::chrono::seconds{3}, resident = std::chrono::milliseconds{200}, slow{};
  std::string harmed;
  Bytes room = Bytes{std::uint64_t{8} << 30};
  double psi = 0;
  bool busy = false, may_probe = true, gone = false, cannot_move = false;
  std::optional<ErrorCode> probe_error;
  std::vector<Rung> applied;
  int probes = 0;
};

}  // namespace hearth::front::testing
