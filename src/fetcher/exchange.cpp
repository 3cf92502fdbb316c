// SPDX-License-Identifier: Apache-2.0
#include "fetcher/exchange.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include "fetcher/address.h"
#include "fetcher/connections.h"
#include "fetcher/curl_words.h"

namespace hearth::fetcher {
namespace {

constexpr int kMostRedirects = 10;
constexpr long kBuffer = 256 << 10;
constexpr std::uint64_t kLongestRedirectBody = 64 << 10;

bool is_redirect(const ResponseHead& head) {
  switch (head.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return !head.field("location").empty();
    default:
      return false;
  }
}

}  // namespace

Exchange::Exchange(Connections& connections, Request request, Listener& listener)
    : connections_{connections},
      request_{std::move(request)},
      listener_{listener},
      easy_{curl_easy_init()},
      url_{request_.url},
      last_byte_{connections.now()} {
  connections_.add(*this);
}

Exchange::~Exchange() {
  if (running_) curl_multi_remove_handle(connections_.multi(), easy_.get());
  connections_.remove(*this);
}

void Exchange::begin() {
  for (const wire::HttpField& header : request_.headers) {
    if (auto fit = check_header(header); !fit) return fail_with(hopeless(std::move(fit).error()));
  }
  Result<Reach> reach = connections_.settings().gate.first(request_.url);
  if (!reach) return fail_with(hopeless(std::move(reach).error()));
  if (!request_.shortcut) return ask(request_.url, *reach);
  reach = connections_.settings().gate.redirect(request_.url, *request_.shortcut);
  if (!reach) return fail_with(hopeless(std::move(reach).error()));
  own_origin_ = request_.shortcut->same_origin(request_.url);
  ask(*request_.shortcut, *reach);
}

void Exchange::ask(Url url, Reach reach) {
  url_ = std::move(url);
  reach_ = reach;
  refused_address_.clear();
  head_ = HeadReader{};
  head_done_ = false;
  redirected_ = false;
  body_bytes_ = 0;
  last_byte_ = connections_.now();
  set_options();
  set_headers();
  running_ = curl_multi_add_handle(connections_.multi(), easy_.get()) == CURLM_OK;
  if (!running_) {
    fail_with(hopeless(Error{ErrorCode::kInternal, "cannot begin to ask " + url_.server()}));
  }
}

void Exchange::set_options() {
  CURL* easy = easy_.get();
  const HttpSettings& settings = connections_.settings();
  const std::string proxy = proxy_for(url_, settings.environment);
  through_proxy_ = !proxy.empty();
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  set(CURLOPT_URL, url_.text().c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  // Said always, so that the library does not look into the environment by itself.
  set(CURLOPT_PROXY, proxy.c_str());
  set(CURLOPT_NOPROXY, "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_USERAGENT, settings.user_agent.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_BUFFERSIZE, kBuffer);
  set(CURLOPT_RESOLVE, connections_.known_addresses());
  set(CURLOPT_ERRORBUFFER, words_.data());
  set(CURLOPT_PRIVATE, this);
  if (!settings.ca_file.empty()) set(CURLOPT_CAINFO, settings.ca_file.c_str());
  if (!settings.ca_directory.empty()) set(CURLOPT_CAPATH, settings.ca_directory.c_str());
  set_callbacks();
}

void Exchange::set_callbacks() {
  CURL* easy = easy_.get();
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  set(CURLOPT_HEADERDATA, this);
  set(
      CURLOPT_HEADERFUNCTION, +[](char* data, std::size_t, std::size_t size, Exchange* self) {
        return self->on_line({data, size});
      });
  set(CURLOPT_WRITEDATA, this);
  set(
      CURLOPT_WRITEFUNCTION, +[](char* data, std::size_t, std::size_t size, Exchange* self) {
        return self->on_body(std::as_bytes(std::span{data, size}));
      });
  set(CURLOPT_OPENSOCKETDATA, this);
  set(
      CURLOPT_OPENSOCKETFUNCTION, +[](Exchange* self, curlsocktype purpose, curl_sockaddr* to) {
        return self->open_socket(purpose, *to);
      });
}

void Exchange::set_headers() {
  curl_slist* list = nullptr;
  const auto add = [&list](const std::string& name, const std::string& value) {
    // The library's way to send one without a value.
    const std::string line = value.empty() ? name + ';' : fmt::format("{}: {}", name, value);
    list = curl_slist_append(list, line.c_str());
  };
  add("Accept-Encoding", "identity");
  if (!request_.range.empty()) add("Range", "bytes=" + request_.range);
  if (!request_.if_range.empty()) add("If-Range", request_.if_range);
  for (const wire::HttpField& header : request_.headers) {
    if (own_origin_) add(header.name, header.value);
  }
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, list);
  headers_.reset(list);
}

curl_socket_t Exchange::open_socket(curlsocktype purpose, const curl_sockaddr& to) {
  if (purpose != CURLSOCKTYPE_IPCXN) return CURL_SOCKET_BAD;
  // What a name resolved to is known only here. A proxy's own address is its owner's business.
  if (reach_ == Reach::kPublic && !through_proxy_) {
    const std::optional<Address> address = Address::of(to.addr);
    if (!address || !address->is_public()) {
      refused_address_ = address ? address->text() : "no internet address";
      return CURL_SOCKET_BAD;
    }
  }
  return ::socket(to.family, to.socktype | SOCK_CLOEXEC, to.protocol);
}

std::size_t Exchange::on_line(std::string_view line) {
  last_byte_ = connections_.now();
  if (head_done_) return line.size();  // a trailer
  if (auto added = head_.add(line); !added) {
    trouble_ = hopeless(
        Error{added.error().code(), fmt::format("{} {}", url_.server(), added.error().message())});
    return 0;
  }
  const bool blank = line == "\r\n" || line == "\n";
  if (!blank || head_.head().status < 200) return line.size();
  return on_whole_head(line.size());
}

std::size_t Exchange::on_whole_head(std::size_t size) {
  head_done_ = true;
  ResponseHead& head = head_.head();
  if (!head.field("retry-after").empty()) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &seconds);
    head.retry_after = std::chrono::seconds{std::max<curl_off_t>(seconds, 0)};
  }
  redirected_ = is_redirect(head);
  const Verdict verdict = redirected_ ? listener_.on_redirect(head) : listener_.on_head(head, url_);
  stopped_ = verdict == Verdict::kStop;
  return stopped_ ? 0 : size;
}

std::size_t Exchange::on_body(std::span<const std::byte> bytes) {
  last_byte_ = connections_.now();
  if (redirected_) {
    body_bytes_ += bytes.size();
    return body_bytes_ > kLongestRedirectBody ? 0 : bytes.size();
  }
  if (!connections_.may_take()) {
    held_by_rate_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  const Verdict verdict = listener_.on_bytes(bytes);
  if (verdict == Verdict::kHold) {
    held_by_listener_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  connections_.took(Bytes{bytes.size()});
  body_bytes_ += bytes.size();
  // Where nothing more would come anyway, the connection is left in a state to be used again.
  stopped_ = verdict == Verdict::kStop && head_.head().content_length() != body_bytes_;
  return stopped_ ? 0 : bytes.size();
}

void Exchange::resume() {
  if (!held_by_listener_ || over_) return;
  held_by_listener_ = false;
  last_byte_ = connections_.now();
  curl_easy_pause(easy_.get(), CURLPAUSE_CONT);
}

void Exchange::resume_after_rate() {
  held_by_rate_ = false;
  last_byte_ = connections_.now();
  curl_easy_pause(easy_.get(), CURLPAUSE_CONT);
}

std::optional<TimePoint> Exchange::deadline() const {
  if (over_ || held_by_rate_ || held_by_listener_) return std::nullopt;
  return last_byte_ + connections_.settings().stall;
}

void Exchange::give_up_if_stalled(TimePoint now) {
  const std::optional<TimePoint> latest = deadline();
  if (!latest || now < *latest) return;
  const auto after = std::chrono::duration<double>(connections_.settings().stall).count();
  fail_with(passing(Error{ErrorCode::kUnavailable,
                          fmt::format("{} sent nothing for {:.3g} s", url_.server(), after)}));
}

void Exchange::finished(CURLcode code) {
  curl_multi_remove_handle(connections_.multi(), easy_.get());
  running_ = false;
  if (trouble_) return fail_with(*std::move(trouble_));
  if (stopped_) return end({false, std::nullopt});
  if (redirected_ && (code == CURLE_OK || code == CURLE_WRITE_ERROR)) return follow();
  if (code != CURLE_OK) return fail_with(trouble_of(code));
  end({true, std::nullopt});
}

void Exchange::follow() {
  if (++hops_ > kMostRedirects) {
    return fail_with(hopeless(
        Error{ErrorCode::kUnavailable, fmt::format("{} redirects without end: more than {} times",
                                                   request_.url.server(), kMostRedirects)}));
  }
  Result<Url> next = url_.resolve(head_.head().field("location"));
  if (!next) {
    return fail_with(hopeless(std::move(next).error().during(url_.server() + " sent us on")));
  }
  Result<Reach> reach = connections_.settings().gate.redirect(url_, *next);
  if (!reach) return fail_with(hopeless(std::move(reach).error()));
  own_origin_ = own_origin_ && next->same_origin(url_);
  ask(*std::move(next), *reach);
}

void Exchange::end(Listener::Ended ended) {
  if (over_) return;
  over_ = true;
  if (running_) curl_multi_remove_handle(connections_.multi(), easy_.get());
  running_ = false;
  listener_.on_end(std::move(ended));
}

Trouble Exchange::trouble_of(CURLcode code) const {
  if (!refused_address_.empty() && code == CURLE_COULDNT_CONNECT) {
    return hopeless(refuse_private(url_, refused_address_).value());
  }
  long os_error = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os_error);
  return describe(code, {url_, words_.data(), static_cast<int>(os_error), Bytes{body_bytes_}});
}

}  // namespace hearth::fetcher
