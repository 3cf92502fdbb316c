// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <vector>

struct ggml_threadpool;
struct llama_context;

namespace hearth::engine {

// Physical cores among the CPUs that this process may run on, at least 1.
int physical_cores();

// The engine's compute threads, kept between steps: making them anew for every token would cost
// more than some tokens. How many compute can change from one step to the next; every context
// follows before it evaluates. One computation at a time. Belongs to the thread that computes,
// which is one of them; must outlive the contexts that use it.
class CpuThreads {
 public:
  // At most so many; 0: the physical cores. It begins with all of them.
  explicit CpuThreads(int most = 0);

  int most() const { return most_; }
  int count() const { return count_; }

  // From 1 to most().
  void use(int count);

  // Of the threads in use: the kernel's ids, the calling thread's first.
  std::vector<pid_t> ids() const;

  // For a context: its count and pool are brought up to date. `followed`: what this returned for
  // the same context last, 0 at first.
  int lead(llama_context* context, int followed) const;

 private:
  struct Free {
    void operator()(ggml_threadpool* pool) const;
  };
  // A pool for each count: of one that is larger than a computation needs, the others would wake
  // and poll with every step. Those not in use sleep. Kept to the end, because a context looks at
  // the pool it had when it gets another.
  struct Pool {
    std::unique_ptr<ggml_threadpool, Free> handle;  // null: the engine makes its own each time
    std::vector<pid_t> ids;                         // without the calling thread
  };
  static Pool make_pool(int count);

  int most_;
  int count_ = 0;
  std::map<int, Pool> pools_;
};

}  // namespace hearth::engine
