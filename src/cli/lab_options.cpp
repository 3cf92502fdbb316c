// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_options.h"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/json.h"
#include "cli/json_fields.h"

namespace hearth::cli {
namespace {

// Calls `visit` with the name and a reference for each member that is kept.
template <class Options, class Visit>
void each_member(Options& options, Visit visit) {
  visit("models", options.models);
  visit("name_there", options.name_there);
  visit("against", options.against);
  visit("without_hearth", options.without_hearth);
  visit("hearth", options.hearth);
  visit("llama_server", options.llama_server);
  visit("ollama", options.ollama);
  visit("llama_swap", options.llama_swap);
  visit("only", options.only);
  visit("quick", options.quick);
  visit("repetitions", options.repetitions);
  visit("seed", options.seed);
  visit("quiet_s", options.quiet_s);
  visit("patience_s", options.patience_s);
  visit("threads", options.threads);
  visit("context", options.context);
  visit("mode", options.mode);
  visit("gaps", options.gaps);
  visit("real_repetitions", options.real_repetitions);
  visit("with", options.with);
  visit("tiers", options.tiers);
  visit("without", options.without);
  visit("trace", options.trace);
  visit("requests", options.requests);
}

void add_sides(CLI::App& verb, LabOptions& options) {
  verb.add_option("--model", options.models,
                  "A GGUF file, or the name of a model that the server at --host has")
      ->allow_extra_args(false)
      ->type_name("FILE|NAME");
  verb.add_option("--against", options.against,
                  "One more side: llama-server, ollama, llama-swap (started by the lab), or the "
                  "address of a server that runs; may be given again")
      ->allow_extra_args(false)
      ->type_name("SERVER");
  verb.add_flag("--without-hearth", options.without_hearth, "Only the sides of --against");
  verb.add_option("--as", options.name_there,
                  "The model's name at servers given by address; the first of theirs without")
      ->type_name("NAME");
  verb.add_option("--hearth", options.hearth, "Another program than this one, as Hearth's side")
      ->type_name("FILE");
  verb.add_option("--llama-server", options.llama_server, "Its program; found in PATH without")
      ->type_name("FILE");
  verb.add_option("--ollama", options.ollama, "Its program; found in PATH without")
      ->type_name("FILE");
  verb.add_option("--llama-swap", options.llama_swap, "Its program; found in PATH without")
      ->type_name("FILE");
  verb.add_option("--threads", options.threads,
                  "Of the servers that the lab starts; theirs without")
      ->check(CLI::NonNegativeNumber)
      ->type_name("COUNT");
  verb.add_option("--context", options.context, "Likewise, in tokens")
      ->check(CLI::Range(256, 1 << 20))
      ->capture_default_str()
      ->type_name("TOKENS");
}

}  // namespace

void add_study_options(CLI::App& verb, LabOptions& options) {
  add_sides(verb, options);
  verb.add_option("--out", options.out,
                  "Where rows and report go; without, reports/STUDY-DATE in the usual data "
                  "directory, where "
                  "the dashboard lists it")
      ->type_name("DIR");
  verb.add_option("--resume", options.resume, "Go on with a run that was ended, as it was begun")
      ->type_name("DIR");
  verb.add_option("--only", options.only, "Only arms whose names begin so; may be given again")
      ->allow_extra_args(false)
      ->type_name("ARM");
  verb.add_flag("--quick", options.quick, "Fewer arms, and 5 trials of each");
  verb.add_option("--repetitions", options.repetitions, "Trials of each arm; 15 without")
      ->check(CLI::PositiveNumber)
      ->type_name("COUNT");
  verb.add_option("--seed", options.seed, "Of the order of trials")->capture_default_str();
  verb.add_option("--quiet", options.quiet_s,
                  "How long to wait before a trial for a quiet machine; 0: never, and trials on a "
                  "busy one count")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("SECONDS");
  verb.add_option("--patience", options.patience_s,
                  "How long a server may say nothing before it counts as hung; without, 120 and "
                  "for large models what reading them at 20 MB/s takes")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  verb.add_flag("--json", options.json, "The summary as JSON instead of text");
}

std::string to_json(const LabOptions& options) {
  boost::json::object object;
  each_member(options, [&object](const char* name, const auto& value) {
    object[name] = boost::json::value_from(value);
  });
  return boost::json::serialize(object);
}

Result<LabOptions> lab_options_from(const std::string& json) {
  const auto parsed = parse_json(json);
  if (!parsed || !parsed->is_object()) {
    return fail(ErrorCode::kCorrupt, "the run does not say how it was begun");
  }
  LabOptions options;
  bool good = true;
  each_member(options, [&](const char* name, auto& value) {
    const auto* found = parsed->get_object().if_contains(name);
    if (found == nullptr) return;
    const auto read = boost::json::try_value_to<std::decay_t<decltype(value)>>(*found);
    good = good && read.has_value();
    if (read) value = *read;
  });
  if (!good) return fail(ErrorCode::kCorrupt, "the run does not say how it was begun");
  return options;
}

}  // namespace hearth::cli
