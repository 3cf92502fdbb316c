// SPDX-License-Identifier: Apache-2.0
#include "worker/answer.h"

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace hearth::worker {

using engine::OutputDelta;
using engine::ShowSpecial;

OutputDelta Answer::parsed(std::string text) {
  if (text.empty()) return {};
  if (!is_utf8(text)) text = repair_utf8(text);
  if (request_.parser) return request_.parser->feed(text);
  OutputDelta delta;
  delta.text = std::move(text);
  return delta;
}

Answer::Step Answer::add(engine::Token token, std::optional<wire::TokenLogprob> told) {
  const auto& shown = request_.preserved;
  const bool show = std::find(shown.begin(), shown.end(), token) != shown.end();
  const std::size_t before = bytes_.size();
  vocabulary_.append_piece(token, show ? ShowSpecial::kYes : ShowSpecial::kNo, bytes_);
  if (told) logprobs_.add(std::move(*told), bytes_.size() - before);
  const std::size_t whole = complete_utf8_prefix(bytes_);
  auto [text, stop] = request_.stops.feed(std::string_view{bytes_}.substr(0, whole));
  bytes_.erase(0, whole);
  if (request_.logprobs) logprobs_.let_go(text.size());
  return {parsed(std::move(text)), stop};
}

OutputDelta Answer::rest() {
  // What is left in bytes_ is the head of a character that will not be finished: it is no text.
  bytes_.clear();
  logprobs_.let_all_go();
  return parsed(request_.stops.flush());
}

OutputDelta Answer::finish() { return request_.parser ? request_.parser->finish() : OutputDelta{}; }

}  // namespace hearth::worker
