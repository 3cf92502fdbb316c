// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/stage.h"
#include "wire/logprobs.h"
#include "wire/prefix_messages.h"
#include "wire/sampling.h"

// The payloads. Each has encode(message) -> JSON text and decode_x(text) -> Result<Message>;
// decoding checks types and ranges, because a worker is a process that a stranger's file may have
// taken over.
namespace hearth::wire {

// How a model is loaded: what cannot be changed while its worker lives.
struct LoadOptions {
  int context_limit = 0;  // tokens per sequence; 0: what the model was trained for
  int parallel = 4;       // sequences at once
  int threads = 0;        // 0: the physical cores that this process may use
  bool repack = true;     // false: no repacked weights (the compiled layer switched off)
  bool prefix = true;     // false: no sequence keeps its cells (the prefix layer switched off)
  // Threads and batch shape stay what they are, so that a repeat gives the same bits.
  bool exact = false;
  int nice = 0;  // of the evaluation threads, -20 to 19; what the system refuses is left out

  friend bool operator==(const LoadOptions&, const LoadOptions&) = default;
};

struct OpenMessage {
  std::string model;  // for messages and logs
  LoadOptions options;
  // The CPU variant that another worker of this engine chose on this machine ("zen4"): it is loaded
  // without a look at the others. Empty: not known.
  std::string backend;
  int adapters = 0;  // of the descriptors, the last ones: LoRA, applied by every load
};

struct MemoryUse {
  Bytes weights;   // anonymous or device memory for weights
  Bytes mapped;    // weights used from mapped files, the stored repack included
  Bytes repacked;  // of both: the part that is in repacked form
  Bytes context;   // KV cells
  Bytes compute;
  Bytes device;  // on GPUs, of all the above
};

// What a load of the model computes, as far as it could be kept: parts of the key of whatever is
// stored. Digests in hexadecimal, or words; each changes when its cause does.
struct CompileKey {
  std::string engine;    // the engine's libraries
  std::string driver;    // of the GPUs; empty without one
  std::string hardware;  // the CPU's features, and the devices
  std::string layout;    // which tensors are repacked, how

  friend bool operator==(const CompileKey&, const CompileKey&) = default;
};

struct ReadyMessage {
  std::string engine;                // "llama.cpp v0.5.0 (de3ff81)"
  std::string backend;               // the CPU variant that was chosen: "zen4"
  std::vector<std::string> devices;  // GPU devices found, possibly none
  std::string architecture;
  int vocabulary = 0;         // tokens
  int trained_context = 0;    // tokens
  int context_limit = 0;      // tokens per sequence, after the options
  std::string chat_template;  // "model", or "chatml" when the model has none
  bool embeds = true;         // a chat model does too: mean-pooled
  bool generates = true;      // false: an embedding model
  bool calls_tools = false;   // the chat template can show tools to the model
  bool fills = false;         // the vocabulary has marks for a gap to be filled in
  bool thinks = false;        // the chat template can ask for reasoning, and leave it out
  std::vector<Stage> stages;  // kSpawn parts measured by the worker itself
  MemoryUse estimate;         // of a load without a stored repack, with the first context
  CompileKey compile_key;
  // false: the engine could not be given weights of our reading; they come by a plain load.
  bool streams = false;
  // Why this model's prompt state cannot be stored and restored; empty: it can, exactly.
  std::string not_restorable;
};

// How the weights' bytes are to come from the device.
enum class ReadMode {
  kMapped,    // into the page cache, through the mapping
  kBuffered,  // into the page cache, by reads ahead of the mapping
  kDirect,    // what is missing past the page cache, into memory of the worker's own
};
std::string_view name_of(ReadMode mode);  // "mapped", "buffered", "direct"

struct LoadMessage {
  ReadMode read = ReadMode::kMapped;
  int readers = 2;  // threads
  Bytes block{std::uint64_t{4} << 20};
  int stall_seconds = 30;  // so long without a byte: the load fails, saying how far it was
  // A stored repack comes along, as the one descriptor. It is checked against the key and its own
  // checksums; what does not fit is not used, and LoadedMessage says why.
  bool stored = false;
  // Check all of it, not only what came from the device.
  bool check_stored = true;
  std::string content;  // with `stored`: the model's, as its key must say
  // Nobody waits for it: reads and computes only what others leave of the disk and the CPUs.
  bool idle = false;
};

// Until the next one. What computes for requests takes at most this, so that others on this machine
// suffer less; what somebody waits for goes on.
struct GiveWayMessage {
  int threads = 0;    // 0: as many as else
  int percent = 100;  // of the time, 1 to 100
  // Whoever is woken goes first, as long as few others want the processors: nothing is given up
  // then but the slice that would have to be waited for. Where others want them, it ends.
  bool behind = false;
  bool gives_up() const { return threads > 0 || percent < 100; }
};

struct StoreMessage {
  std::string content;  // SHA-256 over the model's files: the part of the key that a worker lacks
};

struct ProgressMessage {
  std::string stage;      // "read", "load", "context"
  double fraction = 0.0;  // of the whole load, 0 to 1
  Bytes done, total;      // of the read
};

struct LoadedMessage {
  std::vector<Stage> stages;  // kRead, kLoad, kCompile, kContext
  MemoryUse memory;
  std::string repack;          // "none", "built", "stored"
  std::string stored_refused;  // why a stored repack was not used; empty: it was, or there was none
  Bytes missing;               // of the load set, before the load; what the kernel did not tell too
  Bytes bytes_read;            // from the device, by the kernel's accounting of this process
  std::int64_t major_faults = 0;
  int context = 0;  // KV cells allocated, for all sequences together
};

struct GenerateMessage {
  // One of the two. `messages` and `tools` are JSON text in OpenAI's shape, opaque to the front.
  std::string messages;
  std::string prompt;
  // A prompt that came as token ids; `prompt` is then empty. With `messages`: what was said before
  // them, as a reply's own tokens tell it.
  std::vector<int> prompt_tokens;

  std::string tools;            // JSON array, or empty
  std::string tool_choice;      // "auto", "none", "required"; a single function is `tools` of one
  std::string response_schema;  // JSON schema of the reply, or empty; "{}" for any JSON object
  std::string grammar;          // GBNF that the reply follows, or empty; not with a schema or tools
  std::string template_kwargs;  // JSON object, or empty
  // "on", "off", or empty: as the template does by itself. "on" is an error at "think" where the
  // template has no reasoning.
  std::string thinking;

  // Jinja, in place of the model's own; a raw prompt goes by none. A bad one is an error at
  // "template".
  std::string chat_template;

  // What comes after the gap that a raw prompt ends at: the reply fills it. Refused at "suffix"
  // where the vocabulary has no tokens for that.
  std::string suffix;

  bool add_special = true;  // a raw prompt gets the model's BOS where the model wants one
  Sampling sampling;
  std::vector<std::string> stop;
  int max_tokens = -1;  // -1: until the model stops or its context is full
  bool ignore_eos = false;
  bool cache_prompt = true;
  // The root of its blocks' names, in hexadecimal: only what was evaluated in the same domain is
  // used again. Empty: a domain of its own kind.
  std::string domain;
  // After kTokenized the request waits for kPrefixPlan.
  bool plan_prefix = false;
  bool echo = false;  // the prompt's text comes first (/v1/completions)
  // Each token is told with its log probability, and with those of so many others; absent: neither.
  std::optional<int> logprobs;

  // Tokens of prompt and reply together; 0, or more than the model's limit: the model's.
  int context_limit = 0;
  // A prompt over the limit loses its oldest part instead of being refused: whole messages, but
  // never a leading system message nor the last one; of a raw prompt what follows the first `keep`
  // tokens. What is left also has room for the reply: max_tokens, or a quarter of the limit if that
  // is less.
  bool truncate = false;
  int keep = 0;
  bool return_tokens = false;  // kDone lists what was generated
  // Only tokenize: kTokenized, then kDone with reason "counted". Needs no weights.
  bool count_only = false;
};

struct EmbedMessage {
  std::vector<std::string> inputs;
  bool truncate = false;  // a text over the limit loses its end instead of being refused
};

struct TokenizedMessage {
  std::vector<int> tokens;  // of the whole prompt, after the template
  std::vector<Stage> stages;
  int dropped_messages = 0;  // by `truncate`
  // Likewise, in all inputs together; of messages what is in their text. Estimated where megabytes
  // are dropped unread.
  int dropped_tokens = 0;
};

struct StartedMessage {
  int prompt_tokens = 0;
  int cached_tokens = 0;      // of these, not evaluated but used again
  std::vector<Stage> stages;  // kQueue, kRestore, kContext, kPrefill, kFirstDecode
  PrefixOutcome prefix = {};
};

struct ToolCallDelta {
  int index = 0;
  std::string id;         // with the first part of a call only
  std::string name;       // likewise
  std::string arguments;  // a piece of JSON text
};

struct DeltaMessage {
  std::string text;
  std::string reasoning;
  std::vector<ToolCallDelta> tool_calls;
  int generated = 0;  // tokens so far, this one included
  // Of the tokens that this piece was made of, if they were asked for; in all deltas together each
  // token whose text was sent is there once.
  std::vector<TokenLogprob> logprobs = {};
};

struct DoneMessage {
  std::string reason;      // "stop", "length", "tool_calls", "cancelled", "counted"
  std::string stopped_by;  // the stop string, or empty
  int prompt_tokens = 0;
  int cached_tokens = 0;
  int generated = 0;
  double prompt_ms = 0;       // prefill alone, as the engine's users know it from `timings`
  double generated_ms = 0;    // from the first token to the last
  std::vector<Stage> stages;  // kDecode
  int live_tokens = 0;        // prefix cells that this model's sequences hold now
  int context = 0;            // KV cells allocated now
  std::vector<int> tokens;    // what was generated, if it was asked for; an end mark included
};

struct EmbeddedMessage {
  std::vector<std::vector<float>> vectors;
  int prompt_tokens = 0;
  std::vector<Stage> stages;
};

struct FailedMessage {
  std::string code;  // name_of(ErrorCode)
  std::string message;
  std::string field;
  int prompt_tokens = 0;  // with "too_long"
  int context = 0;
};

// The answer to kStore. The file is whole and on the device when `error` is empty.
struct StoredMessage {
  std::string error;
  Bytes bytes;
  Duration time{};
};

struct HeartbeatMessage {
  std::uint64_t steps = 0;  // grows while the engine computes; stands still in a hang
  int active = 0;           // requests in hand
  int live_tokens = 0;
  Bytes resident;   // VmRSS of the worker
  Bytes anonymous;  // RssAnon
  Bytes swapped;    // VmSwap
  int threads = 0;  // that evaluate now
  Bytes mapped;     // RssFile: of the model's files, and the program's own
  struct Slot {
    int tokens = 0;  // in its cells
    bool busy = false;
  };
  std::vector<Slot> slots = {};  // of the loaded model's context
};

std::string encode(const OpenMessage& m);
std::string encode(const ReadyMessage& m);
std::string encode(const LoadMessage& m);
std::string encode(const GiveWayMessage& m);
std::string encode(const StoreMessage& m);
std::string encode(const StoredMessage& m);
std::string encode(const ProgressMessage& m);
std::string encode(const LoadedMessage& m);
std::string encode(const GenerateMessage& m);
std::string encode(const EmbedMessage& m);
std::string encode(const TokenizedMessage& m);
std::string encode(const StartedMessage& m);
std::string encode(const DeltaMessage& m);
std::string encode(const DoneMessage& m);
std::string encode(const EmbeddedMessage& m);
std::string encode(const FailedMessage& m);
std::string encode(const HeartbeatMessage& m);

// Errors: kCorrupt, naming the member that is missing or of the wrong type.
Result<OpenMessage> decode_open(const std::string& payload);
Result<ReadyMessage> decode_ready(const std::string& payload);
Result<LoadMessage> decode_load(const std::string& payload);
Result<GiveWayMessage> decode_give_way(const std::string& payload);
Result<StoreMessage> decode_store(const std::string& payload);
Result<StoredMessage> decode_stored(const std::string& payload);
Result<ProgressMessage> decode_progress(const std::string& payload);
Result<LoadedMessage> decode_loaded(const std::string& payload);
Result<GenerateMessage> decode_generate(const std::string& payload);
Result<EmbedMessage> decode_embed(const std::string& payload);
Result<TokenizedMessage> decode_tokenized(const std::string& payload);
Result<StartedMessage> decode_started(const std::string& payload);
Result<DeltaMessage> decode_delta(const std::string& payload);
Result<DoneMessage> decode_done(const std::string& payload);
Result<EmbeddedMessage> decode_embedded(const std::string& payload);
Result<FailedMessage> decode_failed(const std::string& payload);
Result<HeartbeatMessage> decode_heartbeat(const std::string& payload);

}  // namespace hearth::wire
