// SPDX-License-Identifier: Apache-2.0
#include "engine/vocabulary.h"

#include <llama.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "engine/engine_log.h"
#include "engine/paths.h"

namespace hearth::engine {

void Vocabulary::Free::operator()(llama_model* model) const { llama_model_free(model); }

Result<std::unique_ptr<Vocabulary>> Vocabulary::open(const std::vector<std::string>& paths) {
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  std::vector<const char*> names = c_strings(paths);
  take_engine_error();
  llama_model* model = llama_model_load_from_splits(names.data(), names.size(), params);
  if (model == nullptr) {
    return fail(ErrorCode::kCorrupt, "read the vocabulary: " + take_engine_error());
  }
  std::unique_ptr<Vocabulary> vocabulary{new Vocabulary{model}};
  if (vocabulary->size_ <= 0) return fail(ErrorCode::kCorrupt, "the file holds no vocabulary");
  return vocabulary;
}

Vocabulary::Vocabulary(llama_model* model)
    : model_{model}, vocab_{llama_model_get_vocab(model)}, size_{llama_vocab_n_tokens(vocab_)} {
  architecture_ = value("general.architecture").value_or("");
  const std::string context = arch_value("context_length").value_or("0");
  std::from_chars(context.data(), context.data() + context.size(), trained_context_);
  study_tokens();
}

void Vocabulary::study_tokens() {
  eog_.resize(static_cast<std::size_t>(std::max(size_, 0)));
  for (Token token = 0; token < size_; ++token) {
    longest_token_ = std::max(longest_token_, std::strlen(llama_vocab_get_text(vocab_, token)));
    if (!llama_vocab_is_eog(vocab_, token)) continue;
    eog_[static_cast<std::size_t>(token)] = true;
    eog_tokens_.push_back(token);
  }
}

std::optional<std::string> Vocabulary::value(const std::string& key) const {
  const int length = llama_model_meta_val_str(model_.get(), key.c_str(), nullptr, 0);
  if (length < 0) return std::nullopt;
  std::string out(static_cast<std::size_t>(length) + 1, '\0');
  llama_model_meta_val_str(model_.get(), key.c_str(), out.data(), out.size());
  out.pop_back();
  return out;
}

std::optional<std::string> Vocabulary::arch_value(const std::string& key) const {
  return value(architecture_ + "." + key);
}

std::vector<Token> Vocabulary::tokenize(std::string_view text, AddSpecial special) const {
  std::vector<Token> tokens(text.size() / 2 + 8);
  const auto run = [&] {
    return llama_tokenize(vocab_, text.data(), static_cast<int>(text.size()), tokens.data(),
                          static_cast<int>(tokens.size()), special == AddSpecial::kYes, true);
  };
  int count = run();
  if (count < 0 && count != INT32_MIN) {
    tokens.resize(static_cast<std::size_t>(-count));
    count = run();
  }
  tokens.resize(static_cast<std::size_t>(std::max(count, 0)));
  return tokens;
}

std::size_t Vocabulary::fewest_tokens(std::string_view text) const {
  const auto type = llama_vocab_type(vocab_);
  // The other kinds drop blanks, or make one unknown token of a long run.
  if (type != LLAMA_VOCAB_TYPE_BPE && type != LLAMA_VOCAB_TYPE_SPM) return 0;
  return text.size() / longest_token_;
}

std::optional<Token> Vocabulary::bos() const {
  const Token token = llama_vocab_bos(vocab_);
  if (!contains(token)) return std::nullopt;
  return token;
}

std::optional<Vocabulary::GapMarks> Vocabulary::gap_marks() const {
  const GapMarks marks{llama_vocab_fim_pre(vocab_), llama_vocab_fim_suf(vocab_),
                       llama_vocab_fim_mid(vocab_)};
  if (!contains(marks.before) || !contains(marks.after) || !contains(marks.fill)) {
    return std::nullopt;
  }
  return marks;
}

bool Vocabulary::ends_with_special() const {
  return llama_vocab_get_add_eos(vocab_) || llama_vocab_get_add_sep(vocab_);
}

bool Vocabulary::suppresses_tokens() const {
  int count = 0;
  llama_vocab_get_suppress_tokens(vocab_, &count);
  return count > 0;
}

void Vocabulary::append_piece(Token token, ShowSpecial special, std::string& out) const {
  char buffer[128];
  const bool show = special == ShowSpecial::kYes;
  const int length = llama_token_to_piece(vocab_, token, buffer, sizeof buffer, 0, show);
  if (length >= 0) {
    out.append(buffer, static_cast<std::size_t>(length));
    return;
  }
  const std::size_t before = out.size();
  out.resize(before + static_cast<std::size_t>(-length));
  llama_token_to_piece(vocab_, token, out.data() + before, -length, 0, show);
}

std::string Vocabulary::text(std::span<const Token> tokens, ShowSpecial special) const {
  std::string out;
  for (const Token token : tokens) append_piece(token, special, out);
  return out;
}

}  // namespace hearth::engine
