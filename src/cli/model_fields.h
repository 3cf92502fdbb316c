// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

// Single facts of a model as the server tells them, each as a few words for a cell or a line.
// "-" where there is nothing to say. Pure.
namespace hearth::cli {

constexpr std::string_view kNothing = "-";

// The five layers, as every list orders them.
constexpr std::array<std::string_view, 5> kLayers{"artifact", "pages", "weights", "compiled",
                                                  "prefix"};

std::string or_nothing(std::string text);
std::string bytes_text(const boost::json::object& object, std::string_view name);
std::string parameters_text(const boost::json::object& model);
std::string context_text(const boost::json::object& model);
std::string last_used_text(const boost::json::object& model, std::int64_t now_us);
std::string memory_text(const boost::json::object& model);
std::string ttft_text(const boost::json::object& model);
std::string busy_text(const boost::json::object& model);

// "resident 100%", "local", "none": the level of the layer `name`, which is {level, fraction, ...}.
std::string level_text(std::string_view name, const boost::json::object& layer);
// One layer of a model; null where there is none.
const boost::json::object* layer_in(const boost::json::object& model, std::string_view name);
// The same of a model's layer; and its bare level, empty where there is none.
std::string layer_text(const boost::json::object& model, std::string_view name);
std::string level_of(const boost::json::object& model, std::string_view name);

// How long loaded weights stay: "4 minutes from now", "until wanted", "pinned", "5m0s after use"
// while they are used.
std::string until_text(const boost::json::object& model, std::int64_t now_us);

// "5m0s, as the last request asked": how long they stay after use, and who says so.
std::string keep_alive_text(const boost::json::object& model);

}  // namespace hearth::cli
