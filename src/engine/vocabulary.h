// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/tokens.h"

struct llama_model;
struct llama_vocab;

namespace hearth::engine {

enum class AddSpecial { kYes, kNo };   // the model's BOS and EOS, where it wants them
enum class ShowSpecial { kYes, kNo };  // control tokens as text, or as nothing

// A model's vocabulary and metadata without its weights: enough to tokenize and to render templates
// while the weights are still on disk. Thread-safe: nothing changes after open().
class Vocabulary {
 public:
  // `paths`: the GGUF file, or its shards in order.
  // Errors: kCorrupt with the engine's own words.
  static Result<std::unique_ptr<Vocabulary>> open(const std::vector<std::string>& paths);

  int size() const { return size_; }
  const std::string& architecture() const { return architecture_; }
  int trained_context() const { return trained_context_; }  // 0: the file does not say

  // A text of the file's metadata; `arch_value` prefixes the key with the architecture.
  std::optional<std::string> value(const std::string& key) const;
  std::optional<std::string> arch_value(const std::string& key) const;

  // Markup of control tokens in `text` becomes those tokens.
  std::vector<Token> tokenize(std::string_view text, AddSpecial special) const;

  // So many tokens `text` has at least, told from its length alone; 0 where the kind of vocabulary
  // allows no such bound.
  std::size_t fewest_tokens(std::string_view text) const;

  // The token that begins a text; nullopt: the vocabulary has none.
  std::optional<Token> bos() const;
  // What marks the text before a gap, that after it, and the place to fill it; nullopt: the
  // vocabulary has no such marks.
  struct GapMarks {
    Token before, after, fill;
  };
  std::optional<GapMarks> gap_marks() const;
  bool ends_with_special() const;  // tokenize(kYes) puts an EOS or a separator last

  bool is_eog(Token token) const { return eog_[static_cast<std::size_t>(token)]; }
  bool contains(Token token) const { return token >= 0 && token < size_; }
  const std::vector<Token>& eog_tokens() const { return eog_tokens_; }
  bool suppresses_tokens() const;  // the file bans some tokens from sampling

  // Bytes of one token, possibly a part of a character. Appends; `token` must be contained.
  void append_piece(Token token, ShowSpecial special, std::string& out) const;
  std::string text(std::span<const Token> tokens, ShowSpecial special) const;

  const llama_model* handle() const { return model_.get(); }

 private:
  struct Free {
    void operator()(llama_model* model) const;
  };
  explicit Vocabulary(llama_model* model);
  void study_tokens();

  std::unique_ptr<llama_model, Free> model_;
  const llama_vocab* vocab_;
  int size_ = 0;
  std::size_t longest_token_ = 1;  // bytes as the vocabulary writes them, never fewer than the text
  int trained_context_ = 0;
  std::string architecture_;
  std::vector<bool> eog_;
  std::vector<Token> eog_tokens_;
};

}  // namespace hearth::engine
