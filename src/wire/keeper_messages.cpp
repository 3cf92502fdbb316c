// SPDX-License-Identifier: Apache-2.0
#include "wire/keeper_messages.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "wire/frame.h"
#include "wire/object_reader.h"

namespace hearth::wire {
namespace json = boost::json;

std::string encode(const KeepMessage& m) {
  json::array pieces;
  for (const KeepMessage::Piece& piece : m.pieces) {
    pieces.push_back(
        json::object{{"file", piece.file}, {"offset", piece.offset}, {"size", piece.size.count()}});
  }
  return json::serialize(json::object{{"pieces", std::move(pieces)}});
}

Result<KeepMessage> decode_keep(const std::string& payload) {
  const Result<json::value> document = parse_json(payload);
  if (!document) return fail(ErrorCode::kCorrupt, document.error().message());
  const json::object* object = document->if_object();
  if (object == nullptr) return fail(ErrorCode::kCorrupt, "a JSON object was expected");
  constexpr Range<int> kFiles{0, static_cast<int>(kMaxDescriptors) - 1};
  std::optional<Error> error;
  ObjectReader in{*object, "", error};
  in.require({"pieces"});
  KeepMessage m;
  in.each_object("pieces", [&](ObjectReader& one) {
    one.require({"file", "offset", "size"});
    m.pieces.push_back({one.integer("file", kFiles).value_or(0), one.natural("offset").value_or(0),
                        one.bytes("size")});
  });
  if (error) return Failed{*std::move(error)};
  return m;
}

}  // namespace hearth::wire
