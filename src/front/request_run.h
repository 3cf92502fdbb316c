// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/event_loop.h"
#include "base/sync.h"
#include "front/account.h"
#include "front/model.h"
#include "front/reply.h"
#include "front/transfer.h"
#include "front/warmth/warm_claim.h"
#include "timeline/snapshot.h"

namespace hearth::front {

// One request from admission to its last event: waits for its turn and for the model, follows the
// worker's frames, runs again once if the worker dies before the client saw anything, and keeps the
// account. Its events go to a mailbox that the Reply empties.
//
// Held by shared_ptr: by the Reply in its handler, and by the running task, which outlives a client
// that goes away until the worker has let the sequence go. Belongs to the loop.
class RequestRun {
 public:
  struct LoadWork {};
  using Work = std::variant<wire::GenerateMessage, wire::EmbedMessage, LoadWork>;
  struct Input {
    std::string id;
    std::uint64_t number = 0;  // on the wire
    RequestContext context;
    Work work;
    Delivery delivery = Delivery::kWhole;
    // Called when a stage of it has ended, while it goes on.
    std::function<void(const RequestRun&)> on_stages{};
  };
  // Called once, when the request is over for good and its account is closed.
  using OnClosed = std::function<void(const RequestReport&)>;

  RequestRun(EventLoop& loop, Input input, std::int64_t wall_us, OnClosed on_closed);

  static Task<void> refuse(std::shared_ptr<RequestRun> run, Error error);

  // Before run(), where the model's files must be fetched first: follows the pull to its end, which
  // cancel() and the wait limit bring about early. `before`: what of the files was here. Errors:
  // the pull's.
  static Task<Result<TransferDone>> await_files(std::shared_ptr<RequestRun> run, Transfer& pull,
                                                LayerSnapshot before);
  // What that took, up to now: the pull's stages, of which this request sees what fell into it.
  void note_fetched(const std::vector<Stage>& stages, Bytes received);

  // `name`: the one of the model's names that was asked for.
  static Task<void> run(std::shared_ptr<RequestRun> run, Model& model, std::string name);

  const std::string& id() const { return input_.id; }
  const std::optional<RequestTrace>& trace() const { return input_.context.trace; }
  Mailbox<Event>& events() { return events_; }
  bool over() const { return over_; }
  bool closed() const { return closed_; }  // its account is; nothing of it will change
  // Somebody wants the model's weights.
  bool is_use() const { return !only_counts() && !input_.context.by_itself; }
  bool generates() const { return std::holds_alternative<wire::GenerateMessage>(input_.work); }
  // A worker had it in hand then: it counts as use of the model.
  bool used_model() const { return reached_ && is_use(); }
  Duration waited() const { return loop_.now() - input_.context.first_byte; }
  // Up to its latest stage.
  RequestReport report() const { return account_.report(); }
  // How the first token came, once it has; nothing of a load, or where nothing was forecast.
  std::optional<FirstToken> first_token() const;

  void cancel();
  // See Reply::sent(). Without a status: the reply was dropped.
  void close(std::optional<int> http_status);
  void note_delta_taken() { delta_taken_ = true; }

 private:
  enum class Step { kOver, kLost };

  Task<void> serve(Model& model);
  Task<Step> attempt(Model& model);
  Task<Result<>> take_turn(Model& model, std::optional<Admission::Place>& place);
  Task<void> attempts(Model& model);
  Task<Step> hand_over(Model& model);
  Task<Step> follow(Model& model);
  bool ends_reply(const InboxItem& item) const;
  bool on_item(Model& model, InboxItem& item);
  void cancel_in_worker(Model& model);
  void finish_load(Model& model);
  bool on_frame(Model& model, const wire::Frame& frame);
  void note_template(const ModelHost& host);
  void note_loads(const ModelHost& host);
  bool is_load() const { return std::holds_alternative<LoadWork>(input_.work); }
  bool only_counts() const;
  void normalise(Model& model);
  void ask_for_prefix(Model& model);
  void begin_plan(Model& model);
  Task<void> answer_with_plan(Model& model, PrefixRoom::Ask ask);
  bool is_with(const ModelHost& host) const;
  void note_prefix_started(Model& model, const wire::StartedMessage& message);
  Task<void> end_plan(Model& model);
  Use use() const { return is_use() ? Use::kWeights : Use::kTokenizer; }
  std::vector<int> tokens_with(std::vector<int> generated) const;
  void on_delta(wire::DeltaMessage message);
  void on_failed(Model& model, const wire::FailedMessage& message);
  void on_tokenized(Model& model, const wire::TokenizedMessage& message);
  void on_started(Model& model, const wire::StartedMessage& message);
  void on_done(Model& model, const wire::DoneMessage& message);
  void on_embedded(Model& model, wire::EmbeddedMessage message);
  void on_progress(const wire::ProgressMessage& message);
  void tell_place(const Model& model, int ahead);
  void queued_until(TimePoint until);
  void tell_stages() const;
  void add_load_if_waited(Model& model);
  Task<void> note_late_compiles(Model& model, Bytes before);
  void meet_forecast(Model& model, int fresh_tokens);
  void refuse_with(Error error);
  void arm_wait_limit(std::function<bool()> warm);
  void disarm_wait_limit();
  void finish_if_abandoned();
  void on_transfer(const TransferProgress& progress);

  EventLoop& loop_;
  Input input_;
  OnClosed on_closed_;
  Account account_;
  Mailbox<Event> events_;
  Inbox inbox_;
  Model* model_ = nullptr;    // while run() is under way
  Transfer* pull_ = nullptr;  // while await_files() is
  std::optional<LayerSnapshot> files_before_;
  std::optional<double> pull_eta_ms_;
  bool cancelled_ = false;
  bool waited_too_long_ = false;
  bool over_ = false;       // the last event was pushed
  bool closed_ = false;     // the account is closed
  bool abandoned_ = false;  // the Reply is gone
  bool delta_taken_ = false;
  bool delta_sent_ = false;
  bool started_ = false;
  Bytes late_compiled_;  // by the driver, for what has just started
  bool in_worker_ = false;
  bool reached_ = false;  // a worker had it in hand
  std::uint64_t loads_before_ = 0;
  bool needed_load_ = false;
  TimePoint waiting_since_;
  TimePoint admitted_;
  EventLoop::TimerId wait_timer_ = 0;
  std::vector<int> tokens_;

  std::optional<PrefixRoom::Use> prefix_use_;  // of this attempt, where it may use earlier prompts
  std::uint64_t prefix_worker_ = 0;            // the host's spawns() then
  bool planning_ = false;                      // the worker waits for an answer to kTokenized
  bool planned_ = false;                       // it was asked for one, in this attempt
  bool plan_started_ = false;                  // kStarted was noted
  bool worker_done_ = false;                   // kDone has come: the worker says what it has kept
  Notify plan_ended_;
  PrefixRoom::Found found_;
  int normalised_ = 0;  // places of the prompt
};

// The Reply that the interfaces hold.
class RunReply : public Reply {
 public:
  explicit RunReply(std::shared_ptr<RequestRun> run) : run_{std::move(run)} {}
  ~RunReply() override;
  RunReply(const RunReply&) = delete;
  RunReply& operator=(const RunReply&) = delete;

  const std::string& id() const override { return run_->id(); }
  std::optional<RequestTrace> trace() const override { return run_->trace(); }
  Task<Event> next() override;
  void cancel() override { run_->cancel(); }
  void sent(int http_status) override;

 private:
  std::shared_ptr<RequestRun> run_;
  bool sent_ = false;
};

}  // namespace hearth::front
