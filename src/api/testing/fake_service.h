// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sim_event_loop.h"
#include "base/sync.h"
#include "front/service.h"
#include "timeline/metrics.h"

namespace hearth::api::testing {

// What became of one reply, seen from the front.
struct ReplyRecord {
  explicit ReplyRecord(EventLoop& loop) : events{loop} {}

  Mailbox<front::Event> events;  // what next() will give
  bool cancelled = false;
  bool dropped = false;
  std::optional<int> sent;
};

class FakeReply : public front::Reply {
 public:
  explicit FakeReply(ReplyRecord& record) : record_{record} {}
  ~FakeReply() override { record_.dropped = true; }

  const std::string& id() const override { return id_; }
  Task<front::Event> next() override {
    auto event = co_await record_.events.pop();
    co_return std::move(*event);
  }
  void cancel() override {
    record_.cancelled = true;
    front::Refused refused{Error{ErrorCode::kCancelled, "cancelled"}, {}, {}, {}};
    record_.events.push(std::move(refused));
  }
  void sent(int http_status) override { record_.sent = http_status; }

 private:
  ReplyRecord& record_;
  std::string id_ = "r1";
};

// What became of one transfer, seen from the front.
struct TransferRecord {
  explicit TransferRecord(EventLoop& loop) : events{loop} {}

  Mailbox<front::TransferEvent> events;  // what next() will give
  bool cancelled = false;
  bool dropped = false;
  bool detached = false;
};

class FakeTransfer : public front::Transfer {
 public:
  explicit FakeTransfer(TransferRecord& record) : record_{record} {}
  ~FakeTransfer() override { record_.dropped = true; }

  Task<front::TransferEvent> next() override {
    auto event = co_await record_.events.pop();
    co_return std::move(*event);
  }
  void cancel() override {
    record_.cancelled = true;
    Error cancelled{ErrorCode::kCancelled, "cancelled"};
    record_.events.push(std::move(cancelled));
  }
  void detach() override { record_.detached = true; }

 private:
  TransferRecord& record_;
};

struct Uploaded {
  std::string bytes;
  bool finished = false;
  bool dropped = false;
  std::optional<Error> refusal;  // of finish()
};

class FakeUpload : public front::BlobUpload {
 public:
  explicit FakeUpload(Uploaded& to) : to_{to} {}
  ~FakeUpload() override { to_.dropped = !to_.finished; }
  Task<Result<>> write(std::string bytes) override {
    to_.bytes += bytes;
    co_return Result<>{};
  }
  Task<Result<>> finish() override {
    if (to_.refusal) co_return Failed{*to_.refusal};
    to_.finished = true;
    co_return Result<>{};
  }

 private:
  Uploaded& to_;
};

// A front that answers what the test says. One reply at a time.
class FakeService : public front::Service {
 public:
  explicit FakeService(SimEventLoop& loop) : record{loop}, transfer{loop}, bus{loop} {
    front::ModelStatus model;
    model.name = "smol:latest";
    model.status = "ok";
    model.paths = {"/secret/smol.gguf"};
    model.imported_at_us = 1'700'000'000'000'000;
    model.embedding_length = 2;
    model.layers.push_back({"weights", "resident", 1.0, 5, 5, ""});
    catalogue.push_back(model);
  }

  std::unique_ptr<front::Reply> generate(front::GenerateRequest request,
                                         front::Delivery delivery) override {
    generated = std::move(request);
    delivered = delivery;
    return std::make_unique<FakeReply>(record);
  }
  std::unique_ptr<front::Reply> embed(front::EmbedRequest request) override {
    embedded = std::move(request);
    return std::make_unique<FakeReply>(record);
  }
  std::unique_ptr<front::Reply> load(front::LoadRequest request) override {
    called = "load " + request.context.model;
    loaded = std::move(request);
    return std::make_unique<FakeReply>(record);
  }
  std::vector<front::ModelStatus> models() const override { return catalogue; }
  Result<front::ModelStatus> model(const std::string& name) const override {
    if (throws) throw std::runtime_error("model() failed at /secret/place");
    if (name == "smol" || name == "smol:latest" || name == "a/smol") return catalogue.front();
    return fail(ErrorCode::kNotFound, "there is no model " + name);
  }

  Task<Result<front::ModelStatus>> import_model(std::string path, std::string name) override {
    called = "import " + path + " " + name;
    if (path != "/m/a.gguf") co_return fail(ErrorCode::kNotFound, "open " + path + ": not there");
    co_return catalogue.front();
  }
  Task<Result<>> remove_model(std::string name) override {
    called = "remove " + name;
    co_return Result<>{};
  }
  Task<Result<front::ModelStatus>> copy_model(std::string from, std::string to) override {
    return changed("copy " + from + " " + to);
  }
  Task<Result<front::ModelDetails>> details(std::string name) override {
    called = "details " + name;
    const auto known = model(name);
    if (!known) co_return Failed{known.error()};
    if (details_error) co_return Failed{*details_error};
    co_return model_details;
  }
  Task<Result<front::ModelStatus>> pin(std::string name, std::string layer, Bytes bytes) override {
    return changed("pin " + name + " " + layer + " " + std::to_string(bytes.count()));
  }
  Task<Result<front::ModelStatus>> unpin(std::string name, std::string layer) override {
    return changed("unpin " + name + " " + layer);
  }
  Task<Result<front::ModelStatus>> unload(std::string name) override {
    return changed("unload " + name);
  }
  Task<Result<front::ModelStatus>> release(std::string name) override {
    return changed("release " + name);
  }
  Task<Result<front::ModelStatus>> warm(std::string name, std::string layer) override {
    return changed("warm " + name + " " + layer);
  }
  Task<Result<front::ModelStatus>> cool(std::string name, std::string layer) override {
    return changed("cool " + name + " " + layer);
  }

  std::unique_ptr<front::Transfer> pull(front::PullRequest request) override {
    called = "pull " + request.source + " " + request.name;
    pulled = std::move(request);
    return std::make_unique<FakeTransfer>(transfer);
  }
  std::unique_ptr<front::Transfer> verify(front::VerifyRequest request) override {
    called = "verify " + request.model + (request.repair ? " repair" : "");
    return std::make_unique<FakeTransfer>(transfer);
  }
  std::vector<front::PullStatus> pulls() const override { return pulls_now; }
  Task<Result<>> stop_pull(std::string name, Parts parts) override {
    called = "stop_pull " + name + (parts == Parts::kDrop ? " drop" : "");
    co_return Result<>{};
  }
  Task<Result<std::vector<front::Prunable>>> prune(Prune what) override {
    called = what == Prune::kShow ? "prune show" : "prune delete";
    co_return prunable;
  }
  Task<Result<front::CoolPreview>> preview_cool(std::string name, std::string layer) override {
    called = "preview_cool " + name + (layer == "artifact" ? "" : " " + layer);
    co_return cool_preview;
  }
  Task<Result<front::ModelStatus>> create_model(front::CreateRequest request) override {
    std::string call = "create " + request.name;
    created = std::move(request);
    return changed(std::move(call));
  }
  Task<Result<Bytes>> blob(std::string digest) override {
    called = "blob " + digest;
    if (!blob_size) co_return fail(ErrorCode::kNotFound, "no blob " + digest);
    co_return *blob_size;
  }
  Task<Result<std::unique_ptr<front::BlobUpload>>> receive_blob(std::string digest,
                                                                Bytes) override {
    called = "receive_blob " + digest;
    std::unique_ptr<front::BlobUpload> upload = std::make_unique<FakeUpload>(uploaded);
    co_return upload;
  }
  Task<Result<>> rescan() override {
    called = "rescan";
    co_return Result<>{};
  }

  std::string prefix(front::PromptTexts texts) const override {
    told_texts = texts;
    return R"({"models":[]})";
  }
  std::string doctor(front::PromptTexts texts) const override {
    told_texts = texts;
    return R"({"findings":[]})";
  }
  mutable std::optional<front::PromptTexts> told_texts;
  std::string memory() const override { return R"({"limit_bytes":1})"; }
  std::string moves() const override { return R"({"moves":[],"total":0})"; }
  std::string levels() const override { return R"({"protected":[]})"; }
  Task<Result<Bytes>> cool_prefix(front::PrefixChoice choice) override {
    called = "cool_prefix " + (choice.model.empty() ? "all" : choice.model);
    if (choice.tier == front::PrefixChoice::Tier::kMemory) called += " memory";
    if (choice.key) called += " of " + *choice.key;
    co_return Bytes{4096};
  }

  std::vector<front::ModuleStatus> modules() const override { return known_modules; }
  Result<front::ModuleStatus> module(const std::string& name) const override {
    for (const front::ModuleStatus& known : known_modules) {
      if (known.module.name == name) return known;
    }
    return fail(ErrorCode::kNotFound, "there is no module " + name);
  }
  Task<Result<front::ModuleStatus>> set_module(ModuleRequest request) override {
    called = "set_module " + request.name + " " + request.text;
    for (const std::string& model : request.models) called += " " + model;
    front::ModuleStatus made;
    made.module.name = request.name;
    made.module.text = request.text;
    known_modules.push_back(made);
    co_return made;
  }
  Task<Result<>> remove_module(std::string name) override {
    called = "remove_module " + name;
    co_return Result<>{};
  }

  Task<Result<std::vector<std::string>>> history(HistoryQuery query) override {
    asked = std::move(query);
    co_return std::vector<std::string>{R"({"request_id":"b"})", R"({"request_id":"a"})"};
  }
  Task<Result<std::string>> history_entry(std::string id) override {
    if (id != "last") co_return fail(ErrorCode::kNotFound, "no such request");
    co_return R"({"request_id":"b"})";
  }
  std::string running() const override { return R"({"requests":[{"request_id":"c"}]})"; }
  const front::KeyRing& keys() const override { return key_ring; }
  const front::AccessRules& access() const override { return access_rules; }
  Task<Result<front::NewKey>> add_key(std::string name, front::Role role) override {
    called = "add_key " + name;
    co_return front::NewKey{{"k1", name, role, 5}, "secret"};
  }
  Task<Result<>> remove_key(std::string id_or_name) override {
    called = "remove_key " + id_or_name;
    co_return Result<>{};
  }
  std::string configuration() const override { return R"({"options":[]})"; }
  Task<Result<std::string>> reload_configuration() override { co_return R"({"changed":[]})"; }
  front::EventBus& events() override { return bus; }
  Metrics& metrics() override { return metrics_; }
  std::string about() const override { return R"({"version":"0"})"; }

  ReplyRecord record;
  TransferRecord transfer;
  front::EventBus bus;
  std::vector<front::ModelStatus> catalogue;
  front::GenerateRequest generated;
  front::EmbedRequest embedded;
  front::LoadRequest loaded;
  front::ModelDetails model_details;
  std::optional<Error> details_error;
  front::KeyRing key_ring;
  front::AccessRules access_rules;
  front::Delivery delivered = front::Delivery::kWhole;
  HistoryQuery asked;
  front::PullRequest pulled;
  front::CreateRequest created;
  std::vector<front::PullStatus> pulls_now;
  std::vector<front::Prunable> prunable;
  front::CoolPreview cool_preview;
  std::optional<Bytes> blob_size;
  std::vector<front::ModuleStatus> known_modules;
  Uploaded uploaded;
  std::string called;
  bool throws = false;

 private:
  Task<Result<front::ModelStatus>> changed(std::string call) {
    called = std::move(call);
    co_return catalogue.front();
  }

  Metrics metrics_{BuildInfo{"0", "test"}};
};

}  // namespace hearth::api::testing
