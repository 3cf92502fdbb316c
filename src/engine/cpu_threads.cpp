// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu_threads.h"

#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <sched.h>

#include <algorithm>
#include <set>
#include <string>

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

CpuThreads::CpuThreads(int count) : count_{count > 0 ? count : physical_cores()} {
  auto* make = cpu_function<decltype(ggml_threadpool_new)>("ggml_threadpool_new");
  if (make == nullptr) return;
  ggml_threadpool_params params;
  ggml_threadpool_params_init(&params, count_);
  pool_.reset(make(&params));
}

}  // namespace hearth::engine
