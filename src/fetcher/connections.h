// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "fetcher/exchange.h"
#include "fetcher/host_gate.h"
#include "fetcher/proxy.h"
#include "fetcher/token_bucket.h"
#include "wire/fetch_messages.h"

namespace hearth::fetcher {

struct HttpSettings {
  HostGate gate;
  std::string user_agent;
  std::chrono::milliseconds stall{30'000};
  Bytes bytes_per_second;  // of all connections together; zero: no limit
  Environment environment = environment_variable;
  std::string ca_file;  // empty: the system's
  std::string ca_directory;
  // For tests: "host:port:address", in place of asking for the name's address.
  std::vector<std::string> known_addresses;

  // Certificates are named by CURL_CA_BUNDLE or SSL_CERT_FILE, and SSL_CERT_DIR. Errors: kInvalid.
  static Result<HttpSettings> of(const wire::FetchRules& rules, Environment environment);
};

// All connections to servers, used again where that is possible. One thread; wake() alone may be
// called from others.
class Connections {
 public:
  explicit Connections(HttpSettings settings);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Its listener hears of it in step(); of a request that is refused, at once.
  std::unique_ptr<Exchange> start(Request request, Listener& listener);

  // Waits for something to happen, but no longer than `most`, and does what is to be done.
  void step(std::chrono::milliseconds most);

  // Ends a step() early, the next one if none is under way.
  void wake() { curl_multi_wakeup(multi_.get()); }

  // ---- for Exchange ----
  CURLM* multi() { return multi_.get(); }
  const HttpSettings& settings() const { return settings_; }
  curl_slist* known_addresses() const { return known_addresses_.get(); }
  TimePoint now() const { return Clock::real().now(); }
  bool may_take() { return bucket_.wait(now()) == Duration{}; }
  void took(Bytes bytes) { bucket_.take(bytes); }
  void add(Exchange& exchange) { exchanges_.push_back(&exchange); }
  void remove(Exchange& exchange) { std::erase(exchanges_, &exchange); }

 private:
  struct FreeMulti {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };
  std::chrono::milliseconds time_to_wait(std::chrono::milliseconds most);
  void resume_those_held_by_rate();
  void take_messages();

  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  const HttpSettings settings_;
  TokenBucket bucket_;
  std::unique_ptr<curl_slist, FreeList> known_addresses_;
  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::vector<Exchange*> exchanges_;  // each removes itself
};

}  // namespace hearth::fetcher
