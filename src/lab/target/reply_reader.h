// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lab/target/dialect.h"
#include "lab/target/stream_client.h"
#include "lab/target/target.h"

namespace hearth::lab {

// Makes an Answer of a reply's lines. Belongs to one thread.
class ReplyReader {
 public:
  virtual ~ReplyReader() = default;

  virtual AfterLine line(std::string_view line, double ms) = 0;

  // What came so far, with `outcome` as its ending.
  Answer finish(const StreamOutcome& outcome);

  static std::unique_ptr<ReplyReader> of(Dialect dialect);

 protected:
  void text(std::string_view piece, double ms);
  // What a server says in the middle of a stream that was good until then.
  void fail(std::string message) { failure_ = std::move(message); }

  Answer answer_;

 private:
  std::optional<double> last_text_ms_;
  int pieces_ = 0;
  std::string failure_;
};

}  // namespace hearth::lab
