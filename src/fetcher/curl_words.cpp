// SPDX-License-Identifier: Apache-2.0
#include "fetcher/curl_words.h"

#include <fmt/format.h>

#include <system_error>

#include "base/size_text.h"

namespace hearth::fetcher {
namespace {

Error error(std::string message) { return Error{ErrorCode::kUnavailable, std::move(message)}; }

std::string words_of(CURLcode code, const Circumstances& at) {
  return at.words.empty() ? curl_easy_strerror(code) : at.words;
}

Trouble untrusted(CURLcode code, const Circumstances& at) {
  const std::string why = words_of(code, at);
  // Not of a certificate for another name.
  const bool other_authority = why.find("certificate problem") != std::string::npos;
  return hopeless(
      error(fmt::format("the certificate of {} is not trusted: {}{}", at.url.server(), why,
                        other_authority ? " (SSL_CERT_FILE names other authorities)" : "")));
}

Trouble no_connection(CURLcode code, const Circumstances& at) {
  const std::string why =
      at.os_error != 0 ? std::generic_category().message(at.os_error) : words_of(code, at);
  return passing(error(fmt::format("cannot connect to {}: {}", at.url.server(), why)));
}

Trouble broken(CURLcode code, const Circumstances& at) {
  // A proxy's refusal comes as a failure to receive.
  if (at.words.find("CONNECT") != std::string::npos) {
    return passing(error(
        fmt::format("the proxy does not lead to {}: {}", at.url.server(), words_of(code, at))));
  }
  if (at.body == Bytes{}) {
    return passing(
        error(fmt::format("{} closed the connection without an answer", at.url.server())));
  }
  return passing(error(
      fmt::format("the connection to {} broke after {}", at.url.server(), size_text(at.body))));
}

}  // namespace

Trouble describe(CURLcode code, const Circumstances& at) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return passing(error(fmt::format("no address is known for {}", at.url.server())));
    case CURLE_COULDNT_RESOLVE_PROXY:
      return passing(error("no address is known for the proxy"));
    case CURLE_COULDNT_CONNECT:
      return no_connection(code, at);
    case CURLE_OPERATION_TIMEDOUT:
      return passing(error(fmt::format("{} does not answer", at.url.server())));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return untrusted(code, at);
    case CURLE_SSL_CACERT_BADFILE:
      return hopeless(error("the certificates to trust cannot be read: " + words_of(code, at)));
    case CURLE_SSL_CONNECT_ERROR:
      return passing(
          error(fmt::format("no TLS connection to {}: {}", at.url.server(), words_of(code, at))));
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return hopeless(error(fmt::format("{} does not speak HTTP", at.url.server())));
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
      return broken(code, at);
    default:
      return passing(error(fmt::format("{}: {}", at.url.server(), words_of(code, at))));
  }
}

}  // namespace hearth::fetcher
