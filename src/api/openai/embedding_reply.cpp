// SPDX-License-Identifier: Apache-2.0
#include "api/openai/embedding_reply.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "api/json_text.h"
#include "base/base64.h"
#include "timeline/json_writer.h"
#include "timeline/report.h"

namespace hearth::api::openai {
namespace {

std::vector<unsigned char> bytes_of(std::span<const float> vector) {
  std::vector<unsigned char> bytes;
  bytes.reserve(vector.size() * 4);
  for (const float value : vector) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<unsigned char>(bits >> shift));
    }
  }
  return bytes;
}

}  // namespace

std::string base64_of(std::span<const float> vector) { return hearth::base64_of(bytes_of(vector)); }

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
