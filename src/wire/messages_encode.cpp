// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "wire/json_writer.h"
#include "wire/messages.h"

namespace hearth::wire {
namespace {

std::string encode(const LoadOptions& options) {
  JsonWriter out;
  out.number("context_limit", options.context_limit)
      .number("parallel", options.parallel)
      .number("threads", options.threads)
      .truth("repack", options.repack)
      .truth("prefix", options.prefix)
      .truth("exact", options.exact)
      .number("nice", options.nice);
  return out.finish();
}

std::string encode(const CompileKey& key) {
  JsonWriter out;
  out.text("engine", key.engine)
      .text("driver", key.driver)
      .text("hardware", key.hardware)
      .text("layout", key.layout);
  return out.finish();
}

std::string encode(const MemoryUse& memory) {
  JsonWriter out;
  out.bytes("weights", memory.weights)
      .bytes("mapped", memory.mapped)
      .bytes("repacked", memory.repacked)
      .bytes("context", memory.context)
      .bytes("compute", memory.compute)
      .bytes("device", memory.device);
  return out.finish();
}

std::string encode(const std::vector<ToolCallDelta>& calls) {
  std::string out = "[";
  for (const ToolCallDelta& call : calls) {
    if (out.size() > 1) out += ',';
    JsonWriter one;
    one.number("index", call.index)
        .text("id", call.id)
        .text("name", call.name)
        .text("arguments", call.arguments);
    out += one.finish();
  }
  return out += ']';
}

// Nine digits bring back every float exactly. What is not finite becomes null, which the reader
// refuses: a wrong embedding is worse than none.
std::string encode(const std::vector<std::vector<float>>& vectors) {
  std::string out = "[";
  for (const std::vector<float>& vector : vectors) {
    out += out.size() > 1 ? ",[" : "[";
    const char* separator = "";
    for (const float x : vector) {
      out += separator;
      separator = ",";
      if (std::isfinite(x)) {
        fmt::format_to(std::back_inserter(out), "{:.9g}", x);
      } else {
        out += "null";
      }
    }
    out += ']';
  }
  return out += ']';
}

}  // namespace

std::string_view name_of(ReadMode mode) {
  switch (mode) {
    case ReadMode::kMapped:
      return "mapped";
    case ReadMode::kBuffered:
      return "buffered";
    case ReadMode::kDirect:
      break;
  }
  return "direct";
}

std::string encode(const OpenMessage& m) {
  JsonWriter out;
  out.text("model", m.model)
      .raw("options", encode(m.options))
      .text("backend", m.backend)
      .number("adapters", m.adapters);
  return out.finish();
}

std::string encode(const ReadyMessage& m) {
  JsonWriter out;
  out.text("engine", m.engine)
      .text("backend", m.backend)
      .texts("devices", m.devices)
      .text("architecture", m.architecture)
      .number("vocabulary", m.vocabulary)
      .number("trained_context", m.trained_context)
      .number("context_limit", m.context_limit)
      .text("chat_template", m.chat_template)
      .truth("embeds", m.embeds)
      .truth("generates", m.generates)
      .truth("calls_tools", m.calls_tools)
      .truth("fills", m.fills)
      .truth("thinks", m.thinks)
      .stages("stages", m.stages)
      .raw("estimate", encode(m.estimate))
      .raw("compile_key", encode(m.compile_key))
      .truth("streams", m.streams)
      .text("not_restorable", m.not_restorable);
  return out.finish();
}

std::string encode(const LoadMessage& m) {
  JsonWriter out;
  out.text("read", name_of(m.read))
      .number("readers", m.readers)
      .bytes("block", m.block)
      .number("stall_seconds", m.stall_seconds)
      .truth("stored", m.stored)
      .truth("check_stored", m.check_stored)
      .text("content", m.content)
      .truth("idle", m.idle);
  return out.finish();
}

std::string encode(const GiveWayMessage& m) {
  JsonWriter out;
  out.number("threads", m.threads).number("percent", m.percent).truth("behind", m.behind);
  return out.finish();
}

std::string encode(const StoreMessage& m) {
  JsonWriter out;
  out.text("content", m.content);
  return out.finish();
}

std::string encode(const StoredMessage& m) {
  JsonWriter out;
  out.text("error", m.error).bytes("bytes", m.bytes).number("ns", std::int64_t{m.time.count()});
  return out.finish();
}

std::string encode(const ProgressMessage& m) {
  JsonWriter out;
  out.text("stage", m.stage)
      .number("fraction", m.fraction)
      .bytes("done", m.done)
      .bytes("total", m.total);
  return out.finish();
}

std::string encode(const LoadedMessage& m) {
  JsonWriter out;
  out.stages("stages", m.stages)
      .raw("memory", encode(m.memory))
      .text("repack", m.repack)
      .text("stored_refused", m.stored_refused)
      .bytes("missing", m.missing)
      .bytes("bytes_read", m.bytes_read)
      .number("major_faults", m.major_faults)
      .number("context", m.context);
  return out.finish();
}

std::string encode(const GenerateMessage& m) {
  JsonWriter out;
  out.text("messages", m.messages)
      .text("prompt", m.prompt)
      .integers("prompt_tokens", m.prompt_tokens)
      .text("tools", m.tools)
      .text("tool_choice", m.tool_choice)
      .text("response_schema", m.response_schema)
      .text("grammar", m.grammar)
      .text("template_kwargs", m.template_kwargs)
      .text("thinking", m.thinking)
      .text("chat_template", m.chat_template)
      .text("suffix", m.suffix)
      .truth("add_special", m.add_special)
      .raw("sampling", encode(m.sampling))
      .texts("stop", m.stop)
      .number("max_tokens", m.max_tokens)
      .truth("ignore_eos", m.ignore_eos)
      .truth("cache_prompt", m.cache_prompt)
      .text("domain", m.domain)
      .truth("plan_prefix", m.plan_prefix)
      .truth("echo", m.echo)
      .number("context_limit", m.context_limit)
      .truth("truncate", m.truncate)
      .number("keep", m.keep)
      .truth("return_tokens", m.return_tokens)
      .truth("count_only", m.count_only);
  if (m.logprobs) out.number("logprobs", *m.logprobs);
  return out.finish();
}

std::string encode(const EmbedMessage& m) {
  JsonWriter out;
  out.texts("inputs", m.inputs).truth("truncate", m.truncate);
  return out.finish();
}

std::string encode(const TokenizedMessage& m) {
  JsonWriter out;
  out.integers("tokens", m.tokens)
      .stages("stages", m.stages)
      .number("dropped_messages", m.dropped_messages)
      .number("dropped_tokens", m.dropped_tokens);
  return out.finish();
}

std::string encode(const StartedMessage& m) {
  JsonWriter out;
  out.number("prompt_tokens", m.prompt_tokens)
      .number("cached_tokens", m.cached_tokens)
      .stages("stages", m.stages);
  if (m.prefix.tells()) out.raw("prefix", encode(m.prefix));
  return out.finish();
}

std::string encode(const DeltaMessage& m) {
  JsonWriter out;
  out.text("text", m.text).text("reasoning", m.reasoning);
  if (!m.tool_calls.empty()) out.raw("tool_calls", encode(m.tool_calls));
  out.number("generated", m.generated);
  if (!m.logprobs.empty()) out.raw("logprobs", encode(m.logprobs));
  return out.finish();
}

std::string encode(const DoneMessage& m) {
  JsonWriter out;
  out.text("reason", m.reason)
      .text("stopped_by", m.stopped_by)
      .number("prompt_tokens", m.prompt_tokens)
      .number("cached_tokens", m.cached_tokens)
      .number("generated", m.generated)
      .number("prompt_ms", m.prompt_ms)
      .number("generated_ms", m.generated_ms)
      .stages("stages", m.stages)
      .number("live_tokens", m.live_tokens)
      .number("context", m.context);
  if (!m.tokens.empty()) out.integers("tokens", m.tokens);
  return out.finish();
}

std::string encode(const EmbeddedMessage& m) {
  JsonWriter out;
  out.raw("vectors", encode(m.vectors))
      .number("prompt_tokens", m.prompt_tokens)
      .stages("stages", m.stages);
  return out.finish();
}

std::string encode(const FailedMessage& m) {
  JsonWriter out;
  out.text("code", m.code)
      .text("message", m.message)
      .text("field", m.field)
      .number("prompt_tokens", m.prompt_tokens)
      .number("context", m.context);
  return out.finish();
}

std::string encode(const std::vector<HeartbeatMessage::Slot>& slots) {
  std::string list = "[";
  for (const HeartbeatMessage::Slot& slot : slots) {
    JsonWriter one;
    one.number("tokens", slot.tokens).truth("busy", slot.busy);
    if (list.size() > 1) list += ',';
    list += one.finish();
  }
  return list + ']';
}

std::string encode(const HeartbeatMessage& m) {
  JsonWriter out;
  out.number("steps", m.steps)
      .number("active", m.active)
      .number("live_tokens", m.live_tokens)
      .bytes("resident", m.resident)
      .bytes("anonymous", m.anonymous)
      .bytes("swapped", m.swapped)
      .number("threads", m.threads)
      .bytes("mapped", m.mapped);
  if (!m.slots.empty()) out.raw("slots", encode(m.slots));
  return out.finish();
}

}  // namespace hearth::wire
