// SPDX-License-Identifier: Apache-2.0
#include "lab/target/llama_swap_target.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/json.hpp>
#include <fstream>

#include "base/fd.h"
#include "base/text.h"
#include "lab/machine/processes.h"
#include "lab/target/json_look.h"

namespace hearth::lab {
namespace {

using std::chrono::seconds;

constexpr seconds kPatience{60};

// It hands its own children ports from a given one on, and asks nobody. One that the kernel has
// just given out is most likely free a moment later.
std::uint16_t free_port() {
  const Fd probe{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), size);
  ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// For its shell-like splitting of commands.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return text + "'";
}

}  // namespace

Result<std::unique_ptr<Target>> LlamaSwapTarget::open(const TargetOptions& options) {
  const Result<std::string> program =
      find_program(options.program.empty() ? "llama-swap" : options.program);
  if (!program) return Failed{program.error()};
  const Result<std::string> server =
      find_program(options.llama_server.empty() ? "llama-server" : options.llama_server);
  if (!server) return Failed{server.error()};
  std::unique_ptr<LlamaSwapTarget> target{new LlamaSwapTarget{options}};
  target->set_program(*program);
  target->llama_server_ = *server;
  if (Result<> made = target->make_folders(); !made) return Failed{std::move(made).error()};
  const auto told = run_to_end(
      {{*program, "-version"}, {}, target->in_folder("version.log"), nullptr}, seconds{20});
  if (told) target->set_version(std::string{trimmed(*told, " \r\n")});
  if (Result<> started = target->start(); !started) return Failed{std::move(started).error()};
  return target;
}

std::string LlamaSwapTarget::configuration() const {
  std::string command =
      fmt::format("{} -m {} --alias lab --host 127.0.0.1 --port ${{PORT}} -c {} --no-ui",
                  quoted(llama_server_), quoted(options().model), options().context);
  if (options().threads > 0) command += fmt::format(" -t {}", options().threads);
  return fmt::format(
      "healthCheckTimeout: 600\nstartPort: {}\nmodels:\n  \"lab\":\n"
      "    proxy: \"http://127.0.0.1:${{PORT}}\"\n    ttl: 0\n    cmd: |\n      {}\n",
      free_port(), command);
}

Launch LlamaSwapTarget::launch() {
  const std::string file = in_folder("llama-swap.yaml");
  std::ofstream{file} << configuration();
  std::vector<std::string> argv = options().within;
  argv.insert(argv.end(), {program(), "-config", file, "-listen", "127.0.0.1:0"});
  return {argv, {{"HOME", options().folder}}, in_folder("server.log"), options().journal};
}

Result<> LlamaSwapTarget::bring(Step step) {
  if (!runs())
    return step == Step::kLoad ? start().and_then([this] { return load(); }) : Result<>{};
  switch (step) {
    case Step::kLoad:
      return load();
    case Step::kUnload:
      return unload();
    case Step::kEndWorker:
      return end_server();
    case Step::kForgetPrompts:
      return forget_prompts();
    case Step::kPromptsToMemory:
    case Step::kPromptsToDisk:
      return unsupported(step, "what prompts leave behind is its llama-server's own matter");
    case Step::kRemoveModel:
      return unsupported(step, "its llama-server was given a file and fetches none");
    case Step::kStop:
    case Step::kStart:
      break;
  }
  return {};
}

bool LlamaSwapTarget::is_loaded() const {
  const auto told = call("GET", "/running");
  const boost::json::array* running = told ? array_at(*told, {"running"}) : nullptr;
  return running != nullptr && !running->empty();
}

// Whatever is asked of the server behind it makes it run.
Result<> LlamaSwapTarget::load() const {
  const auto asked = call("GET", "/upstream/lab/health", {}, Takes::kReading);
  if (!asked) return Failed{asked.error()};
  return wait_until("the model is loaded", kPatience, [this] { return is_loaded(); });
}

Result<> LlamaSwapTarget::unload() const {
  const auto asked = call("GET", "/unload");
  if (!asked) return Failed{asked.error()};
  return wait_until("its llama-server is gone", kPatience,
                    [this] { return !is_loaded() && children_of(process()->pid()).empty(); });
}

Result<> LlamaSwapTarget::end_server() const {
  for (const pid_t pid : children_of(process()->pid())) {
    if (Result<> ended = end(pid); !ended) return ended;
  }
  return wait_until("it saw its llama-server's end", kPatience, [this] { return !is_loaded(); });
}

Result<> LlamaSwapTarget::forget_prompts() const {
  if (!is_loaded()) return {};
  if (Result<> unloaded = unload(); !unloaded) return unloaded;
  return load();
}

}  // namespace hearth::lab
