// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "cli/terminal.h"

// What the server says about models, as text. Pure: same input, same text.
namespace hearth::cli {

// "resident 100%", "local", "none": a layer as lists show it. Takes {level, fraction, detail, ...}.
std::string level_text(const boost::json::object& layer);

// The layer of that name in a model's `layers`; null when there is none.
const boost::json::object* layer_in(const boost::json::object& model, std::string_view name);

// True when nothing of the model is in memory: no worker, no pages, no prefix in RAM.
bool is_stone_cold(const boost::json::object& model);

// NAME SIZE QUANT PARAMS CONTEXT LAST USED STATUS. `now_us`: wall time.
std::string models_table(const boost::json::array& models, std::int64_t now_us,
                         const OutputStyle& style);

// NAME, the five layers, MEMORY, TTFT NOW, BUSY. Empty when there is nothing to list.
std::string levels_table(const boost::json::array& models, const OutputStyle& style);

// Key and value lines.
std::string model_details(const boost::json::object& model, std::int64_t now_us,
                          const OutputStyle& style);

// "smollm2:latest: weights resident, 91.7 MiB of memory", after something changed a level.
std::string level_sentence(const boost::json::object& model, std::string_view layer);

}  // namespace hearth::cli
