// SPDX-License-Identifier: Apache-2.0
#include "api/reply_format.h"

#include <algorithm>

#include "timeline/json_writer.h"

namespace hearth::api {

void Collected::add(const front::Delta& delta) {
  text += delta.text;
  reasoning += delta.reasoning;
  logprobs.insert(logprobs.end(), delta.logprobs.begin(), delta.logprobs.end());
  for (const wire::ToolCallDelta& part : delta.tool_calls) {
    auto call = std::ranges::find(tool_calls, part.index, &wire::ToolCallDelta::index);
    if (call == tool_calls.end()) {
      tool_calls.push_back(part);
      continue;
    }
    call->arguments += part.arguments;
    if (call->id.empty()) call->id = part.id;
    if (call->name.empty()) call->name = part.name;
  }
}

std::string progress_json(const front::Progress& progress) {
  JsonWriter out;
  out.string("stage", progress.stage).number("fraction", progress.fraction);
  out.integer("done_bytes", progress.done_bytes).integer("total_bytes", progress.total_bytes);
  if (progress.ahead) out.integer("ahead", *progress.ahead);
  if (progress.eta_ms) out.number("eta_ms", *progress.eta_ms);
  return out.object();
}

void append_progress_comment(std::string& out, const front::Progress& progress) {
  out += ": progress " + progress_json(progress) + "\n\n";
}

void ReplyFormat::append_progress(std::string& out, const front::Progress& progress) {
  append_progress_comment(out, progress);
}

}  // namespace hearth::api
