// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "layers/artifact/source/source_index.h"

// Reading what a stranger's server says.
namespace hearth {

// More than this is no file that is meant.
inline constexpr Bytes kMaxPlannedFile{std::uint64_t{1} << 50};

// "huggingface.co", "nas.lan:8080"
std::string server_of(const ModelSource& source);

// For a status that means nothing particular to the protocol. kUnavailable.
Failed unexpected_status(const ModelSource& source, int status);

// kCorrupt: "<server> gave an answer that makes no sense: <what>".
Failed senseless(const ModelSource& source, std::string_view what);

// Empty when it is absent or no text.
std::string text_member(const boost::json::object& object, std::string_view key);

// nullopt when it is absent, no size, or beyond kMaxPlannedFile.
std::optional<Bytes> size_member(const boost::json::object& object, std::string_view key);

}  // namespace hearth
