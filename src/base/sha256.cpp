// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <openssl/evp.h>

#include <new>

namespace hearth {

struct Sha256::State {
  EVP_MD_CTX* context = ::EVP_MD_CTX_new();
  ~State() { ::EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_{std::make_unique<State>()} {
  // The only ways to fail are out of memory and an OpenSSL without SHA-256.
  if (state_->context == nullptr ||
      ::EVP_DigestInit_ex(state_->context, ::EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc{};
  }
}

Sha256::~Sha256() = default;

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  ::EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
  return *this;
}

Sha256& Sha256::add(std::string_view text) {
  return add(std::as_bytes(std::span{text.data(), text.size()}));
}

Digest Sha256::finish() {
  Digest digest{};
  ::EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  return digest;
}

std::string hex_of(std::span<const unsigned char> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace hearth
