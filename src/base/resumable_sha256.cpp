// SPDX-License-Identifier: Apache-2.0
//
// OpenSSL's EVP keeps a digest's state to itself; its older interface, which computes the same with
// the same code, does not.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/resumable_sha256.h"

#include <openssl/sha.h>

#include <algorithm>

namespace hearth {

struct ResumableSha256::Context {
  SHA256_CTX sha{};
  std::uint64_t bytes = 0;
};

ResumableSha256::ResumableSha256() : context_{std::make_unique<Context>()} {
  ::SHA256_Init(&context_->sha);
}

ResumableSha256::ResumableSha256(const State& state) : ResumableSha256{} {
  std::copy(state.words.begin(), state.words.end(), context_->sha.h);
  const std::uint64_t bits = state.bytes * 8;
  context_->sha.Nl = static_cast<SHA_LONG>(bits);
  context_->sha.Nh = static_cast<SHA_LONG>(bits >> 32);
  context_->bytes = state.bytes;
}

ResumableSha256::~ResumableSha256() = default;
ResumableSha256::ResumableSha256(ResumableSha256&& other) noexcept = default;
ResumableSha256& ResumableSha256::operator=(ResumableSha256&& other) noexcept = default;

ResumableSha256& ResumableSha256::add(std::span<const std::byte> bytes) {
  ::SHA256_Update(&context_->sha, bytes.data(), bytes.size());
  context_->bytes += bytes.size();
  return *this;
}

std::optional<ResumableSha256::State> ResumableSha256::state() const {
  if (context_->bytes % kBlock != 0) return std::nullopt;
  State state;
  std::copy(std::begin(context_->sha.h), std::end(context_->sha.h), state.words.begin());
  state.bytes = context_->bytes;
  return state;
}

Digest ResumableSha256::finish() {
  Digest digest{};
  ::SHA256_Final(digest.data(), &context_->sha);
  return digest;
}

}  // namespace hearth
