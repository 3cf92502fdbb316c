// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process.h"
#include "base/sim_event_loop.h"
#include "transfer/download.h"
#include "wire/blocking_channel.h"
#include "wire/fetch_messages.h"
#include "wire/messages.h"

namespace hearth::front::testing {

// What other machines have, and how well that goes.
struct SimWeb {
  struct Text {
    int status = 200;
    std::string body;
    std::vector<wire::HttpField> headers{};
  };
  enum class Trouble { kNone, kDies, kFails, kFlips };

  std::map<std::string, Text> texts;
  std::map<std::string, std::string> files;
  // Asked before each answer and each step of a file.
  std::function<Trouble()> trouble = [] { return Trouble::kNone; };
  std::uint64_t received = 0;           // bytes of files, by all fetchers
  std::vector<wire::FetchText> asked;   // in order
  std::vector<wire::FetchFile> wanted;  // likewise
};

// A fetcher without a process, for a SimEventLoop: real frames and a real Download, of which each
// step() brings some bytes.
class SimFetcher : public Process {
 public:
  static constexpr std::uint64_t kPart = 512;
  static constexpr std::uint64_t kStep = 400;

  SimFetcher(SimWeb& web, const Files& files) : web_{web}, files_{files} {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours_ = Fd{ends[0]};
    theirs_ = Fd{ends[1]};
    channel_ = std::make_unique<wire::BlockingChannel>(theirs_.get());
  }

  pid_t pid() const override { return 4242; }
  int pidfd() const override { return -1; }
  int control() const override { return ours_.get(); }
  void kill() override { die(); }
  ExitStatus stop(std::chrono::milliseconds) override {
    die();
    ours_.reset();
    return {};
  }

  // Takes all frames that are there; false when there was none.
  bool look() {
    bool any = false;
    while (theirs_ && readable(theirs_.get())) {
      Result<wire::Frame> frame = channel_->receive();
      any = true;
      if (frame) take(*frame);
      if (!frame) die();
    }
    return any;
  }
  bool has_answered() const { return ours_ && readable(ours_.get()); }
  bool is_fetching() const { return download_ != nullptr; }

  void step() {
    if (!download_ || ill()) return;
    Result<> done = bring();
    for (auto hashed = done ? download_->hash_some() : Result<transfer::HashStep>{};
         done && hashed != transfer::HashStep::kWait; hashed = download_->hash_some()) {
      if (!hashed) done = Failed{hashed.error()};
      if (done && *hashed == transfer::HashStep::kComplete) return finish();
    }
    if (!done) return fail_with(done.error());
    tell();
  }

 private:
  static bool readable(int fd) {
    pollfd waited{fd, POLLIN, 0};
    return ::poll(&waited, 1, 0) > 0;
  }
  void die() {
    download_.reset();
    theirs_.reset();
  }
  void say(wire::FrameType type, std::string payload) {
    (void)channel_->send(wire::make_frame(type, request_, std::move(payload)));
  }
  void fail_with(const Error& error) {
    download_.reset();
    wire::FailedMessage failed;
    failed.code = name_of(error.code());
    failed.message = error.message();
    say(wire::FrameType::kFailed, wire::encode(failed));
  }
  bool ill() {
    const SimWeb::Trouble trouble = web_.trouble();
    // Where nothing is promised nobody could tell.
    flip_ = trouble == SimWeb::Trouble::kFlips && promised_;
    if (trouble == SimWeb::Trouble::kDies) die();
    if (trouble == SimWeb::Trouble::kFails) {
      fail_with(Error{ErrorCode::kUnavailable, "the server does not answer"});
    }
    return trouble == SimWeb::Trouble::kDies || trouble == SimWeb::Trouble::kFails;
  }

  void take(wire::Frame& frame) {
    request_ = frame.request;
    if (frame.type == wire::FrameType::kFetchText) return answer(frame.payload);
    if (frame.type == wire::FrameType::kFetchFile) begin(frame);
  }
  void answer(const std::string& payload) {
    web_.asked.push_back(*wire::decode_fetch_text(payload));
    if (ill()) return;
    const std::string& url = web_.asked.back().url;
    const auto found = web_.texts.find(url);
    wire::FetchedText text;
    text.url = url;
    text.status = found == web_.texts.end() ? 404 : found->second.status;
    if (found != web_.texts.end()) {
      text.body = found->second.body;
      text.headers = found->second.headers;
    }
    say(wire::FrameType::kFetchedText, wire::encode(text));
  }
  void begin(wire::Frame& frame) {
    web_.wanted.push_back(*wire::decode_fetch_file(frame.payload));
    if (ill()) return;
    const wire::FetchFile& file = web_.wanted.back();
    if (!web_.files.contains(file.url)) {
      return fail_with(Error{ErrorCode::kNotFound, "the server has no such file"});
    }
    content_ = &web_.files[file.url];
    transfer::Wanted wanted;
    wanted.promised = transfer::digest_of_hex(file.sha256);
    promised_ = wanted.promised.has_value();
    if (file.size > Bytes{}) wanted.size = file.size;
    wanted.boot = "boot";
    wanted.geometry = {Bytes{kPart}, Bytes{2 * kPart}, Bytes{8 * kPart}, Bytes{kPart}, 1};
    auto opened = transfer::Download::open(files_, std::move(frame.descriptors.at(0)),
                                           std::move(frame.descriptors.at(1)), std::move(wanted));
    if (!opened) return fail_with(opened.error());
    download_ = std::move(*opened);
    tell();
  }
  Result<> bring() {
    const std::optional<transfer::Range> range = download_->next();
    if (!range) return {};
    const Result<transfer::Answered> answered =
        download_->answered({Bytes{content_->size()}, "\"v1\""});
    if (!answered) return Failed{answered.error()};
    if (*answered == transfer::Answered::kGoOn && range->begin < content_->size()) {
      const std::uint64_t end = std::min(range->end.value_or(content_->size()),
                                         std::min(range->begin + kStep, content_->size()));
      std::string bytes = content_->substr(range->begin, end - range->begin);
      if (std::exchange(flip_, false)) bytes.front() = static_cast<char>(bytes.front() ^ 1);
      web_.received += bytes.size();
      const auto taken = download_->arrived(range->id, std::as_bytes(std::span{bytes}));
      if (!taken) return Failed{taken.error()};
    }
    return download_->ended(range->id, transfer::HowEnded::kCut);
  }
  void tell() {
    const transfer::DownloadState state = download_->state();
    wire::Fetching fetching;
    const bool verify = state.stage == transfer::DownloadState::Stage::kVerify;
    fetching.stage = verify ? "verify" : "download";
    fetching.done = verify ? state.hashed : state.arrived;
    fetching.total = state.total.value_or(Bytes{});
    fetching.received = state.received;
    say(wire::FrameType::kFetching, wire::encode(fetching));
  }
  void finish() {
    const Bytes received = download_->state().received;
    const Result<transfer::Finished> finished = download_->finish();
    if (!finished) return fail_with(finished.error());
    download_.reset();
    say(wire::FrameType::kFetched,
        wire::encode(wire::Fetched{hex_of(finished->sha256), finished->validator, finished->size,
                                   received}));
  }

  SimWeb& web_;
  const Files& files_;
  Fd ours_;
  Fd theirs_;
  std::unique_ptr<wire::BlockingChannel> channel_;
  std::uint64_t request_ = 0;
  const std::string* content_ = nullptr;
  std::unique_ptr<transfer::Download> download_;
  bool promised_ = false;
  bool flip_ = false;
};

class SimFetchers : public Processes {
 public:
  SimFetchers(SimEventLoop& loop, SimWeb& web, const Files& files)
      : loop_{loop}, web_{web}, files_{files} {}

  Result<std::unique_ptr<Process>> spawn(const ProcessSpec&) override {
    ++spawned_;
    return std::unique_ptr<Process>{std::make_unique<Watched>(web_, files_, living_)};
  }
  int spawned() const { return spawned_; }
  std::size_t living() const { return living_.size(); }
  int fetching() const {
    return static_cast<int>(std::ranges::count_if(
        living_, [](const SimFetcher* fetcher) { return fetcher->is_fetching(); }));
  }

  // Runs loop and fetchers until neither has anything to do at this moment.
  void settle() {
    for (bool busy = true; busy;) {
      loop_.run_ready();
      busy = false;
      for (SimFetcher* fetcher : std::vector<SimFetcher*>{living_}) {
        busy = fetcher->look() || busy;
        if (!fetcher->has_answered()) continue;
        loop_.make_readable(fetcher->control());
        busy = true;
      }
    }
  }
  // Some bytes for each, a hundredth of a second later.
  void step() {
    for (SimFetcher* fetcher : std::vector<SimFetcher*>{living_}) fetcher->step();
    settle();
    loop_.run_for(std::chrono::milliseconds{10});
    settle();
  }
  void steps(int n) {
    for (int i = 0; i < n; ++i) step();
  }

 private:
  class Watched : public SimFetcher {
   public:
    Watched(SimWeb& web, const Files& files, std::vector<SimFetcher*>& living)
        : SimFetcher{web, files}, living_{living} {
      living_.push_back(this);
    }
    ~Watched() override { std::erase(living_, this); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    std::vector<SimFetcher*>& living_;
  };

  SimEventLoop& loop_;
  SimWeb& web_;
  const Files& files_;
  std::vector<SimFetcher*> living_;
  int spawned_ = 0;
};

}  // namespace hearth::front::testing
