// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <string_view>

namespace hearth {
namespace {

constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encoded(std::span<const unsigned char> bytes, std::string_view alphabet) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  unsigned held = 0;
  int bits = 0;
  for (const unsigned char byte : bytes) {
    held = ((held << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 6; bits -= 6) out += alphabet[(held >> (bits - 6)) & 63];
  }
  if (bits > 0) out += alphabet[(held << (6 - bits)) & 63];
  return out;
}

}  // namespace

std::string base64_of(std::span<const unsigned char> bytes) {
  std::string out = encoded(bytes, kPlain);
  while (out.size() % 4 != 0) out += '=';
  return out;
}

std::string base64url_of(std::span<const unsigned char> bytes) { return encoded(bytes, kUrlSafe); }

}  // namespace hearth
