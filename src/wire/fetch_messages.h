// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

// Between the front and the fetcher, the one process that talks to other machines. The fetcher is
// ended by SIGKILL when a pull is paused: what it had written by then counts.
namespace hearth::wire {

// The longest text that fits into a frame with room to spare.
constexpr Bytes kMaxFetchedText{std::uint64_t{32} << 20};

struct HttpField {
  std::string name;
  std::string value;

  friend bool operator==(const HttpField&, const HttpField&) = default;
};

// How the fetcher may behave; sent once, before all else.
struct FetchRules {
  // Hosts that may be asked, in HostRule's form; redirects may also lead to any public address over
  // https.
  std::vector<std::string> hosts;
  std::string user_agent;
  int connections = 4;     // at once, to one server
  Bytes bytes_per_second;  // zero: no limit
  int stall_ms = 30'000;   // without a byte; then a connection is given up and begun anew
  int retries = 6;         // in a row, without any progress
  int retry_ms = 1000;     // before the first; doubles, up to a minute
};

// A small text: an index, a manifest, a token. Answered by kFetchedText or kFailed.
struct FetchText {
  std::string url;
  std::vector<HttpField> headers;  // credentials are sent to the URL's own host only
  Bytes limit;                     // a longer answer is an error; at most kMaxFetchedText
};
// Any status at all: what it means is for the caller.
struct FetchedText {
  int status = 0;
  std::vector<HttpField> headers;  // names in lower case
  std::string body;                // byte for byte, whatever they are
  std::string url;                 // after redirects
};

// A file, into two descriptors that come along: the data, then its journal of parts. Answered by
// kFetching at most ten times a second, then kFetched or kFailed. Whatever is right of what these
// two files hold already is not fetched again.
struct FetchFile {
  std::string url;
  std::vector<HttpField> headers;
  std::string sha256;  // promised; empty: any content will do
  Bytes size;          // zero: as the server says
};
struct Fetching {
  std::string stage;  // "download", "verify"
  Bytes done;         // arrived and right, as far as is known; `verify`: hashed
  Bytes total;        // zero: not known yet
  Bytes received;     // over the network since kFetchFile
  int connections = 0;
  std::string note;  // why nothing moves: "waiting 8 s: 429 Too Many Requests"; usually empty
};
// Complete, checked and synced.
struct Fetched {
  std::string sha256;
  std::string etag;
  Bytes size;
  Bytes received;
};

std::string encode(const FetchRules& m);
std::string encode(const FetchText& m);
std::string encode(const FetchedText& m);
std::string encode(const FetchFile& m);
std::string encode(const Fetching& m);
std::string encode(const Fetched& m);

// Errors: kCorrupt, naming the member at fault.
Result<FetchRules> decode_fetch_rules(const std::string& payload);
Result<FetchText> decode_fetch_text(const std::string& payload);
Result<FetchedText> decode_fetched_text(const std::string& payload);
Result<FetchFile> decode_fetch_file(const std::string& payload);
Result<Fetching> decode_fetching(const std::string& payload);
Result<Fetched> decode_fetched(const std::string& payload);

}  // namespace hearth::wire
