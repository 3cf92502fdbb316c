// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstdint>
#include <string>

namespace hearth::http {

// A body for Beast's parser: a string that grows with what arrives. Beast's own string_body takes
// the whole announced length at once, which a client gets for the price of a header.
struct GrowingBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool IsRequest, class Fields>
    reader(boost::beast::http::header<IsRequest, Fields>& /*header*/, value_type& body)
        : body_{body} {}

    void init(const boost::optional<std::uint64_t>& length, boost::beast::error_code& error) {
      if (length) length_ = *length;
      error = {};
    }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      error = {};
      const std::size_t n = boost::beast::buffer_bytes(buffers);
      make_room(n);
      for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
      }
      return n;
    }

    void finish(boost::beast::error_code& error) { error = {}; }

   private:
    // Doubles, but never beyond the announced length.
    void make_room(std::size_t n) {
      const std::size_t needed = body_.size() + n;
      if (needed <= body_.capacity()) return;
      const std::uint64_t doubled = std::min<std::uint64_t>(2 * body_.capacity(), length_);
      body_.reserve(std::max<std::size_t>(needed, doubled));
    }

    value_type& body_;
    std::uint64_t length_ = std::string{}.max_size();
  };
};

}  // namespace hearth::http
