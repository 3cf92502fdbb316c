// SPDX-License-Identifier: Apache-2.0
#include "lab/target/address_target.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>

#include "base/fd.h"
#include "base/json.h"
#include "http/address.h"
#include "lab/machine/processes.h"
#include "lab/target/json_look.h"
#include "lab/target/modelfile.h"
#include "lab/target/process_view.h"
#include "lab/target/stoppable_call.h"

namespace hearth::lab {
namespace {

namespace json = boost::json;

constexpr std::uint16_t kUsualPort = 80;
constexpr std::chrono::seconds kPatience{30};
constexpr std::uint64_t kLeastModelBytes = 16U << 20U;

// Whoever can be bound to is one of this machine's own addresses.
bool is_of_this_machine(const std::string& host) {
  const auto addresses = http::resolve(host, 0);
  if (!addresses) return false;
  return std::ranges::any_of(*addresses, [](const http::Address& address) {
    const Fd probe{::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return probe && ::bind(probe.get(), address.get(), address.length) == 0;
  });
}

json::value parsed(const std::string& body) {
  Result<json::value> value = parse_json(body);
  return value ? std::move(*value) : json::value{};
}

}  // namespace

AddressTarget::AddressTarget(const TargetOptions& options, http::Client client)
    : options_{options},
      client_{std::move(client)},
      name_{options.name.empty() ? client_.address() : options.name} {}

Result<std::unique_ptr<Target>> AddressTarget::open(const TargetOptions& options) {
  if (std::ranges::any_of(options.key, [](unsigned char c) { return c <= ' ' || c == 0x7f; })) {
    return fail(ErrorCode::kInvalid, "an API key has no spaces and no control characters");
  }
  const Result<http::Client> client = http::Client::to(options.server, kUsualPort);
  if (!client) return Failed{client.error()};
  std::unique_ptr<AddressTarget> target{new AddressTarget{options, *client}};
  const auto answer = target->call({});
  if (!answer) return Failed{answer.error()};
  if (answer->status == 401 || answer->status == 403) {
    return fail(ErrorCode::kUnavailable,
                options.server + " wants an API key: --key, or HEARTH_API_KEY in the environment");
  }
  target->asking_.key = options.key;
  target->asking_.stop = options.stop;
  target->is_local_ = is_of_this_machine(client->host());
  target->find_kind();
  if (Result<> found = target->find_model(); !found) return Failed{std::move(found).error()};
  if (target->asking_.dialect == Dialect::kOllama) target->find_file_of_ollama();
  return target;
}

Result<http::HttpResponse> AddressTarget::call(http::Client::Call call) const {
  call.read_timeout = kPatience;
  if (!options_.key.empty()) call.headers.emplace_back("Authorization", "Bearer " + options_.key);
  return call_until_stopped(client_, call, options_.stop);
}

std::string AddressTarget::body_of(const std::string& path) const {
  http::Client::Call call_of_it;
  call_of_it.target = path;
  Result<http::HttpResponse> answer = call(std::move(call_of_it));
  return answer && answer->status == 200 ? std::move(answer->body) : std::string{};
}

void AddressTarget::find_kind() {
  const json::value version = parsed(body_of("/api/version"));
  const bool is_llama_swap = array_at(parsed(body_of("/running")), {"running"}) != nullptr;
  is_hearth_ = look(version, {"hearth"}) != nullptr;
  if (is_hearth_) {
    version_ = "Hearth " + text_at(version, {"hearth"});
  } else if (is_llama_swap) {
    version_ = "llama-swap " + text_at(version, {"version"});
  } else if (look(version, {"version"}) != nullptr) {
    version_ = "Ollama " + text_at(version, {"version"});
    asking_.dialect = Dialect::kOllama;
  } else if (const json::value props = parsed(body_of("/props")); props.is_object()) {
    version_ = text_at(props, {"build_info"});
    add_file(text_at(props, {"model_path"}));
  }
  is_known_ = is_hearth_ || asking_.dialect == Dialect::kOllama;
}

// A path that the server tells, if it is one of this machine.
void AddressTarget::add_file(const std::string& path) {
  std::error_code error;
  const bool is_path = is_local_ && path.starts_with('/');
  if (is_path && std::filesystem::is_regular_file(path, error)) models_.insert(path);
}

// Ollama does not map its files, so what it says of them counts.
void AddressTarget::find_file_of_ollama() {
  http::Client::Call show;
  show.method = "POST";
  show.target = "/api/show";
  show.headers = {{"Content-Type", "application/json"}};
  show.body = json::serialize(json::object{{"model", asking_.model}});
  const Result<http::HttpResponse> answer = call(std::move(show));
  if (!answer || answer->status != 200) return;
  add_file(file_in_modelfile(text_at(parsed(answer->body), {"modelfile"})));
}

Result<> AddressTarget::find_model() {
  asking_.model = options_.model;
  if (!asking_.model.empty()) return {};
  const json::value list = parsed(body_of("/v1/models"));
  const json::array* models = array_at(list, {"data"});
  if (models != nullptr && !models->empty()) asking_.model = text_at(models->front(), {"id"});
  if (!asking_.model.empty()) return {};
  return fail(ErrorCode::kNotFound, name_ + " lists no model; say which one is to be asked");
}

std::vector<pid_t> AddressTarget::processes() const {
  std::vector<pid_t> all;
  for (const pid_t root : is_local_ ? listeners(client_.port()) : std::vector<pid_t>{}) {
    const std::vector<pid_t> tree = process_tree(root);
    all.insert(all.end(), tree.begin(), tree.end());
  }
  return all;
}

void AddressTarget::look_at_files() {
  for (const pid_t pid : processes()) {
    for (auto& path : mapped_files(pid, Mapped::kData, kLeastModelBytes)) models_.insert(path);
    for (auto& path : mapped_files(pid, Mapped::kPrograms)) programs_.insert(path);
  }
}

Target::Paths AddressTarget::paths() const {
  Paths paths;
  paths.model.assign(models_.begin(), models_.end());
  paths.programs.assign(programs_.begin(), programs_.end());
  return paths;
}

std::map<std::string, std::string> AddressTarget::levels() const {
  std::map<std::string, std::string> found;
  if (!is_hearth_) return found;
  const json::value told = parsed(body_of("/api/hearth/models/" + asking_.model));
  const json::value* layers = look(told, {"layers"});
  if (layers == nullptr || !layers->is_object()) return found;
  for (const auto& [layer, what] : layers->get_object()) {
    found[std::string{layer}] = text_at(what, {"level"});
  }
  return found;
}

Result<> AddressTarget::take(Step step) {
  if (step == Step::kStart) {
    return body_of("/v1/models").empty() ? fail(ErrorCode::kUnavailable, name_ + " does not answer")
                                         : Result<>{};
  }
  if (step != Step::kLoad) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: {}: the lab did not start this server and does nothing to it",
                            name_, name_of(step)));
  }
  Question hello;
  hello.prompt = "Hello";
  hello.new_tokens = 1;
  const Answer answer = ask(hello);
  if (answer.ending == Answer::Ending::kDone) return {};
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", name_, answer.problem));
}

// What it does not know is found out by asking: members of llama.cpp's, then completions at all.
Answer AddressTarget::ask(const Question& asked) {
  const Question question = with_patience(asked, options_);
  Answer answer = ask_server(client_, asking_, question);
  for (const Dialect next : {Dialect::kPlainCompletion, Dialect::kChat}) {
    if (is_known_ || !is_unknown_dialect(answer)) break;
    asking_.dialect = next;
    answer = ask_server(client_, asking_, question);
  }
  if (answer.ending == Answer::Ending::kDone) is_known_ = true;
  // Once is enough, and whoever measures the request waits for it.
  if (models_.empty() || programs_.empty()) look_at_files();
  return answer;
}

}  // namespace hearth::lab
