// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fetcher/host_gate.h"
#include "fetcher/listener.h"
#include "fetcher/response_head.h"
#include "fetcher/trouble.h"
#include "fetcher/url.h"
#include "wire/fetch_messages.h"

namespace hearth::fetcher {

class Connections;

struct Request {
  Url url;
  // Of the one who asks, credentials perhaps among them: to the URL's own server only. A redirect
  // to another scheme, host or port loses them for good.
  std::vector<wire::HttpField> headers;
  std::string range;     // "0-99", "100-"; empty: everything
  std::string if_range;  // a strong entity tag, or empty
  // Where `url` led last time: asked instead of it, as after a redirect.
  std::optional<Url> shortcut;
};

// One GET with the redirects that follow it. Dropping it ends it without a further call of its
// listener, which must outlive it, as must its Connections. Belongs to their thread.
class Exchange {
 public:
  Exchange(Connections& connections, Request request, Listener& listener);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Lets bytes come again after Verdict::kHold.
  void resume();

  // ---- for Connections ----
  void begin();
  void finished(CURLcode code);
  void give_up_if_stalled(TimePoint now);
  void resume_after_rate();
  bool held_by_rate() const { return held_by_rate_; }
  bool over() const { return over_; }
  // When it counts as stalled, if nothing comes until then.
  std::optional<TimePoint> deadline() const;

 private:
  struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  void ask(Url url, Reach reach);
  void set_options();
  void set_callbacks();
  void set_headers();
  void follow();
  void end(Listener::Ended ended);
  void fail_with(Trouble trouble) { end({false, std::move(trouble)}); }
  Trouble trouble_of(CURLcode code) const;

  std::size_t on_line(std::string_view line);
  std::size_t on_whole_head(std::size_t size);
  std::size_t on_body(std::span<const std::byte> bytes);
  curl_socket_t open_socket(curlsocktype purpose, const curl_sockaddr& address);

  Connections& connections_;
  const Request request_;
  Listener& listener_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  std::array<char, CURL_ERROR_SIZE> words_{};

  // Of the present hop.
  Url url_;
  Reach reach_ = Reach::kPublic;
  bool through_proxy_ = false;
  std::string refused_address_;
  HeadReader head_;
  bool head_done_ = false;
  bool redirected_ = false;
  std::uint64_t body_bytes_ = 0;

  bool own_origin_ = true;  // so far no hop led to another server
  int hops_ = 0;
  bool running_ = false;  // known to the multi handle
  bool stopped_ = false;
  bool over_ = false;
  bool held_by_rate_ = false;
  bool held_by_listener_ = false;
  std::optional<Trouble> trouble_;  // found in a callback
  TimePoint last_byte_;
};

}  // namespace hearth::fetcher
