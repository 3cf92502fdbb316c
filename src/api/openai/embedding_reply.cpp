// SPDX-License-Identifier: Apache-2.0
#include "api/openai/embedding_reply.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "api/json_text.h"
#include "timeline/json_writer.h"
#include "timeline/report.h"

namespace hearth::api::openai {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string bytes_of(std::span<const float> vector) {
  std::string bytes;
  bytes.reserve(vector.size() * 4);
  for (const float value : vector) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
  }
  return bytes;
}

}  // namespace

std::string base64_of(std::span<const float> vector) {
  const std::string bytes = bytes_of(vector);
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = (group << 8) | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= count ? kAlphabet[(group >> (18 - 6 * i)) & 63] : '=';
    }
  }
  return out;
}

std::string embedding_json(std::string_view model, const std::vector<std::vector<float>>& vectors,
                           VectorEncoding encoding, const front::Finished& end) {
  std::string data = "[";
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (i > 0) data += ',';
    data += fmt::format(R"({{"object":"embedding","index":{},"embedding":)", i);
    if (encoding == VectorEncoding::kBase64) {
      append_json_string(data, base64_of(vectors[i]));
    } else {
      append_json_floats(data, vectors[i]);
    }
    data += '}';
  }
  data += ']';
  JsonWriter usage;
  usage.integer("prompt_tokens", end.prompt_tokens).integer("total_tokens", end.prompt_tokens);
  JsonWriter out;
  out.string("object", "list")
      .raw("data", data)
      .string("model", model)
      .raw("usage", usage.object());
  return out.raw("hearth", to_json(end.report)).object();
}

}  // namespace hearth::api::openai
