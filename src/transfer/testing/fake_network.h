// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "transfer/download.h"

namespace hearth::transfer::testing {

using Content = std::vector<std::byte>;

inline Content content_of(Random& random, std::size_t size) {
  Content content(size);
  for (std::byte& byte : content) byte = static_cast<std::byte>(random.next());
  return content;
}

inline Digest digest_of(const Content& content) { return Sha256{}.add(content).finish(); }

// What a server has, and how much of HTTP it knows.
struct FakeServer {
  enum class Kind { kRanges, kWholeOnly, kWholeWithoutLength };
  Kind kind = Kind::kRanges;
  std::shared_ptr<const Content> content;  // shared with the answers under way
  std::string validator = "\"1\"";
};

// Of a thousand pieces.
struct Weather {
  int cuts = 0;
  int flips = 0;      // one bit of the piece
  int overshoot = 0;  // more than was asked for
};

// Carries bytes from a fake server to a download, in pieces and in an order that a seed decides,
// and runs the hash in between. Belongs to one thread; one step() of the two sides may also be left
// to others.
class FakeNetwork {
 public:
  FakeNetwork(FakeServer& server, Download& download, Random& random, Weather weather = {})
      : server_{server}, download_{download}, random_{random}, weather_{weather} {}

  // At most `steps`; kWait when they were not enough.
  Result<HashStep> run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (random_.next() % 3 == 0) {
        const Result<HashStep> hashed = download_.hash_some();
        if (!hashed || *hashed == HashStep::kComplete) return hashed;
      }
      const Result<> moved = step();
      if (!moved) return Failed{moved.error()};
    }
    return HashStep::kWait;
  }

  // One of the connections begins, goes on or ends.
  Result<> step() {
    std::optional<Connection>& connection = connections_[random_.next() % kConnections];
    if (!connection) {
      if (const std::optional<Range> range = download_.next()) connection = Connection{*range};
      return {};
    }
    const Flow flow = download_.flow(connection->range.id);
    if (flow == Flow::kHold) return {};
    if (flow == Flow::kEnd || chance(weather_.cuts)) return end(connection, HowEnded::kCut);
    return connection->content ? carry(connection) : answer(connection);
  }

  // What the server has sent, flipped or not.
  std::size_t sent() const { return sent_; }

 private:
  static constexpr std::size_t kConnections = 3;
  static constexpr std::size_t kLongestPiece = 700;

  struct Connection {
    Range range;
    std::uint64_t position = 0;
    std::shared_ptr<const Content> content{};
  };

  bool chance(int of_thousand) { return static_cast<int>(random_.next() % 1000) < of_thousand; }

  Result<> end(std::optional<Connection>& connection, HowEnded how) {
    const std::uint64_t id = connection->range.id;
    connection.reset();
    return download_.ended(id, how);
  }

  Result<> answer(std::optional<Connection>& connection) {
    Answer answer;
    answer.validator = server_.validator;
    const std::size_t size = server_.content->size();
    if (server_.kind != FakeServer::Kind::kWholeWithoutLength) answer.size = Bytes{size};
    const Result<Answered> answered = download_.answered(answer);
    if (!answered) return Failed{answered.error()};
    if (*answered == Answered::kBegunAnew) return end(connection, HowEnded::kCut);
    connection->content = server_.content;
    if (server_.kind != FakeServer::Kind::kRanges) {
      connection->range = download_.stream_instead(connection->range.id);
    }
    connection->position = connection->range.begin;
    return {};
  }

  Result<> carry(std::optional<Connection>& connection) {
    const Content& content = *connection->content;
    std::size_t end_at =
        std::min<std::size_t>(connection->range.end.value_or(content.size()), content.size());
    if (chance(weather_.overshoot)) end_at = std::min(content.size(), end_at + kLongestPiece);
    if (connection->position >= end_at) return end(connection, HowEnded::kWhole);
    const std::size_t count =
        std::min<std::size_t>(1 + random_.next() % kLongestPiece, end_at - connection->position);
    const auto from = content.begin() + static_cast<std::ptrdiff_t>(connection->position);
    Content piece{from, from + static_cast<std::ptrdiff_t>(count)};
    if (chance(weather_.flips)) piece[random_.next() % count] ^= std::byte{4};
    sent_ += count;
    connection->position += count;
    const Result<Taken> taken = download_.arrived(connection->range.id, piece);
    if (!taken) return Failed{taken.error()};
    return *taken == Taken::kEnough ? end(connection, HowEnded::kWhole) : Result<>{};
  }

  FakeServer& server_;
  Download& download_;
  Random& random_;
  const Weather weather_;
  std::optional<Connection> connections_[kConnections];
  std::size_t sent_ = 0;
};

}  // namespace hearth::transfer::testing
