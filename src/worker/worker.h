// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <thread>

#include "engine/abort_flags.h"
#include "wire/blocking_channel.h"
#include "wire/frame.h"
#include "worker/cpu_share.h"
#include "worker/gauges.h"
#include "worker/heartbeat.h"
#include "worker/inference_thread.h"
#include "worker/opened_model.h"
#include "worker/prefix_work.h"
#include "worker/replies.h"
#include "worker/request.h"
#include "worker/work_queue.h"

namespace hearth::worker {

// One model in one process, at the other end of a socket. run() belongs to one thread; tokenizing,
// computing and the heartbeat have threads of their own.
class Worker {
 public:
  // `socket` is not owned and must be blocking.
  explicit Worker(int socket);

  // Breaks off whatever is being computed and joins the threads.
  ~Worker();

  // Serves until the front closes its end, or breaks the protocol. A process that has nothing else
  // to do ends without destroying the worker: that is quicker, and the kernel tidies up.
  void run();

 private:
  void handle(wire::Frame frame);
  void open(wire::Frame frame);
  void give_way(const wire::Frame& frame);
  void accept(const wire::Frame& frame, RequestKind kind);
  void load(wire::Frame frame);
  void store(wire::Frame frame);
  void cancel(std::uint64_t request);
  void plan(wire::Frame frame);
  void refuse_plan(std::uint64_t request);
  void add_plan(PrefixWork& work, const Result<wire::PrefixPlanMessage>& message,
                std::vector<Fd> files, const Request& request);
  void tokenize_requests();
  void tokenize(const RequestPtr& request);

  wire::BlockingChannel channel_;
  Replies replies_{channel_};
  engine::AbortFlags abort_;
  Gauges gauges_;
  CpuShare cpu_{gauges_};
  std::unique_ptr<OpenedModel> model_;
  std::shared_ptr<const Arena> arena_;  // shared with whoever has a plan for it
  std::map<std::uint64_t, std::shared_ptr<PrefixWork>> plans_;  // of which more frames are to come
  std::unique_ptr<TemplateCache> templates_;                    // of the tokenizing thread
  std::map<std::uint64_t, std::weak_ptr<Request>> requests_;
  WorkQueue<RequestPtr> to_tokenize_;
  std::unique_ptr<InferenceThread> inference_;
  std::thread tokenizer_;
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace hearth::worker
