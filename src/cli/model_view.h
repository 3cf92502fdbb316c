// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/terminal.h"

// What the server says about models, as text. Pure: same input, same text.
namespace hearth::cli {

// True when nothing of the model is in memory: no worker, no pages, no prefix in RAM.
bool is_stone_cold(const boost::json::object& model);

// NAME SIZE QUANT PARAMS CONTEXT LAST USED STATUS. `now_us`: wall time.
std::string models_table(const boost::json::array& models, std::int64_t now_us,
                         const OutputStyle& style);

// Sentences about models, by name.
using ModelNotes = std::map<std::string, std::string>;

// NAME, the five layers, MEMORY, CONTEXT, TTFT NOW, UNTIL, BUSY, each with its note. Empty when
// there is nothing to list.
std::string levels_table(const boost::json::array& models, const ModelNotes& notes,
                         std::int64_t now_us, const OutputStyle& style);

// "smollm2:latest: weights resident, 91.7 MiB of memory", after something changed a level.
std::string level_sentence(const boost::json::object& model, std::string_view layer);

// "smollm2:latest: weights and pages are pinned", after something was pinned or unpinned; followed
// by the level of `layer` where one is named.
std::string pins_sentence(const boost::json::object& model, std::string_view layer);

// "3 models are listed now", after the server has looked for some.
std::string rescanned_sentence(std::size_t models);

}  // namespace hearth::cli
