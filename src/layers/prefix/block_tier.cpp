// SPDX-License-Identifier: Apache-2.0
#include "layers/prefix/block_tier.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>

// Who goes: of the blocks that none follows, the one whose worth is least. Worth is the time of its
// last use, and 3/5 of a budget more once a second prompt needed it; time is counted in bytes taken
// in. What goes on from the end of such a chain, as a conversation's next turn does, is worth as
// much at once; what branches off before its end is not. So conversations and what they share
// outlast what came once (a long document, say), among themselves the longest unused goes, and no
// former fame lasts for ever: a segmented LRU (Karedla, Love, Wherry 1994) without fixed segments.
// Those that had to go leave name and count behind, as in 2Q (Johnson, Shasha 1994), so that one
// that comes back is known to be needed again. Only ends of chains go, as in a radix tree of
// prompts (Zheng et al., SGLang, 2024). 3/5 was chosen by hearth-bench-prefix-index on traces.
// Without the rule for next turns, chats that had ended pushed out the last turns of those alive.
namespace hearth {
namespace {

// Above that, worth could overflow.
constexpr Bytes kMostBudget{std::uint64_t{1} << 60};

struct HashOfDigest {
  std::size_t operator()(const Digest& digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof(hash));
    return hash;
  }
};

// Names of blocks that had to go, with the uses they had: as many as blocks are here, the oldest
// are forgotten.
class Ghosts {
 public:
  void add(const Digest& name, int uses, std::size_t most) {
    by_age_.push_back({name, uses});
    by_name_[name] = std::prev(by_age_.end());
    trim(most);
  }
  void note_use(const Digest& name, int most_uses) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    found->second->uses = std::min(found->second->uses + 1, most_uses);
  }
  // Forgets it too.
  int take(const Digest& name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return 0;
    const int uses = found->second->uses;
    by_age_.erase(found->second);
    by_name_.erase(found);
    return uses;
  }
  void trim(std::size_t most) {
    while (by_age_.size() > most) take(Digest{by_age_.front().name});
  }

 private:
  struct Ghost {
    Digest name;
    int uses;
  };
  std::list<Ghost> by_age_;  // oldest first
  std::unordered_map<Digest, std::list<Ghost>::iterator, HashOfDigest> by_name_;
};

}  // namespace

class BlockTier::State {
 public:
  explicit State(Bytes budget) : budget_{budget} {}

  struct Node {
    const Digest* name = nullptr;  // the key in nodes_
    Node* parent = nullptr;
    Node* first_child = nullptr;
    Node* next = nullptr;  // sibling
    Node* before = nullptr;
    std::uint64_t worth = 0;
    std::uint64_t serial = 0;  // of equal worth, the older goes
    Bytes size;
    int uses = 0;
    bool proven = false;  // needed again, or what goes on from the end of such a chain
    Stay stay = Stay::kAsLongAsWorth;
  };

  const Node* find(const Digest& name) const {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : &found->second;
  }
  Node* find(const Digest& name) {
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : &found->second;
  }

  void note_use(const Digest& name) {
    Node* node = find(name);
    if (node == nullptr) return ghosts_.note_use(name, kMostUses);
    unlist(*node);
    node->uses = std::min(node->uses + 1, kMostUses);
    node->proven = true;
    set_worth(*node);
    list(*node);
  }

  std::vector<Digest> add(const Digest& name, const Digest& parent, Bytes size, Stay stay) {
    if (Node* known = find(name)) {
      set_stay(*known, stay);
      return {};
    }
    if (size > budget_ - staying_) return {name};
    clock_ += size.count();
    const auto entry = nodes_.try_emplace(name).first;
    Node& node = entry->second;
    node.name = &entry->first;
    node.serial = ++serial_;
    node.size = size;
    node.stay = stay;
    node.uses = ghosts_.take(name);
    Node* before = find(parent);
    const bool goes_on = before != nullptr && before->proven && before->first_child == nullptr;
    node.proven = node.uses > 0 || goes_on;
    set_worth(node);
    join(node, before);
    used_ += size;
    if (stay == Stay::kAlways) staying_ += size;
    list(node);
    std::vector<Digest> gone = shrink();
    // Nothing else could go: it follows or is one that stays, and the budget holds all the same.
    if (used_ > budget_ && has_no_child(name)) gone.push_back(take_out(*find(name)));
    return gone;
  }

  void set_stay(Node& node, Stay stay) {
    if (node.stay == stay) return;
    unlist(node);
    node.stay = stay;
    staying_ = stay == Stay::kAlways ? staying_ + node.size : staying_ - node.size;
    list(node);
  }

  std::vector<Digest> remove(Node& top) {
    std::vector<Digest> gone;
    for (bool more = true; more;) {
      Node* end = &top;
      while (end->first_child != nullptr) end = end->first_child;
      more = end != &top;
      gone.push_back(take_out(*end));
    }
    ghosts_.trim(nodes_.size());
    return gone;
  }

  std::vector<Digest> set_budget(Bytes budget) {
    budget_ = budget;
    return shrink();
  }

  Bytes used() const { return used_; }
  std::size_t blocks() const { return nodes_.size(); }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  static Key key_of(const Node& node) { return {node.worth, node.serial}; }
  static bool may_go(const Node& node) {
    return node.first_child == nullptr && node.stay == Stay::kAsLongAsWorth;
  }
  bool has_no_child(const Digest& name) const {
    const Node* node = find(name);
    return node != nullptr && node->first_child == nullptr;
  }

  void list(Node& node) {
    if (may_go(node)) ends_.emplace(key_of(node), &node);
  }
  void unlist(const Node& node) {
    if (may_go(node)) ends_.erase(key_of(node));
  }
  void set_worth(Node& node) {
    const std::uint64_t bonus = std::min(budget_, kMostBudget).count() * 3 / 5;
    node.worth = clock_ + (node.proven ? bonus : 0);
  }

  void join(Node& node, Node* parent) {
    if (parent == nullptr) return;
    unlist(*parent);
    node.parent = parent;
    node.next = parent->first_child;
    if (node.next != nullptr) node.next->before = &node;
    parent->first_child = &node;
  }

  void leave(const Node& node) {
    if (node.next != nullptr) node.next->before = node.before;
    if (node.before != nullptr) node.before->next = node.next;
    if (node.parent == nullptr || node.before != nullptr) return;
    node.parent->first_child = node.next;
    if (node.next == nullptr) list(*node.parent);
  }

  Digest take_out(Node& node) {
    unlist(node);
    leave(node);
    used_ = used_ - node.size;
    if (node.stay == Stay::kAlways) staying_ = staying_ - node.size;
    const Digest name = *node.name;
    nodes_.erase(name);
    return name;
  }

  std::vector<Digest> shrink() {
    std::vector<Digest> gone;
    while (used_ > budget_ && !ends_.empty()) {
      Node& least = *ends_.begin()->second;
      const int uses = least.uses;
      gone.push_back(take_out(least));
      ghosts_.add(gone.back(), uses, nodes_.size());
    }
    return gone;
  }

  Bytes budget_;
  Bytes used_;
  Bytes staying_;
  std::uint64_t clock_ = 0;  // bytes taken in so far
  std::uint64_t serial_ = 0;
  std::unordered_map<Digest, Node, HashOfDigest> nodes_;
  std::map<Key, Node*> ends_;  // those that may go, the least first
  Ghosts ghosts_;
};

BlockTier::BlockTier(Bytes budget) : state_{std::make_unique<State>(budget)} {}
BlockTier::~BlockTier() = default;

bool BlockTier::has(const Digest& block) const { return state_->find(block) != nullptr; }

std::size_t BlockTier::leading(std::span<const Digest> chain) const {
  std::size_t count = 0;
  while (count < chain.size() && has(chain[count])) ++count;
  return count;
}

int BlockTier::uses(const Digest& block) const {
  const State::Node* node = state_->find(block);
  return node == nullptr ? 0 : node->uses;
}

void BlockTier::note_use(std::span<const Digest> chain) {
  for (const Digest& block : chain) state_->note_use(block);
}

std::vector<Digest> BlockTier::add(const Digest& block, const Digest& parent, Bytes size,
                                   Stay stay) {
  return state_->add(block, parent, size, stay);
}

void BlockTier::set_stay(const Digest& block, Stay stay) {
  if (State::Node* node = state_->find(block)) state_->set_stay(*node, stay);
}

std::vector<Digest> BlockTier::remove(const Digest& block) {
  State::Node* node = state_->find(block);
  return node == nullptr ? std::vector<Digest>{} : state_->remove(*node);
}

std::vector<Digest> BlockTier::set_budget(Bytes budget) { return state_->set_budget(budget); }

Bytes BlockTier::used() const { return state_->used(); }
std::size_t BlockTier::blocks() const { return state_->blocks(); }

}  // namespace hearth
