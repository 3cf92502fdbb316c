// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "front/model.h"
#include "front/request_run.h"
#include "front/testing/sim_workers.h"

namespace hearth::front::testing {

struct Heard {
  std::optional<Finished> finished;
  std::optional<Refused> refused;
};

inline Task<void> listen(std::unique_ptr<Reply> reply, Heard& heard) {
  while (!heard.finished && !heard.refused) {
    Event event = co_await reply->next();
    if (auto* finished = std::get_if<Finished>(&event)) heard.finished = std::move(*finished);
    if (auto* refused = std::get_if<Refused>(&event)) heard.refused = std::move(*refused);
  }
  reply->sent(heard.finished ? 200 : 503);
}

inline NamedModel tiny() {
  NamedModel named;
  named.name = "tiny:latest";
  named.key = "tiny:latest";
  named.artifact.id = "a";
  Artifact::Shard shard;
  shard.path = "/proc/self/exe";  // any file that can be opened
  named.artifact.shards.push_back(shard);
  return named;
}

// One model with a scripted worker, in virtual time.
class SimModel : public ::testing::Test {
 protected:
  ~SimModel() override {
    loop_.spawn(model_->host().stop());
    workers_.settle();
  }

  void parallel(int places) {
    HostSettings settings;
    settings.worker_program = "scripted";
    settings.options.parallel = places;
    ModelHost::World host{loop_, pool_, Files::real(), workers_};
    host.prefixes = prefixes_;
    model_ = std::make_unique<Model>(
        Model::World{host, loop_.clock(), layers_, metrics_, pressure_, {}, predictor_}, tiny(),
        settings, [this](ModelHost&) { model_->learn_from_host(); });
    model_->stay().set_default({KeepAlive::after(std::chrono::minutes{5}), "configuration"});
  }

  // Prompts with "slow" are answered by let_go(); loads and unloads wait while they are held back.
  virtual bool script(wire::BlockingChannel& channel, const wire::Frame& frame) {
    const bool held_back = (frame.type == wire::FrameType::kLoad && hold_loads_) ||
                           (frame.type == wire::FrameType::kUnload && hold_unloads_) ||
                           frame.payload.find("slow") != std::string::npos;
    channel_ = &channel;
    if (frame.type == wire::FrameType::kLoad) ++loads_;
    if (frame.type == wire::FrameType::kCancel && frame.request == 0) ++cancels_;
    if (frame.type == wire::FrameType::kLoad && (bytes_read_ > Bytes{} || !load_stages_.empty())) {
      wire::LoadedMessage loaded;
      loaded.stages = load_stages_;
      loaded.bytes_read = bytes_read_;
      answer(channel, wire::FrameType::kLoaded, 0, wire::encode(loaded));
      return true;
    }
    if (frame.type == wire::FrameType::kOpen && !devices_.empty()) {
      wire::ReadyMessage ready;
      ready.devices = devices_;
      answer(channel, wire::FrameType::kReady, 0, wire::encode(ready));
      return true;
    }
    if (!held_back) return well_behaved(channel, frame);
    held_.push_back([&channel, request = frame.request, type = frame.type] {
      well_behaved(channel, wire::make_frame(type, request, "{}"));
    });
    return true;
  }
  void let_go() {
    for (const auto& run : std::exchange(held_, {})) run();
    workers_.settle();
  }

  // What the worker says by itself.
  void fail_load(const std::string& code) {
    wire::FailedMessage failed;
    failed.code = code;
    failed.message = code;
    answer(*channel_, wire::FrameType::kFailed, 0, wire::encode(failed));
    workers_.settle();
  }
  void answer_store(const std::string& error) {
    wire::StoredMessage stored;
    stored.error = error;
    answer(*channel_, wire::FrameType::kStored, 0, wire::encode(stored));
    workers_.settle();
  }

  std::unique_ptr<Reply> begin(RequestRun::Work work, std::optional<KeepAlive> wish) {
    RequestRun::Input input;
    input.number = next_++;
    input.id = "r" + std::to_string(input.number);
    input.context.model = "tiny";
    input.context.first_byte = loop_.now();
    input.context.keep_alive = wish;
    input.context.approximate = approximate_;
    input.context.texts = texts_;
    input.work = std::move(work);
    auto run =
        std::make_shared<RequestRun>(loop_, std::move(input), 0, [](const RequestReport&) {});
    std::string name = "tiny:latest";
    loop_.spawn(RequestRun::run(run, *model_, std::move(name)));
    return std::make_unique<RunReply>(std::move(run));
  }
  static wire::GenerateMessage prompt(const std::string& text) {
    wire::GenerateMessage message;
    message.prompt = text;
    return message;
  }
  void ask(const std::string& text, std::optional<KeepAlive> wish, Heard& heard) {
    loop_.spawn(listen(begin(prompt(text), wish), heard));
    workers_.settle();
  }
  bool resident() const { return model_->host().level() == WeightsLevel::kResident; }

  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  SimProcesses workers_{loop_, [this](wire::BlockingChannel& channel, const wire::Frame& frame) {
                          return script(channel, frame);
                        }};
  Metrics metrics_{BuildInfo{}};
  Pressure pressure_;
  Predictor predictor_;
  LayerSet layers_{
      LayerSet::World{loop_,
                      pool_,
                      Files::real(),
                      loop_.clock(),
                      [this](const std::string&) { return model_ ? &model_->host() : nullptr; },
                      [](const std::string&) { return std::optional<LoadSet>{}; },
                      {}}};
  PrefixPlans* prefixes_ = nullptr;  // of models made after it was set
  std::unique_ptr<Model> model_;
  std::vector<std::function<void()>> held_;
  bool hold_loads_ = false;
  bool hold_unloads_ = false;
  int loads_ = 0;
  int cancels_ = 0;                           // of loads
  wire::BlockingChannel* channel_ = nullptr;  // of the last worker
  Bytes bytes_read_;
  std::vector<std::string> devices_;  // that the worker finds
  std::vector<Stage> load_stages_;
  std::uint64_t next_ = 1;
  bool approximate_ = false;             // what requests say
  std::vector<std::vector<int>> texts_;  // likewise
};

}  // namespace hearth::front::testing
