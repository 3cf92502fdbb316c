// SPDX-License-Identifier: Apache-2.0
#include "front/protected/protected_services.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "base/sim_event_loop.h"
#include "front/protected/fake_proc.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;

// A web service that a test slows down, breaks or takes away.
struct FakeService {
  Duration latency = 10ms;
  bool listens = true;
  bool answers = true;
  int asked = 0;
};

class FakeProbe : public Probe {
 public:
  FakeProbe(SimEventLoop& loop, FakeService& service) : loop_{loop}, service_{service} {}

  Task<Result<Answer>> ask() override {
    ++service_.asked;
    const bool late = !service_.answers;
    const Duration took = late ? Duration{2s} : service_.latency;
    if (service_.listens) co_await loop_.sleep(took);
    Result<Answer> result{Answer{took, !late}};
    if (!service_.listens) result = fail(ErrorCode::kUnavailable, "connect: Connection refused");
    if (cancelled_) result = fail(ErrorCode::kCancelled, "stopped");
    co_return result;
  }
  void cancel() override { cancelled_ = true; }

 private:
  SimEventLoop& loop_;
  FakeService& service_;
  bool cancelled_ = false;
};

ProtectedOptions by_url() {
  ProtectedOptions out;
  out.url = "http://nas/";
  return out;
}
ProtectedOptions by_cgroup() {
  ProtectedOptions out;
  out.cgroup = "recorder";
  return out;
}
ProtectedOptions by_process() {
  ProtectedOptions out;
  out.process = "recorder";
  return out;
}

class Protected : public testing::Test {
 protected:
  ~Protected() override {
    loop_.spawn(stop());
    loop_.run_for(10s);
    EXPECT_TRUE(stopped_);
  }
  Task<void> stop() {
    co_await services_.stop();
    stopped_ = true;
  }
  void watch(const ProtectedOptions& options) {
    services_.set({{"nas", options}});
    services_.start();
  }
  void idle_for(Duration time) {
    busy_ = false;
    loop_.run_for(time);
  }
  void busy_for(Duration time) {
    busy_ = true;
    loop_.run_for(time);
  }
  // In steps, so that a test can have things happen meanwhile.
  template <class Each>
  void in_steps(Duration time, Each each) {
    for (Duration done{}; done < time; done += 500ms) {
      each();
      loop_.run_for(500ms);
    }
  }
  // How long it took.
  template <class Done>
  Duration busy_until(Done done) {
    Duration time{};
    for (; !done() && time < 1h; time += 100ms) busy_for(100ms);
    return time;
  }
  boost::json::object shown() const {
    auto list = parse_json(services_.json());
    EXPECT_TRUE(list) << services_.json();
    return list->as_array().at(0).as_object();
  }
  std::string state() const { return std::string{shown()["state"].as_string()}; }

  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  test::FakeProc proc_;
  FakeService service_;
  bool busy_ = false;
  bool stopped_ = false;
  int changes_ = 0;
  ProtectedServices services_{
      {.loop = loop_,
       .pool = pool_,
       .roots = proc_.roots(),
       .make_probe = [this](const std::string& url) -> Result<std::unique_ptr<Probe>> {
         if (url == "http://") return fail(ErrorCode::kInvalid, "no host");
         return std::make_unique<FakeProbe>(loop_, service_);
       },
       .clock = loop_.clock(),
       .threads = 8,
       .busy = [this] { return busy_; },
       .on_change = [this] { ++changes_; }}};
};

TEST_F(Protected, NobodyIsGivenNothing) {
  services_.start();
  busy_for(1min);
  EXPECT_EQ(services_.given(), GiveWay{});
  EXPECT_EQ(services_.json(), "[]");
  EXPECT_EQ(services_.reason(), "");
  EXPECT_EQ(changes_, 0);
}

TEST_F(Protected, AnAddressThatBecomesSlowIsGivenWayStepByStep) {
  watch(by_url());
  idle_for(30s);
  EXPECT_EQ(state(), "unknown");
  idle_for(30s);
  EXPECT_EQ(state(), "well");
  EXPECT_EQ(shown()["baseline_ms"].as_int64(), 10);
  busy_for(30s);
  EXPECT_EQ(services_.given(), GiveWay{});
  service_.latency = 15ms;
  EXPECT_LE(busy_until([this] { return services_.give_way().threads == 4; }), 5s);
  EXPECT_EQ(state(), "harmed");
  EXPECT_EQ(services_.give_way().percent, 100);
  EXPECT_FALSE(services_.may_prewarm());
  EXPECT_NE(services_.reason().find("nas: 99 % of its answers took up to 15.0 ms"),
            std::string::npos)
      << services_.reason();
  EXPECT_LE(busy_until([this] { return services_.give_way().percent == 50; }), 4s);
  service_.latency = 10ms;
  EXPECT_LE(busy_until([this] { return state() == "well"; }), 5s);
  EXPECT_EQ(services_.give_way().percent, 50) << "not yet";
  EXPECT_GE(busy_until([this] { return services_.give_way().percent == 100; }), 8s);
  EXPECT_EQ(services_.give_way().threads, 4);
  EXPECT_GE(busy_until([this] { return services_.given() == GiveWay{}; }), 8s);
  EXPECT_EQ(services_.reason(), "");
  EXPECT_GE(changes_, 6);
  EXPECT_LE(changes_, 9);
}

TEST_F(Protected, AnAddressIsAskedSeldomUnlessThereIsAHurry) {
  watch(by_url());
  idle_for(100s);
  EXPECT_NEAR(service_.asked, 50, 2);
  service_.asked = 0;
  service_.latency = 20ms;
  busy_for(20s);
  EXPECT_GT(service_.asked, 30);
}

TEST_F(Protected, AnAddressThatGoesIsGivenNothingAndFoundAgain) {
  watch(by_url());
  idle_for(1min);
  service_.latency = 50ms;
  busy_for(10s);
  EXPECT_NE(services_.given(), GiveWay{});
  service_.listens = false;
  busy_for(10s);
  EXPECT_EQ(state(), "gone");
  EXPECT_EQ(services_.given(), GiveWay{});
  EXPECT_NE(shown()["reason"].as_string().find("refused"), std::string::npos);
  service_.listens = true;
  busy_for(20s);
  EXPECT_EQ(state(), "harmed");
  EXPECT_NE(services_.given(), GiveWay{});
}

TEST_F(Protected, AnAddressThatIsSilentWhileHearthWorksIsSlowAtFirst) {
  watch(by_url());
  idle_for(1min);
  busy_for(5s);
  service_.answers = false;
  busy_for(9s);
  EXPECT_NE(services_.given(), GiveWay{});
  busy_for(10s);
  EXPECT_EQ(state(), "gone");
  EXPECT_EQ(services_.given(), GiveWay{});
}

TEST_F(Protected, WhatCannotBeAskedIsUnwatched) {
  ProtectedOptions wrong = by_url();
  wrong.url = "http://";
  watch(wrong);
  busy_for(10s);
  EXPECT_EQ(state(), "gone");
  EXPECT_EQ(shown()["reason"].as_string(), "no host");
}

TEST_F(Protected, OneServiceIsNotTakenFromBecauseMoreIsGivenToAnother) {
  std::chrono::microseconds waited{};
  const auto wait = [&] { proc_.waits("recorder", "cpu", waited += 300ms); };
  wait();
  services_.set({{"nas", by_url()}, {"recorder", by_cgroup()}});
  services_.start();
  idle_for(1min);
  service_.latency = 50ms;
  EXPECT_LE(busy_until([this] { return services_.give_way().threads == 4; }), 5s);
  service_.latency = 10ms;
  busy_ = true;
  in_steps(8s, wait);
  EXPECT_EQ(services_.give_way().percent, 25);
  in_steps(20s, wait);
  EXPECT_EQ(shown()["name"].as_string(), "nas");
  EXPECT_EQ(shown()["gave_way"].as_array().size(), 2u) << services_.json();
}

TEST_F(Protected, AControlGroupThatWaitsForMemoryGetsMemory) {
  ProtectedOptions options = by_cgroup();
  options.release_pins = true;
  std::chrono::microseconds waited{};
  proc_.waits("recorder", "memory", waited);
  watch(options);
  idle_for(10s);
  EXPECT_EQ(state(), "well");
  const auto wait = [&] { proc_.waits("recorder", "memory", waited += 150ms); };
  in_steps(4s, wait);
  EXPECT_TRUE(services_.wants_memory());
  EXPECT_FALSE(services_.may_release_pins());
  EXPECT_EQ(services_.give_way().threads, 0);
  EXPECT_NEAR(shown()["psi"].to_number<double>(), 30, 1);
  in_steps(5s, wait);
  EXPECT_TRUE(services_.may_release_pins());
  idle_for(5min);
  EXPECT_EQ(services_.given(), GiveWay{});
  proc_.remove("cgroup/recorder");
  idle_for(1s);
  EXPECT_EQ(state(), "gone");
}

TEST_F(Protected, EvaluationGoesBehindAsLongAsThereIsAService) {
  EXPECT_FALSE(services_.give_way().behind);
  proc_.waits("recorder", "memory", 0us);
  watch(by_cgroup());
  idle_for(10s);
  EXPECT_EQ(state(), "well");
  EXPECT_TRUE(services_.give_way().behind);
  EXPECT_FALSE(services_.give_way().gives_up());
  EXPECT_EQ(services_.given(), GiveWay{}) << "nothing is given up";
  proc_.remove("cgroup/recorder");
  idle_for(1s);
  EXPECT_EQ(state(), "gone");
  EXPECT_FALSE(services_.give_way().behind);
}

TEST_F(Protected, ProcessorsAreGivenOnlyWhileHearthHasThem) {
  std::chrono::microseconds waited{};
  const auto wait = [&] { proc_.waits("recorder", "cpu", waited += 300ms); };
  wait();
  watch(by_cgroup());
  in_steps(20s, wait);
  EXPECT_EQ(services_.given(), GiveWay{});
  busy_ = true;
  in_steps(20s, wait);
  EXPECT_EQ(services_.give_way().percent, 25);
  EXPECT_FALSE(services_.wants_memory());
}

TEST_F(Protected, AProcessThatWaitsForItsTurns) {
  proc_.process(100, "recorder");
  Duration waited{};
  std::uint64_t times = 0;
  const auto run = [&](Duration each) {
    return [&, each] { proc_.task(100, 100, waited += 5 * each, times += 5); };
  };
  run(0ms)();
  watch(by_process());
  in_steps(20s, run(1ms));
  EXPECT_EQ(state(), "well");
  EXPECT_EQ(shown()["baseline_ms"].as_int64(), 1);
  busy_ = true;
  in_steps(20s, run(1ms));
  EXPECT_EQ(services_.given(), GiveWay{});
  in_steps(10s, run(2ms));
  EXPECT_EQ(state(), "harmed");
  EXPECT_GT(services_.give_way().threads, 0);
  proc_.end(100);
  loop_.run_for(1s);
  EXPECT_EQ(state(), "gone");
  EXPECT_EQ(services_.given(), GiveWay{});
}

TEST_F(Protected, ChangedOptionsBeginAnewAndOthersKeepWhatIsKnown) {
  watch(by_url());
  idle_for(1min);
  services_.set({{"nas", by_url()}, {"recorder", by_cgroup()}});
  EXPECT_EQ(state(), "well");
  ProtectedOptions other = by_url();
  other.p99_percent = 150;
  services_.set({{"nas", other}});
  EXPECT_EQ(state(), "unknown");
  idle_for(1min);
  EXPECT_EQ(state(), "well");
  service_.latency = 50ms;
  busy_for(10s);
  EXPECT_NE(services_.given(), GiveWay{});
  const int changes = changes_;
  services_.set({});
  EXPECT_EQ(services_.given(), GiveWay{});
  EXPECT_EQ(changes_, changes);
  busy_for(1s);
  EXPECT_GT(changes_, changes);
}

}  // namespace
}  // namespace hearth::front
