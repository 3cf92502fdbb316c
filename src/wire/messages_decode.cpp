// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "wire/messages.h"
#include "wire/object_reader.h"
#include "wire/prefix_outcome.h"

namespace hearth::wire {
namespace json = boost::json;
namespace {

constexpr Range<double> kMilliseconds{0.0, 1e15};
constexpr int kMostAlternatives = 1000;  // the api asks for fewer
constexpr double kNoFloat = std::numeric_limits<double>::infinity();

LoadOptions read_options(ObjectReader& in) {
  LoadOptions options;
  options.context_limit = in.integer("context_limit", kCount).value_or(options.context_limit);
  options.parallel = in.integer("parallel", {1, 1024}).value_or(options.parallel);
  options.threads = in.integer("threads", {0, 4096}).value_or(options.threads);
  options.repack = in.truth("repack").value_or(options.repack);
  options.prefix = in.truth("prefix").value_or(options.prefix);
  options.exact = in.truth("exact").value_or(options.exact);
  options.nice = in.integer("nice", {-20, 19}).value_or(options.nice);
  return options;
}

OpenMessage read_open(ObjectReader& in) {
  OpenMessage m;
  m.model = in.text("model");
  m.backend = in.text("backend");
  m.adapters = in.integer("adapters", kCount).value_or(0);
  in.object("options", [&](ObjectReader& inner) { m.options = read_options(inner); });
  return m;
}

MemoryUse read_memory(ObjectReader& in) {
  MemoryUse memory;
  memory.weights = in.bytes("weights");
  memory.mapped = in.bytes("mapped");
  memory.repacked = in.bytes("repacked");
  memory.context = in.bytes("context");
  memory.compute = in.bytes("compute");
  memory.device = in.bytes("device");
  return memory;
}

CompileKey read_compile_key(ObjectReader& in) {
  CompileKey key;
  key.engine = in.text("engine");
  key.driver = in.text("driver");
  key.hardware = in.text("hardware");
  key.layout = in.text("layout");
  return key;
}

ReadyMessage read_ready(ObjectReader& in) {
  in.require({"vocabulary", "context_limit"});
  ReadyMessage m;
  m.engine = in.text("engine");
  m.backend = in.text("backend");
  m.devices = in.texts("devices");
  m.architecture = in.text("architecture");
  m.vocabulary = in.integer("vocabulary", kCount).value_or(0);
  m.trained_context = in.integer("trained_context", kCount).value_or(0);
  m.context_limit = in.integer("context_limit", kCount).value_or(0);
  m.chat_template = in.text("chat_template");
  m.embeds = in.truth("embeds").value_or(m.embeds);
  m.generates = in.truth("generates").value_or(m.generates);
  m.calls_tools = in.truth("calls_tools").value_or(m.calls_tools);
  m.fills = in.truth("fills").value_or(m.fills);
  m.thinks = in.truth("thinks").value_or(m.thinks);
  m.stages = in.stages("stages");
  in.object("estimate", [&](ObjectReader& inner) { m.estimate = read_memory(inner); });
  in.object("compile_key", [&](ObjectReader& inner) { m.compile_key = read_compile_key(inner); });
  m.streams = in.truth("streams").value_or(m.streams);
  m.not_restorable = in.text("not_restorable");
  return m;
}

ReadMode read_mode(ObjectReader& in) {
  const std::string word = in.text("read");
  if (word.empty()) return ReadMode::kMapped;
  for (const ReadMode mode : {ReadMode::kMapped, ReadMode::kBuffered, ReadMode::kDirect}) {
    if (word == name_of(mode)) return mode;
  }
  in.wrong(in.path_of("read"), "mapped, buffered or direct");
  return ReadMode::kMapped;
}

LoadMessage read_load(ObjectReader& in) {
  LoadMessage m;
  m.read = read_mode(in);
  m.readers = in.integer("readers", {1, 64}).value_or(m.readers);
  constexpr std::int64_t kMostBlock = std::int64_t{1} << 30;
  m.block =
      Bytes{static_cast<std::uint64_t>(in.integer64("block", {4096, kMostBlock})
                                           .value_or(static_cast<std::int64_t>(m.block.count())))};
  m.stall_seconds = in.integer("stall_seconds", {1, kCount.high}).value_or(m.stall_seconds);
  m.stored = in.truth("stored").value_or(m.stored);
  m.check_stored = in.truth("check_stored").value_or(m.check_stored);
  m.content = in.text("content");
  m.idle = in.truth("idle").value_or(m.idle);
  return m;
}

GiveWayMessage read_give_way(ObjectReader& in) {
  GiveWayMessage m;
  m.threads = in.integer("threads", kCount).value_or(m.threads);
  m.percent = in.integer("percent", {1, 100}).value_or(m.percent);
  m.behind = in.truth("behind").value_or(m.behind);
  return m;
}

StoreMessage read_store(ObjectReader& in) {
  StoreMessage m;
  m.content = in.text("content");
  return m;
}

StoredMessage read_stored(ObjectReader& in) {
  StoredMessage m;
  m.error = in.text("error");
  m.bytes = in.bytes("bytes");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  m.time = Duration{in.integer64("ns", {0, kMost}).value_or(0)};
  return m;
}

ProgressMessage read_progress(ObjectReader& in) {
  in.require({"stage"});
  ProgressMessage m;
  m.stage = in.text("stage");
  m.fraction = in.number("fraction", {0.0, 1.0}).value_or(0.0);
  m.done = in.bytes("done");
  m.total = in.bytes("total");
  return m;
}

LoadedMessage read_loaded(ObjectReader& in) {
  in.require({"context"});
  LoadedMessage m;
  m.stages = in.stages("stages");
  in.object("memory", [&](ObjectReader& inner) { m.memory = read_memory(inner); });
  m.repack = in.text("repack");
  m.stored_refused = in.text("stored_refused");
  m.missing = in.bytes("missing");
  m.bytes_read = in.bytes("bytes_read");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  m.major_faults = in.integer64("major_faults", {0, kMost}).value_or(0);
  m.context = in.integer("context", kCount).value_or(0);
  return m;
}

GenerateMessage read_generate(ObjectReader& in) {
  GenerateMessage m;
  m.messages = in.text("messages");
  m.prompt = in.text("prompt");
  m.prompt_tokens = in.integers("prompt_tokens", kCount);
  m.tools = in.text("tools");
  m.tool_choice = in.text("tool_choice");
  m.response_schema = in.text("response_schema");
  m.grammar = in.text("grammar");
  m.template_kwargs = in.text("template_kwargs");
  m.thinking = in.text("thinking");
  m.chat_template = in.text("chat_template");
  m.suffix = in.text("suffix");
  m.add_special = in.truth("add_special").value_or(m.add_special);
  in.object("sampling", [&](ObjectReader& inner) { m.sampling = read_sampling(inner); });
  m.stop = in.texts("stop");
  m.max_tokens = in.integer("max_tokens", {-1, kCount.high}).value_or(m.max_tokens);
  m.ignore_eos = in.truth("ignore_eos").value_or(m.ignore_eos);
  m.cache_prompt = in.truth("cache_prompt").value_or(m.cache_prompt);
  m.domain = in.text("domain");
  m.plan_prefix = in.truth("plan_prefix").value_or(m.plan_prefix);
  m.echo = in.truth("echo").value_or(m.echo);
  m.logprobs = in.integer("logprobs", {0, kMostAlternatives});
  m.context_limit = in.integer("context_limit", kCount).value_or(m.context_limit);
  m.truncate = in.truth("truncate").value_or(m.truncate);
  m.keep = in.integer("keep", kCount).value_or(m.keep);
  m.return_tokens = in.truth("return_tokens").value_or(m.return_tokens);
  m.count_only = in.truth("count_only").value_or(m.count_only);
  return m;
}

EmbedMessage read_embed(ObjectReader& in) {
  EmbedMessage m;
  m.inputs = in.texts("inputs");
  m.truncate = in.truth("truncate").value_or(m.truncate);
  return m;
}

TokenizedMessage read_tokenized(ObjectReader& in) {
  TokenizedMessage m;
  m.tokens = in.integers("tokens", kCount);
  m.stages = in.stages("stages");
  m.dropped_messages = in.integer("dropped_messages", kCount).value_or(0);
  m.dropped_tokens = in.integer("dropped_tokens", kCount).value_or(0);
  return m;
}

// How much of a prompt was cached can not exceed the prompt.
int read_cached(ObjectReader& in, int prompt_tokens) {
  return in.integer("cached_tokens", {0, prompt_tokens}).value_or(0);
}

StartedMessage read_started(ObjectReader& in) {
  in.require({"prompt_tokens"});
  StartedMessage m;
  m.prompt_tokens = in.integer("prompt_tokens", kCount).value_or(0);
  m.cached_tokens = read_cached(in, m.prompt_tokens);
  m.stages = in.stages("stages");
  in.object("prefix", [&](ObjectReader& inner) { m.prefix = read_prefix_outcome(inner); });
  return m;
}

DeltaMessage read_delta(ObjectReader& in) {
  in.require({"generated"});
  DeltaMessage m;
  m.text = in.text("text");
  m.reasoning = in.text("reasoning");
  in.each_object("tool_calls", [&](ObjectReader& inner) {
    ToolCallDelta call;
    call.index = inner.integer("index", kCount).value_or(0);
    call.id = inner.text("id");
    call.name = inner.text("name");
    call.arguments = inner.text("arguments");
    m.tool_calls.push_back(std::move(call));
  });
  m.generated = in.integer("generated", kCount).value_or(0);
  m.logprobs = read_logprobs(in, "logprobs");
  return m;
}

DoneMessage read_done(ObjectReader& in) {
  in.require({"reason"});
  DoneMessage m;
  m.reason = in.text("reason");
  m.stopped_by = in.text("stopped_by");
  m.prompt_tokens = in.integer("prompt_tokens", kCount).value_or(0);
  m.cached_tokens = read_cached(in, m.prompt_tokens);
  m.generated = in.integer("generated", kCount).value_or(0);
  m.prompt_ms = in.number("prompt_ms", kMilliseconds).value_or(0.0);
  m.generated_ms = in.number("generated_ms", kMilliseconds).value_or(0.0);
  m.stages = in.stages("stages");
  m.live_tokens = in.integer("live_tokens", kCount).value_or(0);
  m.context = in.integer("context", kCount).value_or(0);
  m.tokens = in.integers("tokens", kCount);
  return m;
}

EmbeddedMessage read_embedded(ObjectReader& in) {
  in.require({"vectors"});
  EmbeddedMessage m;
  in.each("vectors", [&](const json::value& item, const std::string& path) {
    const json::array* list = item.if_array();
    if (list == nullptr) return in.wrong(path, "a list of numbers");
    std::vector<float>& vector = m.vectors.emplace_back();
    vector.reserve(list->size());
    for (const json::value& element : *list) {
      // Narrowed before it is checked: nine digits of the largest float lie just above it.
      const auto x = static_cast<float>(finite_number(element).value_or(kNoFloat));
      if (!std::isfinite(x)) {
        return in.wrong(path + '[' + std::to_string(vector.size()) + ']', "a finite number");
      }
      vector.push_back(x);
    }
  });
  m.prompt_tokens = in.integer("prompt_tokens", kCount).value_or(0);
  m.stages = in.stages("stages");
  return m;
}

FailedMessage read_failed(ObjectReader& in) {
  in.require({"code"});
  FailedMessage m;
  m.code = in.text("code");
  m.message = in.text("message");
  m.field = in.text("field");
  m.prompt_tokens = in.integer("prompt_tokens", kCount).value_or(0);
  m.context = in.integer("context", kCount).value_or(0);
  return m;
}

HeartbeatMessage read_heartbeat(ObjectReader& in) {
  in.require({"steps"});
  HeartbeatMessage m;
  m.steps = in.natural("steps").value_or(0);
  m.active = in.integer("active", kCount).value_or(0);
  m.live_tokens = in.integer("live_tokens", kCount).value_or(0);
  m.resident = in.bytes("resident");
  m.anonymous = in.bytes("anonymous");
  m.swapped = in.bytes("swapped");
  m.threads = in.integer("threads", kCount).value_or(0);
  m.mapped = in.bytes("mapped");
  in.each_object("slots", [&](ObjectReader& inner) {
    m.slots.push_back(
        {inner.integer("tokens", kCount).value_or(0), inner.truth("busy").value_or(false)});
  });
  return m;
}

}  // namespace

Result<OpenMessage> decode_open(const std::string& payload) {
  return read_message(payload, read_open);
}
Result<ReadyMessage> decode_ready(const std::string& payload) {
  return read_message(payload, read_ready);
}
Result<LoadMessage> decode_load(const std::string& payload) {
  return read_message(payload, read_load);
}
Result<GiveWayMessage> decode_give_way(const std::string& payload) {
  return read_message(payload, read_give_way);
}
Result<StoreMessage> decode_store(const std::string& payload) {
  return read_message(payload, read_store);
}
Result<StoredMessage> decode_stored(const std::string& payload) {
  return read_message(payload, read_stored);
}
Result<ProgressMessage> decode_progress(const std::string& payload) {
  return read_message(payload, read_progress);
}
Result<LoadedMessage> decode_loaded(const std::string& payload) {
  return read_message(payload, read_loaded);
}
Result<GenerateMessage> decode_generate(const std::string& payload) {
  return read_message(payload, read_generate);
}
Result<EmbedMessage> decode_embed(const std::string& payload) {
  return read_message(payload, read_embed);
}
Result<TokenizedMessage> decode_tokenized(const std::string& payload) {
  return read_message(payload, read_tokenized);
}
Result<StartedMessage> decode_started(const std::string& payload) {
  return read_message(payload, read_started);
}
Result<DeltaMessage> decode_delta(const std::string& payload) {
  return read_message(payload, read_delta);
}
Result<DoneMessage> decode_done(const std::string& payload) {
  return read_message(payload, read_done);
}
Result<EmbeddedMessage> decode_embedded(const std::string& payload) {
  return read_message(payload, read_embedded);
}
Result<FailedMessage> decode_failed(const std::string& payload) {
  return read_message(payload, read_failed);
}
Result<HeartbeatMessage> decode_heartbeat(const std::string& payload) {
  return read_message(payload, read_heartbeat);
}

}  // namespace hearth::wire
