// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/fetch_messages.h"

namespace hearth::fetcher {

// What a server says before the body.
struct ResponseHead {
  int status = 0;
  std::vector<wire::HttpField> fields;  // names in lower case, in the order they came
  std::optional<std::chrono::seconds> retry_after;

  // The first of that name, or empty.
  std::string field(std::string_view name) const;
  // Nothing where there is none, or no number.
  std::optional<std::uint64_t> content_length() const;
};

// "403 Forbidden"; the number alone where the status is not a usual one. The server's own words are
// not repeated: they may be anything.
std::string status_words(int status);

// Collects the lines of a head. Not thread-safe.
class HeadReader {
 public:
  // One line as it came, with its end. A status line begins anew: what came before was an
  // intermediate answer. Errors: kUnavailable, for a head without end.
  Result<> add(std::string_view line);

  const ResponseHead& head() const { return head_; }
  ResponseHead& head() { return head_; }

 private:
  std::size_t size_ = 0;
  ResponseHead head_;
};

// Of a 206: "bytes 0-99/1000"; of a 416: "bytes */1000".
struct ContentRange {
  std::optional<std::uint64_t> first;
  std::optional<std::uint64_t> last;   // there when `first` is
  std::optional<std::uint64_t> whole;  // nothing for "*"

  // Nothing for what makes no sense.
  static std::optional<ContentRange> parse(std::string_view text);

  friend bool operator==(const ContentRange&, const ContentRange&) = default;
};

// Whether it may be sent in If-Range: an entity tag that promises equal bytes.
bool is_strong_etag(std::string_view text);

// A header as its sender wants it. Errors: kInvalid, without repeating the value.
Result<> check_header(const wire::HttpField& header);

}  // namespace hearth::fetcher
