// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fetcher/connections.h"
#include "fetcher/listener.h"
#include "transfer/download.h"

namespace hearth::fetcher {

// What the lanes of one file share.
struct Course {
  transfer::Download& download;
  Url url;
  std::vector<wire::HttpField> headers;
  std::string promised;         // SHA-256 in hexadecimal, or empty
  bool streams = false;         // the server does not give ranges
  std::optional<Url> led_to;    // where `url` led when it last went well; it may expire
  std::optional<Error> failed;  // nothing more can come of it, whatever the server does
};

// One range of a file on its way: the answer is held against what was asked for, and its bytes go
// to the download.
class Lane : public Listener {
 public:
  Lane(Course& course, transfer::Range range);
  ~Lane() override;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void begin(Connections& connections);
  // To be called when the hash has moved.
  void tend();

  bool over() const { return over_; }
  // When over(): why it was not as it should be.
  const std::optional<Trouble>& trouble() const { return trouble_; }
  // Its trouble was that an address had expired.
  bool expired() const { return expired_; }
  Bytes brought() const { return Bytes{brought_}; }
  TimePoint begun() const { return begun_; }

  Verdict on_redirect(const ResponseHead& head) override;
  Verdict on_head(const ResponseHead& head, const Url& url) override;
  Verdict on_bytes(std::span<const std::byte> bytes) override;
  void on_end(Ended ended) override;

 private:
  Request request() const;
  Verdict on_part(const ResponseHead& head, const Url& url);
  Verdict on_whole(const ResponseHead& head, const Url& url);
  Verdict on_no_such_range(const ResponseHead& head, const Url& url);
  Verdict on_status(const ResponseHead& head, const Url& url);
  Verdict tell(const ResponseHead& head, std::optional<std::uint64_t> size);
  Verdict stop(Trouble trouble);
  void end_range(transfer::HowEnded how);

  Course& course_;
  const transfer::Range range_;
  TimePoint begun_{};
  std::uint64_t brought_ = 0;
  std::optional<std::uint64_t> announced_;  // bytes of the answer
  bool shortened_ = false;                  // asked where the URL led last time
  bool stopped_ = false;
  bool expired_ = false;
  bool over_ = false;
  std::optional<Trouble> trouble_;
  std::unique_ptr<Exchange> exchange_;  // the last, so that it goes first
};

}  // namespace hearth::fetcher
