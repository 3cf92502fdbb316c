// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

struct ggml_threadpool;

namespace hearth::engine {

// Physical cores among the CPUs that this process may run on, at least 1.
int physical_cores();

// The engine's compute threads, kept between steps: making them anew for every token would cost
// more than some tokens. One computation at a time; must outlive the contexts that use it.
class CpuThreads {
 public:
  explicit CpuThreads(int count);

  int count() const { return count_; }
  ggml_threadpool* handle() const {
    return pool_.get();
  }  // null: the engine makes its own each time

 private:
  struct Free {
    void operator()(ggml_threadpool* pool) const;
  };
  int count_;
  std::unique_ptr<ggml_threadpool, Free> pool_;
};

}  // namespace hearth::engine
