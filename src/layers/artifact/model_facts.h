// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace hearth {

// What a model file says about itself. Texts are printable; an empty text or a zero is "not said".
struct ModelFacts {
  std::string architecture;  // "llama", "gemma3", ...
  std::string name;
  std::string license;
  std::string quantisation;  // "Q4_K_M"; from the tensors where the file does not say
  std::uint64_t parameters = 0;
  std::uint64_t context_length = 0;  // as trained
  std::uint64_t embedding_length = 0;
  std::uint64_t block_count = 0;
  bool has_chat_template = false;
  bool template_tools = false;   // it looks as if the template could show tools to the model
  bool template_thinks = false;  // likewise, ask it for reasoning
  bool has_tokenizer = false;
  bool pools = false;  // made for embeddings: the file names a pooling type

  // Of what is looked for: facts that an older Hearth noted are looked for again.
  static constexpr std::uint64_t kVersion = 2;
  std::uint64_t version = kVersion;

  friend bool operator==(const ModelFacts&, const ModelFacts&) = default;
};

}  // namespace hearth
