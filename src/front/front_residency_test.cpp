// SPDX-License-Identifier: Apache-2.0
//
// Names, aliases and pins through the whole front, over scripted workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "front/testing/whole_front.h"

namespace hearth::front {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::well_behaved;
using wire::BlockingChannel;
using wire::Frame;
using wire::FrameType;

class FrontResidencyTest : public testing::WholeFront {};

Task<void> copies(FrontService& service) {
  std::string tiny = "tiny", second = "second", other = "other", nobody = "nobody";
  const auto copied = co_await service.copy_model(tiny, second);
  EXPECT_TRUE(copied) << copied.error().message();
  EXPECT_EQ(copied->name, "second:latest");
  EXPECT_EQ(copied->artifact, service.model("tiny")->artifact);
  const auto again = co_await service.copy_model(tiny, second);
  EXPECT_TRUE(again);
  const auto taken = co_await service.copy_model(tiny, other);
  EXPECT_EQ(taken.error().code(), ErrorCode::kConflict);
  const auto unknown = co_await service.copy_model(nobody, second);
  EXPECT_EQ(unknown.error().code(), ErrorCode::kNotFound);
}

TEST_F(FrontResidencyTest, ASecondNameSharesTheFiles) {
  open();
  run(copies(*service_));
}

Task<void> reads_details(FrontService& service) {
  std::string tiny = "tiny";
  const auto details = co_await service.details(tiny);
  EXPECT_TRUE(details) << details.error().message();
  EXPECT_EQ(details->chat_template, "{{ messages }}");
  EXPECT_THAT(details->metadata, HasSubstr("\"general.name\":\"Tiny\""));
  EXPECT_THAT(service.model("tiny")->capabilities, ElementsAre("completion"));
}

TEST_F(FrontResidencyTest, DetailsComeFromTheFile) {
  open();
  run(reads_details(*service_));
}

Task<void> uses_aliases(FrontService& service) {
  EXPECT_EQ(service.model("nick")->name, "tiny:latest");
  EXPECT_THAT(service.model("tiny")->aliases, ElementsAre("nick"));
  EXPECT_EQ(service.model("other")->name, "other:latest");
  EXPECT_EQ(service.model("tiny")->keep_alive.text(), "10m0s");
  EXPECT_EQ(service.model("tiny")->keep_alive_source, "configuration");
  EXPECT_EQ(service.model("other")->keep_alive_source, "default");
  std::string nick = "nick";
  const auto removed = co_await service.remove_model(nick);
  EXPECT_EQ(removed.error().code(), ErrorCode::kConflict);
  std::string weights = "weights";
  const auto warmed = co_await service.warm(nick, weights);
  EXPECT_TRUE(warmed) << warmed.error().message();
  EXPECT_TRUE(service.model("tiny")->expires_at_us);
}

TEST_F(FrontResidencyTest, AnAliasLeadsToItsModelAndHidesNone) {
  ModelOptions options;
  options.aliases = {"nick", "other"};
  options.keep_alive = KeepAlive::after(10min);
  section("tiny:latest", options);
  open();
  run(uses_aliases(*service_));
}

// What a worker was opened with.
struct Opened {
  std::vector<wire::LoadOptions> options;
};

Task<void> warms_both_names(FrontService& service) {
  std::string tiny = "tiny", second = "zweite", weights = "weights";
  const auto copied = co_await service.copy_model(tiny, second);
  EXPECT_TRUE(copied) << copied.error().message();
  const auto warmed = co_await service.warm(second, weights);
  EXPECT_TRUE(warmed) << warmed.error().message();
}

TEST_F(FrontResidencyTest, OfTwoSectionsForOneModelTheFirstByNameHolds) {
  ModelOptions first, second;
  first.context = 1000;
  second.context = 2000;
  section("tiny:latest", first);
  section("zweite:latest", second);
  Opened opened;
  open([&opened](BlockingChannel& channel, const Frame& frame) {
    if (frame.type == FrameType::kOpen) {
      opened.options.push_back(wire::decode_open(frame.payload)->options);
    }
    return well_behaved(channel, frame);
  });
  run(warms_both_names(*service_));
  ASSERT_EQ(opened.options.size(), 1U);
  EXPECT_EQ(opened.options[0].context_limit, 1000);
}

bool is_resident(const FrontService& service) {
  return service.model("tiny")->layers[2].level == "resident";
}

Task<void> until_resident(EventLoop& loop, FrontService& service) {
  while (!is_resident(service)) co_await loop.sleep(1ms);
}

Task<void> pins_weights(EventLoop& loop, FrontService& service) {
  std::string tiny = "tiny", weights = "weights";
  const auto pinned = co_await service.pin(tiny, weights, Bytes{});
  EXPECT_TRUE(pinned) << pinned.error().message();
  EXPECT_THAT(pinned->pinned, ElementsAre("weights"));
  EXPECT_EQ(pinned->keep_alive_source, "pin");
  co_await until_resident(loop, service);
  const auto unloaded = co_await service.unload(tiny);
  EXPECT_EQ(unloaded.error().code(), ErrorCode::kConflict);
  EXPECT_THAT(unloaded.error().message(), HasSubstr("hearth unpin tiny:latest"));
  const auto cooled = co_await service.cool(tiny, weights);
  EXPECT_EQ(cooled.error().code(), ErrorCode::kConflict);
  const auto part = co_await service.pin(tiny, weights, Bytes{1});
  EXPECT_EQ(part.error().field(), "bytes");
  std::string prefix = "prefix";
  const auto other = co_await service.pin(tiny, prefix, Bytes{});
  EXPECT_EQ(other.error().field(), "layer");
}

Task<void> finds_pin_again(EventLoop& loop, FrontService& service) {
  co_await until_resident(loop, service);
  EXPECT_THAT(service.model("tiny")->pinned, Contains("weights"));
  std::string tiny = "tiny", all;
  const auto loose = co_await service.unpin(tiny, all);
  EXPECT_TRUE(loose) << loose.error().message();
  EXPECT_THAT(loose->pinned, IsEmpty());
  const auto unloaded = co_await service.unload(tiny);
  EXPECT_TRUE(unloaded);
}

TEST_F(FrontResidencyTest, PinnedWeightsAreLoadedStayAndSurviveARestart) {
  open();
  run(pins_weights(*loop_, *service_));
  open();
  run(finds_pin_again(*loop_, *service_));
}

Task<void> loses_a_pinned_worker(EventLoop& loop, FrontService& service) {
  std::string tiny = "tiny", weights = "weights";
  (void)co_await service.pin(tiny, weights, Bytes{});
  co_await until_resident(loop, service);
  GenerateRequest request;
  request.context.model = "tiny";
  request.message.prompt = "die";
  const auto reply = service.generate(std::move(request), Delivery::kStreamed);
  for (;;) {
    const Event event = co_await reply->next();
    if (std::holds_alternative<Refused>(event)) break;
  }
  reply->sent(503);
  co_await until_resident(loop, service);
}

TEST_F(FrontResidencyTest, APinnedModelIsLoadedAgainAfterItsWorkerDied) {
  open([](BlockingChannel& channel, const Frame& frame) {
    return frame.type != FrameType::kGenerate && well_behaved(channel, frame);
  });
  run(loses_a_pinned_worker(*loop_, *service_));
  EXPECT_GE(processes_->spawned(), 3);
}

// A keeper that is a script: it holds whatever it is told to.
bool works_or_keeps(BlockingChannel& channel, const Frame& frame) {
  if (frame.type != FrameType::kKeep) return well_behaved(channel, frame);
  testing::answer(channel, FrameType::kKept, frame.request, "{}");
  return true;
}

Task<void> pins_pages(FrontService& service) {
  std::string tiny = "tiny", pages = "pages";
  const auto pinned = co_await service.pin(tiny, pages, Bytes{4096});
  EXPECT_TRUE(pinned) << pinned.error().message();
  EXPECT_THAT(pinned->pinned, ElementsAre("pages"));
  EXPECT_EQ(pinned->layers[1].level, "pinned");
  EXPECT_GT(pinned->layers[1].fraction, 0);
  EXPECT_LT(pinned->layers[1].fraction, 1);
  const auto cooled = co_await service.cool(tiny, pages);
  EXPECT_EQ(cooled.error().code(), ErrorCode::kConflict);
  EXPECT_THAT(cooled.error().message(), HasSubstr("hearth unpin tiny:latest"));
  const auto loose = co_await service.unpin(tiny, pages);
  EXPECT_TRUE(loose);
  EXPECT_THAT(loose->pinned, IsEmpty());
}

TEST_F(FrontResidencyTest, PinnedPagesShowAndAreNotCooled) {
  keeper_ = "scripted";
  open(works_or_keeps);
  run(pins_pages(*service_));
}

Task<void> pins_pages_without_keeper(FrontService& service) {
  std::string tiny = "tiny", pages = "pages";
  const auto pinned = co_await service.pin(tiny, pages, Bytes{});
  EXPECT_EQ(pinned.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(service.model("tiny")->pinned, IsEmpty());
}

TEST_F(FrontResidencyTest, PagesThatCannotBeHeldAreNotPinned) {
  open();
  run(pins_pages_without_keeper(*service_));
}

// A keeper that answers when the test says so.
struct SlowKeeper {
  bool operator()(BlockingChannel& channel, const Frame& frame) const {
    if (frame.type == FrameType::kForget) ++*forgotten;
    if (frame.type != FrameType::kKeep) return well_behaved(channel, frame);
    *asked = frame.request;
    *to = &channel;
    return true;
  }
  void answer() const { testing::answer(**to, FrameType::kKept, *asked, "{}"); }

  // Shared by the copies that are a script and the test.
  std::shared_ptr<std::atomic<std::uint64_t>> asked =
      std::make_shared<std::atomic<std::uint64_t>>();
  std::shared_ptr<std::atomic<BlockingChannel*>> to =
      std::make_shared<std::atomic<BlockingChannel*>>(nullptr);
  std::shared_ptr<std::atomic<int>> forgotten = std::make_shared<std::atomic<int>>();
};

Task<void> pin_in_the_background(FrontService& service, std::optional<ErrorCode>& refused) {
  std::string tiny = "tiny", pages = "pages";
  const auto pinned = co_await service.pin(tiny, pages, Bytes{4096});
  if (!pinned) refused = pinned.error().code();
}

Task<void> removes_while_pinning(EventLoop& loop, FrontService& service, SlowKeeper keeper) {
  std::optional<ErrorCode> refused;
  loop.spawn(pin_in_the_background(service, refused));
  while (*keeper.to == nullptr) co_await loop.sleep(1ms);
  std::string tiny = "tiny";
  const auto removed = co_await service.remove_model(tiny);
  EXPECT_TRUE(removed);
  keeper.answer();
  while (!refused) co_await loop.sleep(1ms);
  EXPECT_EQ(*refused, ErrorCode::kNotFound);
  while (*keeper.forgotten == 0) co_await loop.sleep(1ms);
}

TEST_F(FrontResidencyTest, PagesOfAModelThatIsRemovedMeanwhileAreLetGo) {
  keeper_ = "scripted";
  const SlowKeeper keeper;
  open(keeper);
  run(removes_while_pinning(*loop_, *service_, keeper));
}

Task<void> pins_weights_and_waits(EventLoop& loop, FrontService& service) {
  std::string tiny = "tiny", weights = "weights";
  const auto pinned = co_await service.pin(tiny, weights, Bytes{});
  EXPECT_TRUE(pinned);
  co_await until_resident(loop, service);
}

Task<void> sees_no_pin(FrontService& service) {
  const auto tiny = service.model("tiny");
  EXPECT_THAT(tiny->pinned, IsEmpty());
  EXPECT_NE(tiny->keep_alive_source, "pin");
  std::string name = "tiny";
  const auto unloaded = co_await service.unload(name);
  EXPECT_TRUE(unloaded);
}

TEST_F(FrontResidencyTest, APinOfALayerThatIsSwitchedOffRests) {
  open();
  run(pins_weights_and_waits(*loop_, *service_));
  config_.switches.weights = false;
  config_.hollow_workers = 0;
  open();
  run(sees_no_pin(*service_));
  EXPECT_EQ(processes_->spawned(), 0);
  config_.switches.weights = true;
  open();
  run(finds_pin_again(*loop_, *service_));
}

Task<void> asks_in_vain(FrontService& service) {
  GenerateRequest request;
  request.context.model = "tiny";
  request.message.prompt = "x";
  const auto reply = service.generate(std::move(request), Delivery::kWhole);
  const Event event = co_await reply->next();
  EXPECT_TRUE(std::holds_alternative<Refused>(event));
  reply->sent(503);
  EXPECT_EQ(service.model("tiny")->last_used_us, 0);
}

TEST_F(FrontResidencyTest, ARequestThatNoWorkerTookIsNoUse) {
  open([](BlockingChannel&, const Frame&) { return false; });
  run(asks_in_vain(*service_));
}

}  // namespace
}  // namespace hearth::front
