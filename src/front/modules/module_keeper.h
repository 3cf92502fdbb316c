// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/event_loop.h"
#include "base/sync.h"
#include "front/modules/module_set.h"
#include "front/modules/module_status.h"
#include "front/prefix/prefix_room.h"
#include "front/reply.h"

namespace hearth::front {

// RequestContext::api of what the keeper asks: no client's, and in no history.
inline constexpr std::string_view kModuleApi = "module";

// Keeps modules warm: has their tokens counted by the workers of the models that use them, and
// evaluates them in models that are loaded and have nothing else to do, so that their blocks are
// stored and stay. Also in the sequences in which requests name several of them; and, where
// requests let a module be used at other positions, its text alone.
//
// It asks through the same door as clients do. What it does by itself gives way to requests, and
// loads no model. Belongs to the loop; stop() before destroying it.
class ModuleKeeper {
 public:
  // One model as it is now.
  struct Model {
    std::string artifact;
    std::uint64_t load = 0;  // number of its last load
    bool tokenizes = false;  // there is a worker
    bool resident = false;
    bool idle = false;  // and nobody waits
    int live_tokens = 0;
    std::optional<KeepAlive> wish;       // of the last request, as far as that holds
    std::optional<PrefixRoom::Use> use;  // without a group; absent: nothing is kept of it now
  };
  struct Asker {
    std::string key;  // id; empty: there are no keys
    std::string group;
  };
  struct World {
    EventLoop& loop;
    const ModuleSet& modules;
    std::function<std::unique_ptr<Reply>(GenerateRequest)> generate;
    // Nothing: no model has that name.
    std::function<std::optional<Model>(const std::string& name)> model;
    // One for each group of keys that may ask.
    std::function<std::vector<Asker>()> askers;
    std::function<std::string(const std::string& key)> group_of;
    // See PrefixRoom::kept(), keep_module() and keep_modules(). Nothing is kept: all zero.
    std::function<PrefixRoom::Kept(const PrefixRoom::Use&, std::span<const int>)> kept;
    std::function<PrefixRoom::Kept(const PrefixRoom::Use&, std::span<const int>,
                                   const std::string& label)>
        keep;
    std::function<void(const std::function<bool(const std::string& label)>&)> let_go;
  };

  explicit ModuleKeeper(World world);
  ~ModuleKeeper();

  // Modules have come, gone, or become others: blocks of former texts may go, like any other.
  void changed();
  // Something may be to be done; cheap, and at most one round at a time.
  void look();
  // Gives up what is under way, and begins nothing more.
  void give_up();
  // The same, and waits until its requests have ended.
  Task<void> stop();

  // A request names these. What is not known of their tokens yet is counted meanwhile.
  ModuleUses note_named(const std::vector<const Module*>& modules, const RequestContext& context);
  // The same request lets them be used at other positions: the tokens of each text alone, of those
  // that this model's worker has counted. They are evaluated when the model is idle, from now on.
  std::vector<std::vector<int>> note_moved(const std::vector<const Module*>& modules,
                                           const RequestContext& context);
  // A client asks this model: what is evaluated in it by itself ends.
  void give_way(const std::string& model);

  // Evaluates what is to be kept warm for this model and is not stored, loading the model; the
  // number of modules and sequences. Errors: those of the model's requests.
  Task<Result<int>> warm(std::string model);

  ModuleStatus status(const Module& module) const;

 private:
  // One module, or several in the order in which requests name them.
  struct Sequence {
    std::vector<std::string> names;
    std::string label;  // "house 3-1f2e3d4c, tools 1-00c0ffee"
    std::string text;
    std::vector<std::string> models;
  };
  struct Key {
    std::string label;
    std::string artifact;
    auto operator<=>(const Key&) const = default;
  };
  struct Known {
    std::vector<int> text;       // alone
    std::vector<int> beginning;  // of each prompt that begins with it
  };
  // What of it is evaluated.
  enum class Part { kBeginning, kText };
  // Requests of a group want to use a module's text at other positions, in any version.
  struct Moved {
    std::string module;
    std::string model;
    std::string group;
    auto operator<=>(const Moved&) const = default;
  };
  struct Tried {
    Key key;
    Part part = Part::kBeginning;
    std::string group;
    std::uint64_t load = 0;
    auto operator<=>(const Tried&) const = default;
  };
  struct Job {
    Sequence sequence;
    std::string model;
    Asker asker;
    Part part = Part::kBeginning;
  };
  enum class Manner { kByItself, kAsked };

  static Sequence sequence_of(std::span<const Module* const> modules);
  std::vector<Sequence> sequences() const;
  bool holds(const std::string& label) const;
  bool was_asked(const Sequence& sequence, const std::string& group) const;
  bool is_moved(const Sequence& sequence, const std::string& artifact,
                const std::string& group) const;
  static const std::vector<int>& tokens_of(const Known& known, Part part);
  GenerateRequest request_to(const std::string& model, const std::string& key) const;
  Task<Result<Finished>> ask(GenerateRequest request, Manner manner);
  Task<Result<>> count(Sequence sequence, std::string model);
  Task<Result<Known>> count_now(Sequence sequence, std::string model);
  Task<void> tell_tokens(ModuleUses uses, std::vector<Sequence> modules, std::string model);
  Task<void> look_around();
  Task<void> attend(Sequence sequence, std::string model, Part part);
  Task<Result<>> warm_moved(std::string model, std::string artifact);
  std::vector<Moved> moved() const;
  Task<Result<>> evaluate(Job job, Manner manner);
  bool is_kept(const PrefixRoom::Use& use, const std::vector<int>& all,
               const std::string& label) const;
  std::string level(const Key& key, const Model& model) const;

  World world_;
  Gate tasks_;
  Notify ended_;  // a count or a turn
  std::map<Key, Known> known_;
  std::map<Key, std::uint64_t> live_;            // the load whose cells had it last
  std::map<std::string, PrefixRoom::Use> uses_;  // the last, by artifact
  std::set<Key> counting_;
  std::set<Key> uncountable_;  // until the next change
  std::set<Tried> tried_;
  std::set<std::vector<std::string>> named_;                 // sequences of several
  std::set<std::pair<std::string, std::string>> asked_for_;  // label and group
  std::set<Moved> moved_;
  std::set<Reply*> replies_;
  Reply* yielding_ = nullptr;  // of what gives way
  std::string yielding_artifact_;
  bool busy_ = false;  // something is being evaluated
  bool looking_ = false;
  bool stopping_ = false;
};

}  // namespace hearth::front
