// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "front/config.h"

namespace hearth::front {

using Texts = std::vector<std::string>;

// What an option's value can be. KeepAlive is written as a number of seconds or a duration.
using Value = std::variant<std::string, std::int64_t, bool, Texts, KeepAlive>;

enum class Effect {
  kLive,     // taken over by a reload
  kRestart,  // by the next start
};

// One of Ollama's variables that stands in for an option nobody has set.
struct Fallback {
  std::string_view variable;
  // What the variable says in the words of the option; nothing when it asks for nothing. Errors:
  // kInvalid.
  Result<std::optional<std::string>> (*translate)(std::string_view text) = nullptr;
  // Of values that are right for Ollama but not here: whether they refuse the start, or the next
  // best is taken, with a notice.
  enum class Unfit { kRefused, kBent };
  Unfit unfit = Unfit::kRefused;
};

// One line of the table: all there is to know about an option.
struct Option {
  using Member = std::variant<std::string Config::*, std::int64_t Config::*, bool Config::*,
                              Texts Config::*, KeepAlive Config::*>;
  std::string_view name;
  Member member;
  Effect effect = Effect::kRestart;
  std::string_view help;
  std::string_view unit{};  // of a number
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::span<const std::string_view> words{};  // all that are allowed, of a text or in a list
  // Of a text, or of one item of a list. Errors: kInvalid, as the end of a sentence that begins
  // with the option's name.
  Result<> (*check)(const std::string& text) = nullptr;
  Fallback ollama{};
  // OpenTelemetry's variables that stand in for an option nobody has set, as the documentation
  // names them; config/otel.cpp reads them.
  std::string_view otel{};
  // Of a list of NAME=VALUE: the values are told to nobody.
  enum class Shown { kWhole, kNamesOnly };
  Shown shown = Shown::kWhole;
};

std::span<const Option> options();
const Option* find_option(std::string_view name);
const std::vector<std::string_view>& option_names();

// One key of a model's section. Its help and bounds are the general option's of the same name.
struct ModelOption {
  using Member =
      std::variant<std::optional<std::int64_t> ModelOptions::*, std::optional<bool> ModelOptions::*,
                   std::optional<KeepAlive> ModelOptions::*, Texts ModelOptions::*>;
  std::string_view name;
  Member member;
  Effect effect = Effect::kRestart;
  std::string_view help;  // only where there is no general option
};

std::span<const ModelOption> model_options();
const ModelOption* find_model_option(std::string_view name);
const std::vector<std::string_view>& model_option_names();

// The rules for a key of a model's section.
const Option& rules_of(const ModelOption& option);

}  // namespace hearth::front
