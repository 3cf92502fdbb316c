// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"

namespace hearth {

// What prewarming one model has cost and saved since it began.
struct PrewarmAccount {
  Bytes read{};          // ahead of any request
  Bytes used{};          // of it, found by a request
  Bytes wasted{};        // of it, given up before one came
  double gib_hours = 0;  // of memory, until used or wasted
  double saved_s = 0;    // waiting that did not happen
  int pauses = 0;        // how often it was stopped since it did not pay
};

// Keeps those accounts, and stops prewarming of a model where it does not pay. Bytes that were
// prewarmed count as unused until a request finds them or they are given up; where a model holds
// other bytes as well, those given up first are the prewarmed ones. Times are of one clock that
// does not go back (CLOCK_BOOTTIME). Not thread-safe; no clock.
class PrewarmLedger {
 public:
  // A read for `model` brought in so much, now.
  void note_read(const std::string& model, Bytes bytes, Duration now);
  // A request found the model as it lay: what was prewarmed of it is used. `seconds_per_byte` is
  // what reading it then would have taken.
  void note_used(const std::string& model, double seconds_per_byte, Duration now);
  // So much of the model is in memory; to be told whenever it has become less.
  void note_resident(const std::string& model, Bytes resident, Duration now);

  // Of the model's recent prewarmed bytes whose fate is known, less than `least` (a share) were
  // used: it rests, for a day at first, then for twice as long each time, for four weeks at most.
  bool rests(const std::string& model, Duration now) const;
  void judge(const std::string& model, Bytes size, double least, Duration now);

  // Zeroes for one never prewarmed. The memory figure is as of the last note.
  PrewarmAccount account(const std::string& model) const;
  std::vector<std::string> models() const;
  // Prewarmed and not used yet.
  Bytes unused(const std::string& model) const;

 private:
  struct Entry {
    PrewarmAccount account;
    Bytes unused{};
    Duration since{};  // gib_hours stand as of then
    // Of the recent past, to judge by; halved with each verdict.
    double recent_used = 0, recent_wasted = 0;
    Duration rests_until{};
    int in_a_row = 0;
  };
  Entry& at(const std::string& model, Duration now);

  std::map<std::string, Entry> entries_;
};

}  // namespace hearth
