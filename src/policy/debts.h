// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>

namespace hearth {

// What keeps two models from swapping each other out: a load owes a turn to each request that
// waited for it, and until all had theirs, or left, the model is not moved. A count, not a timer,
// so it holds nothing longer than need be. Not thread-safe.
class Debts {
 public:
  using RequestId = std::uint64_t;

  // `request` waits for `model` to be loaded; once more is as once.
  void wait(const std::string& model, RequestId request) { waiting_[model].insert(request); }
  // It had its turn, or went away, or will not be served; of one that never waited: nothing.
  void settle(const std::string& model, RequestId request) {
    const auto found = waiting_.find(model);
    if (found == waiting_.end()) return;
    found->second.erase(request);
    if (found->second.empty()) waiting_.erase(found);
  }
  // The load failed, the worker died: nobody waits for it any more.
  void forget(const std::string& model) { waiting_.erase(model); }

  int owed(const std::string& model) const {
    const auto found = waiting_.find(model);
    return found == waiting_.end() ? 0 : static_cast<int>(found->second.size());
  }

 private:
  std::map<std::string, std::unordered_set<RequestId>> waiting_;
};

}  // namespace hearth
