// SPDX-License-Identifier: Apache-2.0
#include "front/admission.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/sim_event_loop.h"

namespace hearth::front {
namespace {

struct Scene {
  explicit Scene(int parallel, int queue) : admission{loop, parallel, queue} {}
  SimEventLoop loop;
  Admission admission;
  std::vector<std::string> log;
};

struct Visitor {
  Scene& scene;
  std::string name;
  Notify& leave;
  bool cancelled = false;
  bool inside = false;
  bool may_leave = false;
};

Task<void> visit(Visitor& visitor) {
  Result<Admission::Place> place = co_await visitor.scene.admission.enter(&visitor.cancelled);
  if (!place) {
    visitor.scene.log.push_back(visitor.name + " " + std::string{name_of(place.error().code())});
    co_return;
  }
  visitor.inside = true;
  visitor.scene.log.push_back(visitor.name + " in");
  while (!visitor.may_leave) co_await visitor.leave.wait();
  visitor.inside = false;
}

TEST(Admission, FirstComeFirstServed) {
  Scene scene{1, 8};
  Notify leave{scene.loop};
  Visitor a{scene, "a", leave}, b{scene, "b", leave}, c{scene, "c", leave};
  for (Visitor* v : {&a, &b, &c}) scene.loop.spawn(visit(*v));
  for (Visitor* v : {&a, &b, &c}) {
    EXPECT_TRUE(v->inside) << v->name;
    v->may_leave = true;
    leave.notify_all();
    scene.loop.run_ready();
  }
  EXPECT_EQ(scene.log, (std::vector<std::string>{"a in", "b in", "c in"}));
  EXPECT_EQ(scene.admission.active(), 0);
}

Task<void> tell_place(Admission& admission, const bool& cancelled, std::vector<int>& told) {
  std::function<void(int)> tell = [&told](int ahead) { told.push_back(ahead); };
  (void)co_await admission.enter(&cancelled, std::move(tell));
}

TEST(Admission, TellsWhoWaitsHowManyAreBefore) {
  Scene scene{1, 8};
  Notify leave{scene.loop};
  Visitor a{scene, "a", leave}, b{scene, "b", leave};
  for (Visitor* v : {&a, &b}) scene.loop.spawn(visit(*v));
  const bool cancelled = false;
  std::vector<int> told;
  scene.loop.spawn(tell_place(scene.admission, cancelled, told));
  EXPECT_EQ(told, std::vector<int>{1});
  scene.admission.poke();
  scene.loop.run_ready();
  EXPECT_EQ(told, std::vector<int>{1}) << "nothing new";
  for (Visitor* v : {&a, &b}) {
    v->may_leave = true;
    leave.notify_all();
    scene.loop.run_ready();
  }
  EXPECT_EQ(told, (std::vector<int>{1, 0}));
  EXPECT_EQ(scene.admission.active(), 0);
}

// cases.md row 45.
TEST(Admission, RefusesBeyondTheBound) {
  Scene scene{1, 2};
  Notify leave{scene.loop};
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (int n = 0; n < 10; ++n) {
    visitors.push_back(std::make_unique<Visitor>(Visitor{scene, std::to_string(n), leave}));
    scene.loop.spawn(visit(*visitors.back()));
  }
  EXPECT_EQ(scene.admission.active(), 1);
  EXPECT_EQ(scene.admission.waiting(), 2);
  EXPECT_EQ(scene.log.size(), 1U + 7U);
  for (auto& v : visitors) v->may_leave = true;
  leave.notify_all();
  scene.loop.run_ready();
  EXPECT_EQ(scene.admission.active(), 0);
  EXPECT_EQ(scene.admission.waiting(), 0);
}

TEST(Admission, ACancelledWaiterLetsTheNextOnePass) {
  Scene scene{1, 8};
  Notify leave{scene.loop};
  Visitor a{scene, "a", leave}, b{scene, "b", leave}, c{scene, "c", leave};
  for (Visitor* v : {&a, &b, &c}) scene.loop.spawn(visit(*v));
  b.cancelled = true;
  scene.admission.poke();
  a.may_leave = true;
  leave.notify_all();
  scene.loop.run_ready();
  EXPECT_TRUE(c.inside);
  c.may_leave = true;
  leave.notify_all();
  scene.loop.run_ready();
  EXPECT_EQ(scene.log, (std::vector<std::string>{"a in", "b cancelled", "c in"}));
}

TEST(Admission, NobodyEntersWhileItIsPaused) {
  Scene scene{4, 8};
  Notify leave{scene.loop};
  Visitor a{scene, "a", leave};
  scene.admission.pause();
  scene.loop.spawn(visit(a));
  scene.loop.run_ready();
  EXPECT_FALSE(a.inside);
  scene.admission.resume();
  scene.loop.run_ready();
  EXPECT_TRUE(a.inside);
  a.may_leave = true;
  leave.notify_all();
  scene.loop.run_ready();
}

TEST(Admission, FourMayBeInsideTogether) {
  Scene scene{4, 8};
  Notify leave{scene.loop};
  std::vector<std::unique_ptr<Visitor>> visitors;
  for (int n = 0; n < 6; ++n) {
    visitors.push_back(std::make_unique<Visitor>(Visitor{scene, std::to_string(n), leave}));
    scene.loop.spawn(visit(*visitors.back()));
  }
  scene.loop.run_ready();
  EXPECT_EQ(scene.admission.active(), 4);
  for (auto& v : visitors) v->may_leave = true;
  leave.notify_all();
  scene.loop.run_ready();
  EXPECT_EQ(scene.admission.active(), 0);
}

}  // namespace
}  // namespace hearth::front
