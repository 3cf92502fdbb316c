// SPDX-License-Identifier: Apache-2.0
#include "fetcher/connections.h"

#include <algorithm>
#include <utility>

namespace hearth::fetcher {
namespace {

// Once a process, before any thread of ours may use the library.
void prepare_library() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(ready);
}

CURLM* new_multi() {
  prepare_library();
  return curl_multi_init();
}

}  // namespace

Result<HttpSettings> HttpSettings::of(const wire::FetchRules& rules, Environment environment) {
  Result<HostGate> gate = HostGate::of(rules.hosts);
  if (!gate) return Failed{std::move(gate).error()};
  HttpSettings settings;
  settings.gate = *std::move(gate);
  settings.user_agent = rules.user_agent;
  settings.stall = std::chrono::milliseconds{rules.stall_ms};
  settings.bytes_per_second = rules.bytes_per_second;
  settings.ca_file = environment("CURL_CA_BUNDLE");
  if (settings.ca_file.empty()) settings.ca_file = environment("SSL_CERT_FILE");
  settings.ca_directory = environment("SSL_CERT_DIR");
  settings.environment = std::move(environment);
  return settings;
}

Connections::Connections(HttpSettings settings)
    : settings_{std::move(settings)},
      bucket_{settings_.bytes_per_second, Clock::real().now()},
      multi_{new_multi()} {
  curl_slist* list = nullptr;
  for (const std::string& known : settings_.known_addresses) {
    list = curl_slist_append(list, known.c_str());
  }
  known_addresses_.reset(list);
}

Connections::~Connections() = default;

std::unique_ptr<Exchange> Connections::start(Request request, Listener& listener) {
  auto exchange = std::make_unique<Exchange>(*this, std::move(request), listener);
  exchange->begin();
  return exchange;
}

void Connections::step(std::chrono::milliseconds most) {
  resume_those_held_by_rate();
  const auto wait = static_cast<int>(time_to_wait(most).count());
  curl_multi_poll(multi_.get(), nullptr, 0, wait, nullptr);
  int running = 0;
  curl_multi_perform(multi_.get(), &running);
  take_messages();
  const TimePoint at = now();
  for (Exchange* exchange : exchanges_) exchange->give_up_if_stalled(at);
}

std::chrono::milliseconds Connections::time_to_wait(std::chrono::milliseconds most) {
  Duration wait = most;
  const TimePoint at = now();
  bool held = false;
  for (const Exchange* exchange : exchanges_) {
    held = held || exchange->held_by_rate();
    if (const auto deadline = exchange->deadline()) wait = std::min(wait, *deadline - at);
  }
  if (held) wait = std::min(wait, bucket_.wait(at));
  return std::chrono::ceil<std::chrono::milliseconds>(std::max(wait, Duration{}));
}

void Connections::resume_those_held_by_rate() {
  for (Exchange* exchange : exchanges_) {
    if (!may_take()) return;
    if (exchange->held_by_rate()) exchange->resume_after_rate();
  }
  // The first ones must not always be the first.
  if (!exchanges_.empty()) std::ranges::rotate(exchanges_, exchanges_.begin() + 1);
}

void Connections::take_messages() {
  // Collected first: what is done about one may change the list of messages.
  std::vector<std::pair<Exchange*, CURLcode>> ended;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Exchange* exchange = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
    ended.emplace_back(exchange, message->data.result);
  }
  for (const auto& [exchange, code] : ended) exchange->finished(code);
}

}  // namespace hearth::fetcher
