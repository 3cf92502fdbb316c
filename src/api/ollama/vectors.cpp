// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/vectors.h"

#include <span>

#include "api/json_text.h"
#include "api/ollama/figures.h"
#include "timeline/json_writer.h"

namespace hearth::api::ollama {

std::string embed_json(const std::string& model, const std::vector<std::vector<float>>& vectors,
                       const front::Finished& end) {
  std::string list = "[";
  for (const std::vector<float>& vector : vectors) {
    if (list.size() > 1) list += ',';
    append_json_floats(list, vector);
  }
  list += ']';
  JsonWriter out;
  out.string("model", model).raw("embeddings", list);
  add_durations(out, end.report);
  out.integer("prompt_eval_count", end.prompt_tokens);
  if (!end.report.request_id.empty()) out.raw("hearth", to_json(end.report));
  return out.object();
}

std::string embeddings_json(const std::vector<std::vector<float>>& vectors,
                            const RequestReport& report) {
  std::string list;
  append_json_floats(list, vectors.empty() ? std::span<const float>{} : vectors.front());
  JsonWriter out;
  out.raw("embedding", list);
  if (!report.request_id.empty()) out.raw("hearth", to_json(report));
  return out.object();
}

}  // namespace hearth::api::ollama
