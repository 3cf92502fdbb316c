// SPDX-License-Identifier: Apache-2.0
#include "fetcher/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace hearth::fetcher {

using transfer::Answered;
using transfer::Flow;
using transfer::HowEnded;
using transfer::Taken;

namespace {

std::string validator_of(const ResponseHead& head) {
  const std::string tag = head.field("etag");
  return tag.empty() ? head.field("last-modified") : tag;
}

Error unavailable(std::string message) {
  return Error{ErrorCode::kUnavailable, std::move(message)};
}

bool may_go_better_later(int status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

}  // namespace

Lane::Lane(Course& course, transfer::Range range) : course_{course}, range_{range} {}

Lane::~Lane() {
  exchange_.reset();
  if (!over_) end_range(HowEnded::kCut);
}

void Lane::begin(Connections& connections) {
  begun_ = connections.now();
  shortened_ = course_.led_to.has_value();
  exchange_ = connections.start(request(), *this);
}

Request Lane::request() const {
  Request request{course_.url, course_.headers, {}, {}, course_.led_to};
  if (course_.streams) return request;
  request.range = fmt::format("{}-", range_.begin);
  if (range_.end) request.range += fmt::format("{}", *range_.end - 1);
  // Where a digest was promised that decides, and the tags of a content network's many servers need
  // not agree.
  const std::string& tag = course_.download.validator();
  if (course_.promised.empty() && is_strong_etag(tag)) request.if_range = tag;
  return request;
}

void Lane::tend() {
  if (over_ || !exchange_) return;
  switch (course_.download.flow(range_.id)) {
    case Flow::kGo:
      exchange_->resume();
      break;
    case Flow::kHold:
      break;
    case Flow::kEnd:
      exchange_.reset();
      on_end({});
      break;
  }
}

Verdict Lane::on_redirect(const ResponseHead& head) {
  // The Hub says in its redirect what is behind it, long before that has come.
  const std::string field = head.field("x-linked-etag");
  const std::string_view linked = trimmed(field, "\"");
  if (course_.promised.empty() || !transfer::digest_of_hex(linked)) return Verdict::kGoOn;
  if (linked == course_.promised) return Verdict::kGoOn;
  return stop(hopeless(
      Error{ErrorCode::kCorrupt, fmt::format("{} has another file there by now: its SHA-256 is {}, "
                                             "promised was {}",
                                             course_.url.server(), linked, course_.promised)}));
}

Verdict Lane::on_head(const ResponseHead& head, const Url& url) {
  if (course_.download.flow(range_.id) == Flow::kEnd) return Verdict::kStop;
  const std::string coding = head.field("content-encoding");
  const bool good = head.status == 200 || head.status == 206;
  if (good && !coding.empty() && coding != "identity") {
    return stop(hopeless(
        Error{ErrorCode::kUnsupported,
              fmt::format("{} sends the file in the encoding {:.40}, which was not asked for",
                          url.server(), coding)}));
  }
  switch (head.status) {
    case 206:
      return on_part(head, url);
    case 200:
      return on_whole(head, url);
    case 416:
      return on_no_such_range(head, url);
    default:
      return on_status(head, url);
  }
}

Verdict Lane::on_part(const ResponseHead& head, const Url& url) {
  const auto range = ContentRange::parse(head.field("content-range"));
  if (!range || !range->first) {
    return stop(passing(unavailable(url.server() + " sent a part without saying which")));
  }
  const std::uint64_t length = *range->last - *range->first + 1;
  if (*range->first != range_.begin || (range_.end && *range->last >= *range_.end) ||
      head.content_length().value_or(length) != length) {
    return stop(
        passing(unavailable(fmt::format("{} sent the bytes {}-{} when those from {} were asked for",
                                        url.server(), *range->first, *range->last, range_.begin))));
  }
  announced_ = length;
  const Verdict verdict = tell(head, range->whole);
  if (verdict == Verdict::kGoOn && url.text() != course_.url.text()) course_.led_to = url;
  return verdict;
}

// Either that is all the server can do, or there is another version now.
Verdict Lane::on_whole(const ResponseHead& head, const Url& url) {
  const Verdict verdict = tell(head, head.content_length());
  if (verdict != Verdict::kGoOn) return verdict;
  announced_ = head.content_length();
  if (!course_.streams) course_.download.stream_instead(range_.id);
  course_.streams = true;
  if (url.text() != course_.url.text()) course_.led_to = url;
  return verdict;
}

Verdict Lane::on_no_such_range(const ResponseHead& head, const Url& url) {
  const auto range = ContentRange::parse(head.field("content-range"));
  if (range && range->whole) {
    const Verdict verdict = tell(head, range->whole);
    if (verdict != Verdict::kGoOn || *range->whole == 0) return Verdict::kStop;
  } else if (range_.begin == 0 && !course_.streams) {
    course_.download.stream_instead(range_.id);
    course_.streams = true;
    return Verdict::kStop;
  }
  return stop(passing(
      unavailable(fmt::format("{} answered 416 to a range that it should have", url.server()))));
}

Verdict Lane::on_status(const ResponseHead& head, const Url& url) {
  Error error = unavailable(fmt::format("{} answered {}", url.server(), status_words(head.status)));
  if (may_go_better_later(head.status)) {
    Trouble trouble = passing(std::move(error));
    trouble.retry_after = head.retry_after;
    trouble.overloaded = head.status == 429 || head.status == 503;
    return stop(std::move(trouble));
  }
  if (shortened_ && head.status >= 400) {
    expired_ = true;
    return stop(passing(std::move(error)));
  }
  const bool missing = head.status == 404 || head.status == 410;
  return stop(hopeless(missing ? Error{ErrorCode::kNotFound, error.message()} : std::move(error)));
}

Verdict Lane::tell(const ResponseHead& head, std::optional<std::uint64_t> size) {
  transfer::Answer answer;
  if (size) answer.size = Bytes{*size};
  answer.validator = validator_of(head);
  Result<Answered> answered = course_.download.answered(answer);
  if (!answered) course_.failed = std::move(answered).error();
  stopped_ = !answered || *answered == Answered::kBegunAnew;
  return stopped_ ? Verdict::kStop : Verdict::kGoOn;
}

Verdict Lane::on_bytes(std::span<const std::byte> bytes) {
  const Flow flow = course_.download.flow(range_.id);
  if (flow == Flow::kHold) return Verdict::kHold;
  brought_ += bytes.size();
  if (flow == Flow::kEnd) stopped_ = true;
  if (stopped_) return Verdict::kStop;
  Result<Taken> taken = course_.download.arrived(range_.id, bytes);
  if (!taken) course_.failed = std::move(taken).error();
  stopped_ = !taken || *taken == Taken::kEnough;
  return stopped_ ? Verdict::kStop : Verdict::kGoOn;
}

void Lane::on_end(Ended ended) {
  if (over_) return;
  over_ = true;
  if (!trouble_) trouble_ = std::move(ended.trouble);
  const bool cut_short = ended.whole && !stopped_ && announced_.value_or(brought_) > brought_;
  if (cut_short && !trouble_) {
    trouble_ = passing(unavailable(course_.url.server() + " sent less than it had announced"));
  }
  end_range(ended.whole && !trouble_ ? HowEnded::kWhole : HowEnded::kCut);
}

Verdict Lane::stop(Trouble trouble) {
  stopped_ = true;
  trouble_ = std::move(trouble);
  return Verdict::kStop;
}

void Lane::end_range(HowEnded how) {
  Result<> ended = course_.download.ended(range_.id, how);
  if (!ended && !course_.failed) course_.failed = std::move(ended).error();
}

}  // namespace hearth::fetcher
