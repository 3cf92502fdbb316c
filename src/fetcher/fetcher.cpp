// SPDX-License-Identifier: Apache-2.0
#include "fetcher/fetcher.h"

#include <unistd.h>

#include <csignal>
#include <memory>
#include <utility>

#include "base/result.h"
#include "fetcher/connections.h"
#include "fetcher/file_fetch.h"
#include "fetcher/inbox.h"
#include "fetcher/text_fetch.h"
#include "wire/fetch_messages.h"
#include "wire/messages.h"

namespace hearth::fetcher {
namespace {

using wire::Frame;
using wire::FrameType;

// What holds between two requests: rules, and connections that may be used again.
class Session {
 public:
  explicit Session(wire::BlockingChannel& channel) : channel_{channel} {}

  void answer(Frame frame) {
    const std::uint64_t id = frame.request;
    Result<Frame> answer = answer_to(std::move(frame));
    if (answer) {
      send(*answer);
      return;
    }
    wire::FailedMessage failed;
    failed.code = name_of(answer.error().code());
    failed.message = answer.error().message();
    send(wire::make_frame(FrameType::kFailed, id, wire::encode(failed)));
  }

  // Errors come with the first request that needs the rules.
  void set_rules(const Frame& frame) {
    connections_.reset();
    ready_ = decode_rules(frame);
    if (ready_) connections_ = std::make_unique<Connections>(settings_);
  }

 private:
  Result<> decode_rules(const Frame& frame) {
    Result<wire::FetchRules> rules = wire::decode_fetch_rules(frame.payload);
    if (!rules) return Failed{std::move(rules).error()};
    Result<HttpSettings> settings = HttpSettings::of(*rules, environment_variable);
    if (!settings) return Failed{std::move(settings).error()};
    rules_ = *std::move(rules);
    settings_ = *std::move(settings);
    return {};
  }

  Result<Frame> answer_to(Frame frame) {
    if (!ready_) return Failed{ready_.error()};
    switch (frame.type) {
      case FrameType::kFetchText:
        return text(frame);
      case FrameType::kFetchFile:
        return file(std::move(frame));
      default:
        return fail(ErrorCode::kInternal, "a frame that the fetcher has no answer to");
    }
  }

  Result<Frame> text(const Frame& frame) {
    const Result<wire::FetchText> what = wire::decode_fetch_text(frame.payload);
    if (!what) return Failed{what.error()};
    const Result<wire::FetchedText> text = fetch_text(*connections_, *what, rules_);
    if (!text) return Failed{text.error()};
    return wire::make_frame(FrameType::kFetchedText, frame.request, wire::encode(*text));
  }

  Result<Frame> file(Frame frame) {
    const Result<wire::FetchFile> what = wire::decode_fetch_file(frame.payload);
    if (!what) return Failed{what.error()};
    if (frame.descriptors.size() != 2) {
      return fail(ErrorCode::kInternal, "a file needs the descriptors of its data and its journal");
    }
    FileTarget target{std::move(frame.descriptors[0]), std::move(frame.descriptors[1]), {}, {}};
    target.progress = [this, id = frame.request](const wire::Fetching& fetching) {
      send(wire::make_frame(FrameType::kFetching, id, wire::encode(fetching)));
    };
    FileFetch fetch{*connections_, rules_, std::move(target)};
    const Result<wire::Fetched> fetched = fetch.run(*what);
    if (!fetched) return Failed{fetched.error()};
    return wire::make_frame(FrameType::kFetched, frame.request, wire::encode(*fetched));
  }

  void send(const Frame& frame) {
    if (!channel_.send(frame)) ::_exit(0);
  }

  wire::BlockingChannel& channel_;
  Result<> ready_ = fail(ErrorCode::kInternal, "the fetcher was not told its rules");
  wire::FetchRules rules_;
  HttpSettings settings_;
  std::unique_ptr<Connections> connections_;
};

}  // namespace

void run(int socket) {
  // A peer that closes a connection is an error of that connection.
  std::signal(SIGPIPE, SIG_IGN);
  wire::BlockingChannel channel{socket};
  Inbox inbox{channel};
  Session session{channel};
  for (;;) {
    Frame frame = inbox.next();
    if (frame.type == FrameType::kFetchRules) {
      session.set_rules(frame);
    } else {
      session.answer(std::move(frame));
    }
  }
}

}  // namespace hearth::fetcher
