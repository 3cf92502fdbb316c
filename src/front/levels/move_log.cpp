// SPDX-License-Identifier: Apache-2.0
#include "front/levels/move_log.h"

#include <boost/json.hpp>
#include <utility>

namespace hearth::front {
namespace json = boost::json;
namespace {

json::object object_of(const MoveRecord& move) {
  json::object object{{"at_us", move.at_us},
                      {"model", move.model},
                      {"layer", move.layer},
                      {"from", move.from},
                      {"to", move.to},
                      {"cause", move.cause},
                      {"bytes", move.bytes.count()},
                      {"ms", milliseconds_of(move.time)}};
  if (!move.for_whom.empty()) object["for"] = move.for_whom;
  if (!move.error.empty()) object["error"] = move.error;
  return object;
}

}  // namespace

std::string move_json(const MoveRecord& move) { return json::serialize(object_of(move)); }

void MoveLog::add(MoveRecord move) {
  if (move.error.empty()) ++total_;
  moves_.push_back(std::move(move));
  if (moves_.size() > kMost) moves_.pop_front();
}

std::string MoveLog::json() const {
  json::array all;
  for (auto move = moves_.rbegin(); move != moves_.rend(); ++move) {
    all.push_back(object_of(*move));
  }
  return json::serialize(json::object{{"moves", std::move(all)}, {"total", total_}});
}

}  // namespace hearth::front
