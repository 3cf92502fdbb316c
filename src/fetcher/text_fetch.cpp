// SPDX-License-Identifier: Apache-2.0
#include "fetcher/text_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/size_text.h"
#include "fetcher/patience.h"

namespace hearth::fetcher {
namespace {

// Someone waits for an answer, and there is nothing yet that would be lost.
constexpr int kMostRetries = 2;
constexpr std::chrono::milliseconds kStep{1000};

class Text : public Listener {
 public:
  explicit Text(Bytes limit) : limit_{limit} {}

  Verdict on_head(const ResponseHead& head, const Url& url) override {
    server_ = url.server();
    text_.status = head.status;
    text_.headers = head.fields;
    text_.url = url.text();
    const std::string coding = head.field("content-encoding");
    if (!coding.empty() && coding != "identity") {
      return refuse(fmt::format("{} answers in the encoding {:.40}, which was not asked for",
                                server_, coding));
    }
    if (head.content_length().value_or(0) > limit_.count()) return refuse_size();
    return Verdict::kGoOn;
  }

  Verdict on_bytes(std::span<const std::byte> bytes) override {
    if (text_.body.size() + bytes.size() > limit_.count()) return refuse_size();
    text_.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Verdict::kGoOn;
  }

  void on_end(Ended ended) override {
    over_ = true;
    if (!trouble_) trouble_ = std::move(ended.trouble);
  }

  bool over() const { return over_; }
  std::optional<Trouble>& trouble() { return trouble_; }
  wire::FetchedText take() { return std::move(text_); }

 private:
  Verdict refuse(std::string why) {
    trouble_ = hopeless(Error{ErrorCode::kUnsupported, std::move(why)});
    return Verdict::kStop;
  }
  Verdict refuse_size() {
    return refuse(fmt::format("{} answers with more than {}", server_, size_text(limit_)));
  }

  const Bytes limit_;
  std::string server_;
  wire::FetchedText text_;
  std::optional<Trouble> trouble_;
  bool over_ = false;
};

void wait(Connections& connections, std::chrono::milliseconds time) {
  const TimePoint end = connections.now() + time;
  for (TimePoint now = connections.now(); now < end; now = connections.now()) {
    connections.step(std::chrono::ceil<std::chrono::milliseconds>(end - now));
  }
}

}  // namespace

Result<wire::FetchedText> fetch_text(Connections& connections, const wire::FetchText& what,
                                     const wire::FetchRules& rules) {
  Result<Url> url = Url::parse(what.url);
  if (!url) return Failed{std::move(url).error()};
  Patience patience{std::min(rules.retries, kMostRetries),
                    std::chrono::milliseconds{rules.retry_ms}};
  for (;;) {
    Text text{what.limit};
    const auto exchange = connections.start({*url, what.headers, {}, {}, {}}, text);
    while (!text.over()) connections.step(kStep);
    std::optional<Trouble>& trouble = text.trouble();
    if (!trouble) return text.take();
    if (trouble->hope == Trouble::Hope::kNone) return Failed{std::move(trouble->error)};
    const auto pause = patience.failed({});
    if (!pause) return Failed{std::move(trouble->error)};
    wait(connections, *pause);
  }
}

}  // namespace hearth::fetcher
