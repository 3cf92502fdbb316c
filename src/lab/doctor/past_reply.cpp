// SPDX-License-Identifier: Apache-2.0
#include "lab/doctor/past_reply.h"

#include <algorithm>
#include <boost/json.hpp>

#include "lab/doctor/fields.h"

namespace hearth::lab {

std::optional<PastReply> past_reply_of(const boost::json::object& entry) {
  PastReply reply;
  reply.model = fields::text(entry, "model");
  reply.response_class = fields::text(entry, "class");
  if (reply.model.empty() || reply.response_class.empty()) return std::nullopt;
  if (fields::text(entry, "outcome") != "ok") return std::nullopt;
  const bool only_loaded = fields::number(entry, "prompt_tokens").value_or(1) <= 0;
  if (only_loaded) return std::nullopt;
  reply.started_us = static_cast<std::int64_t>(fields::number(entry, "started_us").value_or(0));
  const boost::json::object& verdict = fields::part(entry, "verdict");
  reply.code = fields::text(verdict, "code");
  reply.text = fields::text(verdict, "text");
  reply.cost_ms = std::max(0.0, fields::number(verdict, "cost_ms").value_or(0));
  for (const boost::json::object* stage : fields::objects(entry, "stages")) {
    if (fields::text(*stage, "name") != "read") continue;
    reply.read += fields::bytes(*stage, "bytes").value_or(Bytes{});
    reply.read_ms += std::max(0.0, fields::number(*stage, "ms").value_or(0));
  }
  return reply;
}

}  // namespace hearth::lab
