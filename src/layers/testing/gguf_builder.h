// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::testing {

// Writes small GGUF files, sound ones and ones that lie, for tests.
class GgufBuilder {
 public:
  GgufBuilder& version(std::uint32_t v) { return version_ = v, *this; }
  // What the file claims, whatever it holds.
  GgufBuilder& claim_tensors(std::uint64_t n) { return claimed_tensors_ = n, *this; }
  GgufBuilder& claim_keys(std::uint64_t n) { return claimed_keys_ = n, *this; }

  GgufBuilder& text(std::string_view key, std::string_view value) {
    begin(key, 8);
    return put_text(pairs_, value), *this;
  }
  GgufBuilder& u32(std::string_view key, std::uint32_t value) { return scalar(key, 4, value); }
  GgufBuilder& u16(std::string_view key, std::uint16_t value) { return scalar(key, 2, value); }
  GgufBuilder& i32(std::string_view key, std::int32_t value) { return scalar(key, 5, value); }
  GgufBuilder& f32(std::string_view key, float value) { return scalar(key, 6, value); }

  GgufBuilder& texts(std::string_view key, const std::vector<std::string>& values) {
    array(key, 8, values.size());
    for (const std::string& value : values) put_text(pairs_, value);
    return *this;
  }
  // An array's head alone; more() may follow.
  GgufBuilder& array(std::string_view key, std::uint32_t type, std::uint64_t count) {
    begin(key, 9);
    put(pairs_, type);
    return put(pairs_, count), *this;
  }
  // Bytes behind an array's head.
  GgufBuilder& more(std::string_view bytes) { return pairs_ += bytes, *this; }
  // A key of any type with these bytes as its value.
  GgufBuilder& raw(std::string_view key, std::uint32_t type, std::string_view bytes) {
    begin(key, type);
    return pairs_ += bytes, *this;
  }

  // A tensor of `bytes` bytes behind those before it.
  GgufBuilder& tensor(std::string_view name, const std::vector<std::uint64_t>& dimensions,
                      std::uint32_t type, std::uint64_t bytes) {
    info(name, dimensions, type, data_bytes_);
    data_bytes_ += (bytes + 31) / 32 * 32;
    return *this;
  }
  // A tensor's description alone.
  GgufBuilder& info(std::string_view name, const std::vector<std::uint64_t>& dimensions,
                    std::uint32_t type, std::uint64_t offset) {
    ++tensors_;
    put_text(infos_, name);
    put(infos_, static_cast<std::uint32_t>(dimensions.size()));
    for (const std::uint64_t dimension : dimensions) put(infos_, dimension);
    put(infos_, type);
    return put(infos_, offset), *this;
  }

  std::string bytes() const {
    std::string out = "GGUF";
    put(out, version_);
    put(out, claimed_tensors_ == kHonest ? tensors_ : claimed_tensors_);
    put(out, claimed_keys_ == kHonest ? keys_ : claimed_keys_);
    out += pairs_ + infos_;
    out.resize((out.size() + 31) / 32 * 32);
    for (std::uint64_t i = 0; i < data_bytes_; ++i) out += static_cast<char>(i * 31 % 251);
    return out;
  }

  // A sound model of one block, about 20 KiB.
  static GgufBuilder small_model() {
    GgufBuilder file;
    file.text("general.architecture", "llama").text("general.name", "Tiny");
    file.u32("general.file_type", 15).text("general.license", "apache-2.0");
    file.u32("llama.context_length", 2048).u32("llama.embedding_length", 64);
    file.u32("llama.block_count", 1).f32("llama.rope.freq_base", 1e4F);
    file.text("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {"a", "b", "c"});
    file.text("tokenizer.chat_template", "{{ messages }}");
    file.tensor("token_embd.weight", {64, 32}, 0, 64 * 32 * 4);
    file.tensor("blk.0.attn_q.weight", {256, 16}, 12, 16 * 144);
    file.tensor("blk.0.attn_norm.weight", {64}, 0, 256);
    return file;
  }

 private:
  static constexpr std::uint64_t kHonest = ~std::uint64_t{0};

  template <class T>
  static void put(std::string& out, T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    out.append(raw, sizeof(T));
  }
  static void put_text(std::string& out, std::string_view text) {
    put(out, static_cast<std::uint64_t>(text.size()));
    out += text;
  }
  void begin(std::string_view key, std::uint32_t type) {
    ++keys_;
    put_text(pairs_, key);
    put(pairs_, type);
  }
  template <class T>
  GgufBuilder& scalar(std::string_view key, std::uint32_t type, T value) {
    begin(key, type);
    return put(pairs_, value), *this;
  }

  std::uint32_t version_ = 3;
  std::uint64_t claimed_tensors_ = kHonest;
  std::uint64_t claimed_keys_ = kHonest;
  std::uint64_t keys_ = 0;
  std::uint64_t tensors_ = 0;
  std::uint64_t data_bytes_ = 0;
  std::string pairs_;
  std::string infos_;
};

}  // namespace hearth::testing
