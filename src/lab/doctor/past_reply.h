// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace hearth::lab {

// One entry of a server's history, as far as a diagnosis needs it. A plain value.
struct PastReply {
  std::int64_t started_us = 0;  // wall clock
  std::string model;
  std::string response_class;
  std::string code;  // of the verdict; empty: there was nothing to explain
  std::string text;  // its sentence
  double cost_ms = 0;
  Bytes read;          // by stages that read models' files
  double read_ms = 0;  // and what these took
};

// nullopt for what met no cache: loads by hand, counts, requests that were refused or left early.
std::optional<PastReply> past_reply_of(const boost::json::object& entry);

}  // namespace hearth::lab
