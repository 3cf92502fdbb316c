// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/fields.h"
#include "wire/messages.h"

namespace hearth::api::ollama {

enum class Treatment {
  kHonoured,
  kNeutralOnly,  // taken when it asks for what happens anyway, refused otherwise
  kNoEffect,     // only means something together with a member that is refused
};

// What becomes of one member of `options`: the whole of it is decided in this table.
struct OptionRule {
  std::string_view name;
  Treatment treatment;
  std::string_view neutral;  // of kNeutralOnly: the JSON value that is taken
  std::string_view text;     // what it does here; of kNeutralOnly: what to do instead
};

std::span<const OptionRule> option_rules();

// Where Ollama's defaults differ from the engine's.
wire::Sampling default_sampling();

// How much of a raw prompt stays at its start when it must lose something, if nobody says.
inline constexpr int kDefaultKeep = 4;

// Reads `options` of `body` into `message`. Unknown names are refused, naming the nearest known
// one: with a wrong letter in it an option would change nothing, and nobody would notice.
void read_options(const Fields& body, wire::GenerateMessage& message);

// `parameters` of a model that is to be made, as JSON text; empty where there are none. What has
// no effect here is kept all the same, to be shown.
std::string read_parameters(const Fields& body);

// Of requests that generate nothing: the same rules, no effect.
void check_options(const Fields& body);

}  // namespace hearth::api::ollama
