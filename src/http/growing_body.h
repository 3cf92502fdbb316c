// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace hearth::http {

// A text that takes memory as it grows, and never for more than `most` bytes.
struct GrowingText {
  std::string text;
  std::size_t most = std::string{}.max_size();
};

// A body for Beast's parser: a string that grows with what arrives. Beast's own string_body takes
// the whole announced length at once, which a client gets for the price of a header.
struct GrowingBody {
  using value_type = GrowingText;

  class reader {
   public:
    template <bool IsRequest, class Fields>
    reader(boost::beast::http::header<IsRequest, Fields>& /*header*/, value_type& body)
        : body_{body} {}

    void init(const boost::optional<std::uint64_t>& length, boost::beast::error_code& error) {
      if (length) body_.most = std::min<std::uint64_t>(body_.most, *length);
      error = {};
    }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      error = {};
      const std::size_t n = boost::beast::buffer_bytes(buffers);
      make_room(n);
      for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.text.append(static_cast<const char*>(buffer.data()), buffer.size());
      }
      return n;
    }

    void finish(boost::beast::error_code& error) { error = {}; }

   private:
    // Doubles, but never beyond `most`. A string that reserves more room by itself doubles, too,
    // but stops at nothing; a new one takes what it is told to.
    void make_room(std::size_t n) {
      std::string& text = body_.text;
      const std::size_t needed = text.size() + n;
      if (needed <= text.capacity()) return;
      std::string larger;
      larger.reserve(std::max(needed, std::min(2 * text.capacity(), body_.most)));
      larger += text;
      text = std::move(larger);
    }

    value_type& body_;
  };
};

}  // namespace hearth::http
