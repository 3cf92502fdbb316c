// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu_threads.h"

#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <llama.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "base/files.h"

namespace hearth::engine {
namespace {

template <class Function>
Function* cpu_function(const char* name) {
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (device == nullptr) return nullptr;
  void* address = ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), name);
  return reinterpret_cast<Function*>(address);
}

// A thread that waits for the next step sleeps at once: while weights are on their way it would
// spin away a processor that brings them, and waking it costs microseconds.
constexpr unsigned kPolling = 0;

// The engine's threads take the name of the thread that makes them; by it they are found.
constexpr const char* kThreadName = "hearth-eval";

std::set<pid_t> threads_named(const std::string& name) {
  std::set<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task", error}) {
    if (read_small_file(entry.path() / "comm") != name + "\n") continue;
    const std::string text = entry.path().filename();
    pid_t id = 0;
    std::from_chars(text.data(), text.data() + text.size(), id);
    found.insert(id);
  }
  return found;
}

}  // namespace

int physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::string siblings =
        read_small_file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings", cpu));
    cores.insert(siblings.empty() ? fmt::format("cpu{}", cpu) : std::move(siblings));
  }
  return std::max(1, static_cast<int>(cores.size()));
}

void CpuThreads::Free::operator()(ggml_threadpool* pool) const {
  if (auto* free = cpu_function<decltype(ggml_threadpool_free)>("ggml_threadpool_free")) free(pool);
}

CpuThreads::CpuThreads(int most) : most_{most > 0 ? most : physical_cores()} { use(most_); }

void CpuThreads::use(int count) {
  count = std::clamp(count, 1, most_);
  if (count == count_) return;
  count_ = count;
  if (!pools_.contains(count)) pools_.emplace(count, make_pool(count));
}

CpuThreads::Pool CpuThreads::make_pool(int count) {
  Pool pool;
  auto* make = cpu_function<decltype(ggml_threadpool_new)>("ggml_threadpool_new");
  if (make == nullptr) return pool;
  ggml_threadpool_params params;
  ggml_threadpool_params_init(&params, count);
  params.poll = kPolling;
  params.paused = true;  // until the first computation
  char own_name[16] = {};
  ::pthread_getname_np(::pthread_self(), own_name, sizeof own_name);
  const std::set<pid_t> before = threads_named(kThreadName);
  ::pthread_setname_np(::pthread_self(), kThreadName);
  pool.handle.reset(make(&params));
  const std::set<pid_t> after = threads_named(kThreadName);
  ::pthread_setname_np(::pthread_self(), own_name);
  std::ranges::set_difference(after, before, std::back_inserter(pool.ids));
  std::erase(pool.ids, ::gettid());
  return pool;
}

std::vector<pid_t> CpuThreads::ids() const {
  std::vector<pid_t> all{::gettid()};
  const std::vector<pid_t>& others = pools_.at(count_).ids;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

int CpuThreads::lead(llama_context* context, int followed) const {
  if (followed == count_) return count_;
  llama_set_n_threads(context, count_, count_);
  ggml_threadpool* pool = pools_.at(count_).handle.get();
  if (pool != nullptr) llama_attach_threadpool(context, pool, pool);
  return count_;
}

}  // namespace hearth::engine
