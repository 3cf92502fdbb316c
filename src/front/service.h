// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/result.h"
#include "front/access_rules.h"
#include "front/events.h"
#include "front/keep_alive.h"
#include "front/keys.h"
#include "front/modules/module_status.h"
#include "front/prefix_choice.h"
#include "front/prompt_texts.h"
#include "front/reply.h"
#include "front/transfer.h"
#include "layers/artifact/model_settings.h"
#include "timeline/history.h"

namespace hearth {
class Metrics;
}

namespace hearth::front {

struct LayerStatus {
  std::string layer;  // "artifact", "pages", "weights", "compiled", "prefix"
  std::string level;  // contracts' words: "local", "resident", "hollow", ...
  double fraction = 0;
  std::int64_t bytes = 0;
  std::int64_t total = 0;
  std::string detail;
};

// Until the first token of a short prompt that comes now.
struct PredictedTtft {
  double ms = 0;
  double low_ms = 0, high_ms = 0;  // eight of ten are expected between them
  bool known = false;              // false: a guess; nothing like it was measured here yet
  std::string start;               // what must be done first: "warm", "load-cold", ...
  std::vector<double> errors;      // of the last forecasts, newest last: (forecast - time) / time
};

// What a load will want, as the engine itself computes it without allocating anything.
struct LoadNeed {
  std::int64_t weights = 0;   // anonymous or device memory
  std::int64_t mapped = 0;    // weights used from mapped files
  std::int64_t repacked = 0;  // of both
  std::int64_t context = 0;   // KV cells
  std::int64_t compute = 0;
  std::int64_t device = 0;  // on GPUs, of all the above
};

struct WorkerStatus {
  int pid = 0;
  std::int64_t uptime_ms = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t anonymous_bytes = 0;
  std::int64_t device_bytes = 0;
  std::string backend;  // CPU variant
  std::string engine;
  int context = 0;        // KV cells allocated
  int context_limit = 0;  // tokens of one sequence at most
  int threads = 0;        // that evaluate now; 0: not told yet
};

// A model as every list shows it.
struct ModelStatus {
  std::string name;                // canonical, with tag
  std::string artifact;            // id
  std::string status;              // "ok", "missing", "changed", "broken"
  std::string reason;              // when it is not ok
  std::vector<std::string> paths;  // for the command line and the admin role only
  std::int64_t size = 0;
  std::int64_t imported_at_us = 0;
  std::int64_t last_used_us = 0;  // 0: never
  std::string architecture;
  std::string quantization;
  std::int64_t parameters = 0;
  int trained_context = 0;
  int embedding_length = 0;
  bool has_chat_template = false;
  std::string license;

  std::vector<LayerStatus> layers;              // the five, coldest first
  std::optional<WorkerStatus> worker;           // while there is one
  std::optional<PredictedTtft> predicted_ttft;  // absent while its files cannot be used
  std::optional<LoadNeed> need;                 // while there is a worker, which found it out
  int active = 0;
  int queued = 0;

  // How long the weights stay, and who says so: "request", "configuration", "OLLAMA_KEEP_ALIVE",
  // "default", "pin".
  KeepAlive keep_alive = KeepAlive::until_wanted();
  std::string keep_alive_source = "default";
  std::optional<std::int64_t> expires_at_us;  // wall clock; absent while busy, or until wanted
  std::vector<std::string> pinned;            // of "weights", "pages"
  std::vector<std::string> capabilities;      // "completion", "tools", "insert", ...
  std::vector<std::string> aliases;           // of the configuration

  // ---- the artifact ----
  std::string digest;  // SHA-256 of the content in hexadecimal; empty until it has been hashed
  std::string store;   // whose files these are: "user", "hearth", "huggingface", "ollama",
                       // "lmstudio", "folder"
  std::string source;  // what it was pulled from; empty: it was not
  std::int64_t verified_us = 0;   // wall clock; 0: never
  std::int64_t shared_bytes = 0;  // of `size`: in files that other models use too
  int shards = 1;
  int adapters = 0;
  ModelSettings settings;  // of this name: they change requests, not how weights are loaded
};

// What a model's file says about itself, read from it when asked.
struct ModelDetails {
  std::string metadata;  // JSON object: the file's keys and values; long lists are null
  std::string chat_template;
  std::string license_text;
  std::string tensors;  // JSON list of {"name", "type", "shape"}
  // JSON: bytes of tensors by what they are part of, and what a load will want of the memory.
  std::string layers;   // [{"layer": "blk.0", "bytes": n}, ...] in file order
  std::string need;     // {"weights_bytes", "kv_bytes", "kv_context", "total_bytes"}
  std::string storage;  // JSON: what the first file lies on, and how it is read; may be empty
};

// What the interfaces (HTTP dialects, and the command line through them) ask of the front. Belongs
// to the loop; nothing here blocks it.
class Service {
 public:
  virtual ~Service() = default;

  // Both return at once; errors come as Refused. Unknown model: kNotFound.
  virtual std::unique_ptr<Reply> generate(GenerateRequest request, Delivery delivery) = 0;
  virtual std::unique_ptr<Reply> embed(EmbedRequest request) = 0;
  virtual std::unique_ptr<Reply> load(LoadRequest request) = 0;

  // Canonical order: by name. Never touches a disk.
  virtual std::vector<ModelStatus> models() const = 0;
  // Errors: kNotFound, kInvalid (not a model name).
  virtual Result<ModelStatus> model(const std::string& name) const = 0;

  // Errors: kInvalid (name), kCorrupt (with the reason), kNotFound (the file), kConflict (the name
  // is taken by another file).
  virtual Task<Result<ModelStatus>> import_model(std::string path, std::string name) = 0;
  // Removes the name, drains and unloads when it was the last one. Never deletes the user's file.
  virtual Task<Result<>> remove_model(std::string name) = 0;
  // Makes `to` a second name of what `from` stands for. Errors: kNotFound, kInvalid (to), kConflict
  // (`to` stands for something else).
  virtual Task<Result<ModelStatus>> copy_model(std::string from, std::string to) = 0;
  // Errors: kNotFound, kCorrupt.
  virtual Task<Result<ModelDetails>> details(std::string name) = 0;

  // Idempotent; returns when it is done. Errors: kNotFound, kConflict (the weights are pinned).
  virtual Task<Result<ModelStatus>> unload(std::string name) = 0;
  // Gives the weights back once nobody is in or waits. Where somebody is it returns at once, and
  // they go after the last reply; nobody waits for that. Idempotent. Errors: as unload().
  virtual Task<Result<ModelStatus>> release(std::string name) = 0;

  // A lower bound for one layer, "weights" or "pages", that no request shortens; kept over
  // restarts. `bytes`: how much of the load set's pages; 0: all. Idempotent. Errors: kNotFound,
  // kInvalid, kNoSpace (with what the system allows and how to raise it), kUnsupported.
  virtual Task<Result<ModelStatus>> pin(std::string name, std::string layer, Bytes bytes) = 0;
  // An empty layer: both.
  virtual Task<Result<ModelStatus>> unpin(std::string name, std::string layer) = 0;

  // layer: one of the five. Errors: kInvalid, kNotFound, kConflict (pages that are mapped),
  // kUnsupported (what this layer cannot do yet).
  virtual Task<Result<ModelStatus>> warm(std::string name, std::string layer) = 0;
  virtual Task<Result<ModelStatus>> cool(std::string name, std::string layer) = 0;

  // ---- models come and go ----
  // All return at once; what goes wrong is the last event. `source` and names are checked before
  // anything is asked of another machine. Errors: kInvalid, kNotFound, kNoSpace (with need and free
  // bytes), kCorrupt (never installed), kUnavailable (the other side), kCancelled.
  virtual std::unique_ptr<Transfer> pull(PullRequest request) = 0;
  virtual std::unique_ptr<Transfer> verify(VerifyRequest request) = 0;
  virtual std::vector<PullStatus> pulls() const = 0;
  // Stops a pull for all who wait for it and keeps its parts; with kDrop they go too. `name`: what
  // is pulled, or its source. Errors: kNotFound.
  enum class Parts { kKeep, kDrop };
  virtual Task<Result<>> stop_pull(std::string name, Parts parts) = 0;
  // What nothing needs any more: old parts, files without a name. With kShow nothing is deleted.
  enum class Prune { kShow, kDelete };
  virtual Task<Result<std::vector<Prunable>>> prune(Prune what) = 0;
  // Errors: kNotFound; kUnsupported, with the reason why it could not be fetched again.
  virtual Task<Result<CoolPreview>> preview_cool(std::string name, std::string layer) = 0;
  // Errors: kInvalid (with the field), kNotFound (`from`, or a blob), kCorrupt.
  virtual Task<Result<ModelStatus>> create_model(CreateRequest request) = 0;
  // Size of a blob of ours; `digest`: "sha256:...". Errors: kInvalid, kNotFound.
  virtual Task<Result<Bytes>> blob(std::string digest) = 0;
  // `size` as announced; 0: unknown. Errors: kInvalid, kNoSpace, kUnavailable.
  virtual Task<Result<std::unique_ptr<BlobUpload>>> receive_blob(std::string digest,
                                                                 Bytes size) = 0;
  // Looks for models in other programs' stores and the watched folders now.
  virtual Task<Result<>> rescan() = 0;

  // ---- what is kept of prompts ----
  // JSON: where it is, of which model, and what came of it.
  virtual std::string prefix(PromptTexts texts) const = 0;
  // Gives back what is chosen; its bytes. What is in live cells goes with the weights. Errors:
  // kNotFound (the model), kUnsupported (the layer is off), kNoSpace (on disk), kUnavailable.
  virtual Task<Result<Bytes>> cool_prefix(PrefixChoice choice) = 0;

  // ---- modules: beginnings of prompts with a name ----
  virtual std::vector<ModuleStatus> modules() const = 0;  // by name
  // Errors: kNotFound.
  virtual Result<ModuleStatus> module(const std::string& name) const = 0;
  // Makes it or changes it, over restarts. Errors: kInvalid (with the field), kConflict (it is the
  // configuration's), kNoSpace, kUnavailable.
  struct ModuleRequest {
    std::string name;
    std::string text;
    std::vector<std::string> models;  // for which it is kept warm
  };
  virtual Task<Result<ModuleStatus>> set_module(ModuleRequest request) = 0;
  // Errors: kNotFound, and as set_module().
  virtual Task<Result<>> remove_module(std::string name) = 0;

  // ---- memory ----
  // JSON: what there is, who holds it, and what may be used.
  virtual std::string memory() const = 0;
  // JSON: which levels went down or up, newest first, and why.
  virtual std::string moves() const = 0;
  // JSON: {"protected": services that come first, "prewarming": what was read ahead and what it
  // saved, "warmth": of models with a ttft_ms, whether it holds}.
  virtual std::string levels() const = 0;

  // JSON: {"findings": [...]}, each with its remedy.
  virtual std::string doctor(PromptTexts texts) const = 0;

  // JSON objects, newest first / one of them.
  virtual Task<Result<std::vector<std::string>>> history(HistoryQuery query) = 0;
  virtual Task<Result<std::string>> history_entry(std::string id) = 0;  // "last": the newest

  // ---- who may ask ----
  virtual const KeyRing& keys() const = 0;
  virtual const AccessRules& access() const = 0;
  // Errors: kInvalid (name: 1 to 64 printable characters), kConflict (the name is taken, or the
  // first key is not an admin's: nobody could add another).
  virtual Task<Result<NewKey>> add_key(std::string name, Role role) = 0;
  // By id or name. Errors: kNotFound, kConflict (the last admin key while others remain).
  virtual Task<Result<>> remove_key(std::string id_or_name) = 0;

  // ---- configuration ----
  // JSON: every option with its value, default and origin.
  virtual std::string configuration() const = 0;
  // Reads the configuration again and takes over what can change live. JSON: what changed, and what
  // wants a restart. Errors: kInvalid, with the place; nothing has changed then.
  virtual Task<Result<std::string>> reload_configuration() = 0;

  virtual EventBus& events() = 0;
  virtual Metrics& metrics() = 0;

  // JSON: version, engine build, uptime, process figures, switches.
  virtual std::string about() const = 0;

  // JSON: {"requests": [...]}, those under way with their stages so far, oldest first.
  virtual std::string running() const = 0;
};

}  // namespace hearth::front
