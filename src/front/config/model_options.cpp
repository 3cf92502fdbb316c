// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "front/config/checks.h"
#include "front/config/named_table.h"
#include "front/config/options.h"

namespace hearth::front {
namespace {

constexpr std::array kModelOptions{
    ModelOption{.name = "aliases",
                .member = &ModelOptions::aliases,
                .effect = Effect::kLive,
                .help = "Other names for this model."},
    ModelOption{.name = "keep_alive",
                .member = &ModelOptions::keep_alive,
                .effect = Effect::kLive,
                .help = {}},
    ModelOption{.name = "context", .member = &ModelOptions::context, .help = {}},
    ModelOption{.name = "parallel", .member = &ModelOptions::parallel, .help = {}},
    ModelOption{.name = "threads", .member = &ModelOptions::threads, .help = {}},
    ModelOption{.name = "queue", .member = &ModelOptions::queue, .help = {}},
    ModelOption{.name = "exact", .member = &ModelOptions::exact, .help = {}},
    ModelOption{.name = "priority",
                .member = &ModelOptions::priority,
                .effect = Effect::kLive,
                .help = "-10 to 10, 0 without it: of models that wait for memory a higher one goes "
                        "first, and what it holds stays longer."},
    ModelOption{.name = "ttft_ms",
                .member = &ModelOptions::ttft_ms,
                .effect = Effect::kLive,
                .help = "What the first token may take, in ms, after `idle_gap` without a request: "
                        "the model is kept as warm as that needs, or it is said what a cold start "
                        "takes and why. 0: no demand."},
    ModelOption{.name = "idle_gap",
                .member = &ModelOptions::idle_gap,
                .effect = Effect::kLive,
                .help = "See `ttft_ms`; a duration, `8h` without it."},
};

// Rules of keys that are no general options. Any member of the kind will do: it is never used.
constexpr std::array kSectionRules{
    Option{.name = "aliases",
           .member = &Config::hosts,
           .help = "Other names for this model.",
           .check = check_model_name},
    Option{.name = "priority",
           .member = &Config::parallel,
           .help = "Its place before others.",
           .least = -10,
           .most = 10},
    Option{.name = "ttft_ms",
           .member = &Config::parallel,
           .help = "What the first token may take.",
           .unit = "ms",
           .most = 86'400'000},
    Option{.name = "idle_gap",
           .member = &Config::keep_alive,
           .help = "How long nobody asks.",
           .check = check_gap},
};

}  // namespace

std::span<const ModelOption> model_options() { return kModelOptions; }
const ModelOption* find_model_option(std::string_view name) { return find_in(kModelOptions, name); }
const std::vector<std::string_view>& model_option_names() {
  static const auto names = names_in(kModelOptions);
  return names;
}

const Option& rules_of(const ModelOption& option) {
  const Option* general = find_option(option.name);
  return general != nullptr ? *general : *find_in(kSectionRules, option.name);
}

}  // namespace hearth::front
