// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/option_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/sampling.h"
#include "base/nearest.h"

namespace hearth::api::ollama {
namespace json = boost::json;
namespace {

constexpr auto kHonoured = Treatment::kHonoured;
constexpr auto kNeutralOnly = Treatment::kNeutralOnly;
constexpr auto kNoEffect = Treatment::kNoEffect;

constexpr std::string_view kNoMirostat =
    "mirostat sampling is not supported; use temperature, top_k, top_p or min_p";

constexpr std::array kRules{
    // The length of the reply.
    OptionRule{"num_predict", kHonoured, "",
               "tokens to write at most; 0 and -1: until the model is done; -2: until the context "
               "is full, which here is the same"},
    OptionRule{"num_ctx", kHonoured, "",
               "tokens of prompt and reply together, for this request alone; nothing is loaded "
               "again for it; more than the model's limit means the model's"},
    OptionRule{
        "num_keep", kHonoured, "",
        "tokens that stay at the start of a raw prompt which is too long; -1: as many as fit"},
    OptionRule{"stop", kHonoured, "", "texts that end the reply"},

    // How tokens are chosen.
    OptionRule{"seed", kHonoured, "", "repeats a reply; -1: another each time"},
    OptionRule{"temperature", kHonoured, "", "0 takes the likeliest token"},
    OptionRule{"top_k", kHonoured, "", "chooses among so many tokens; 0: all"},
    OptionRule{"top_p", kHonoured, "", "chooses among the tokens of so much probability"},
    OptionRule{"min_p", kHonoured, "", "leaves out tokens less likely than this part of the first"},
    OptionRule{"typical_p", kHonoured, "", "locally typical sampling; 1: off"},
    OptionRule{"repeat_last_n", kHonoured, "", "tokens that penalties look back on; -1: all"},
    OptionRule{"repeat_penalty", kHonoured, "", "1: off"},
    OptionRule{"presence_penalty", kHonoured, "", "0: off"},
    OptionRule{"frequency_penalty", kHonoured, "", "0: off"},
    OptionRule{"mirostat", kNeutralOnly, "0", kNoMirostat},
    OptionRule{"mirostat_tau", kNoEffect, "", kNoMirostat},
    OptionRule{"mirostat_eta", kNoEffect, "", kNoMirostat},
    OptionRule{"tfs_z", kNeutralOnly, "1",
               "tail free sampling is not supported; use min_p or typical_p"},
    OptionRule{"penalize_newline", kNeutralOnly, "true",
               "newlines are penalised like any token; set repeat_penalty to 1 instead"},

    // How the model is loaded: the server's own matter, not a request's.
    OptionRule{"num_gpu", kNeutralOnly, "-1",
               "the server decides what goes to a GPU; leave it out"},
    OptionRule{"main_gpu", kNeutralOnly, "0", "the server decides which GPU is used; leave it out"},
    OptionRule{"num_thread", kNeutralOnly, "0",
               "all requests share the threads; set `threads` in the server's configuration"},
    OptionRule{"num_batch", kNeutralOnly, "512",
               "prompts are cut into pieces by what the machine can do; leave it out"},
    OptionRule{"use_mmap", kNeutralOnly, "true",
               "model files are always mapped; `hearth cool MODEL --layer pages` gives their "
               "memory back"},
    OptionRule{"use_mlock", kNeutralOnly, "false",
               "`hearth pin MODEL` keeps a model in memory, for all requests"},
    OptionRule{"numa", kNeutralOnly, "false", "placement on NUMA nodes is left to the system"},
    OptionRule{"low_vram", kNeutralOnly, "false",
               "the server decides what goes to a GPU; leave it out"},
    OptionRule{"f16_kv", kNeutralOnly, "true", "the cache of keys and values is f16"},
    OptionRule{"logits_all", kNeutralOnly, "false", "ask for log probabilities with logprobs"},
    OptionRule{"vocab_only", kNeutralOnly, "false", "a model without its weights answers nothing"},
    OptionRule{"embedding_only", kNeutralOnly, "false", "use /api/embed for vectors"},
    OptionRule{"draft_num_predict", kNoEffect, "",
               "there is no draft model, so nothing is drafted"},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kRules.size()> names;
  std::ranges::transform(kRules, names.begin(), &OptionRule::name);
  return names;
}();

bool is_neutral(const json::value& value, std::string_view neutral) {
  if (value.is_bool()) return neutral == (value.get_bool() ? "true" : "false");
  return value.is_number() && fmt::to_string(value.to_number<double>()) == neutral;
}

// Null, and an error, where there is none.
const OptionRule* rule_of(const Fields& options, std::string_view name) {
  const auto* rule = std::ranges::find(kRules, name, &OptionRule::name);
  if (rule != kRules.end()) return rule;
  options.fail(name, "there is no such option" + did_you_mean(name, kNames));
  return nullptr;
}

void check_rule(const Fields& options, std::string_view name, const json::value& value) {
  const OptionRule* rule = rule_of(options, name);
  if (rule == nullptr) return;
  if (rule->treatment != kNeutralOnly || value.is_null() || is_neutral(value, rule->neutral)) {
    return;
  }
  options.fail(name, fmt::format("only {} is possible here: {}", rule->neutral, rule->text));
}

void read_values(const Fields& options, wire::GenerateMessage& message) {
  read_sampling(options, message.sampling);
  read_stops(options, "stop", message.stop);
  read_lengths(options, message);
}

std::optional<Fields> checked_options(const Fields& body) {
  std::optional<Fields> options = body.object("options");
  if (!options) return std::nullopt;
  for (const auto& member : options->json()) check_rule(*options, member.key(), member.value());
  return options;
}

}  // namespace

std::span<const OptionRule> option_rules() { return kRules; }

wire::Sampling default_sampling() {
  wire::Sampling sampling;
  sampling.temperature = 0.8;
  sampling.top_k = 40;
  sampling.top_p = 0.9;
  sampling.min_p = 0;
  sampling.typical_p = 1;
  sampling.repeat_penalty = 1;
  sampling.repeat_last_n = 64;
  return sampling;
}

void read_options(const Fields& body, wire::GenerateMessage& message) {
  const std::optional<Fields> options = checked_options(body);
  if (options) read_values(*options, message);
}

std::string read_parameters(const Fields& body) {
  const std::optional<Fields> parameters = body.object("parameters");
  if (!parameters) return {};
  json::object kept;
  for (const auto& member : parameters->json()) {
    if (member.value().is_null()) continue;
    (void)rule_of(*parameters, member.key());
    kept.insert(member);
  }
  wire::GenerateMessage unused;
  read_values(*parameters, unused);
  return kept.empty() ? std::string{} : json::serialize(kept);
}

void check_options(const Fields& body) {
  wire::GenerateMessage unused;
  read_options(body, unused);
}

}  // namespace hearth::api::ollama
