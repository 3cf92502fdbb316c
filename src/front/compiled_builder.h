// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/event_loop.h"
#include "base/sync.h"
#include "front/compiled_store.h"
#include "front/model_host.h"

namespace hearth::front {

// Has workers store what their loads computed: by itself, one at a time, once the model has been
// quiet for a moment and its content is known; or when somebody asks. Belongs to the loop; stop()
// before destroying it.
class CompiledBuilder {
 public:
  struct World {
    EventLoop& loop;
    CompiledStore& store;
    std::function<std::optional<std::string>(const std::string& artifact)> content;
    std::function<ModelHost*(const std::string& artifact)> host;  // null: it has none
  };
  explicit CompiledBuilder(World world)
      : world_{std::move(world)}, tasks_{world_.loop}, changed_{world_.loop} {}

  // A load computed something: store it when there is time.
  void want(const std::string& artifact);

  // Now, and until it is stored. Its content must be known. Errors: those of CompiledStore::begin()
  // and keep(), and of ModelHost::store_repack().
  Task<Result<>> build(std::string artifact, StoreWish wish);

  Task<void> stop();

  // No request of the model for so long before its worker is asked; a model that is never quiet is
  // not waited for beyond kPatience.
  static constexpr std::chrono::seconds kQuiet{1};
  static constexpr std::chrono::seconds kPatience{60};

 private:
  struct Wanted {
    TimePoint since;
    TimePoint busy_at;
  };

  Task<void> work();
  bool is_ready(const std::string& artifact, Wanted& wanted);
  std::optional<std::string> next_ready();
  Task<Result<>> write(std::string artifact, CompiledStore::Draft draft);

  World world_;
  Gate tasks_;
  Notify changed_;
  std::map<std::string, Wanted> wanted_;  // by artifact
  bool working_ = false;                  // work() is under way
  bool building_ = false;                 // somebody writes
  bool stopping_ = false;
};

}  // namespace hearth::front
