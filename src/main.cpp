// SPDX-License-Identifier: Apache-2.0
// The table of contents: which verb is which function.
#include <CLI/CLI.hpp>

#include "cli/absent.h"
#include "cli/budget.h"
#include "cli/completion.h"
#include "cli/config.h"
#include "cli/create.h"
#include "cli/doctor.h"
#include "cli/documentation.h"
#include "cli/help.h"
#include "cli/keys.h"
#include "cli/lab.h"
#include "cli/levels.h"
#include "cli/models.h"
#include "cli/modules.h"
#include "cli/prefix.h"
#include "cli/program.h"
#include "cli/run.h"
#include "cli/serve.h"
#include "cli/top.h"
#include "cli/transfers.h"
#include "cli/why.h"

namespace {

using namespace hearth::cli;

void add_talking(Program& program, Arguments& a) {
  auto* run = program.verb("run", "Ask a model, or chat with it in the terminal",
                           [&a](Session& s) { return run_model(s, a.chat, a.prompt); });
  run->add_option("MODEL", a.chat.model, "Which model")->required();
  run->add_option("PROMPT", a.prompt, "The question; none for a conversation, or piped in");
  run->add_option("--system", a.chat.system, "What the model is told first");
  run->add_option("--max-tokens", a.chat.max_tokens, "The longest reply");
  run->add_option("--temperature", a.chat.temperature, "0 for always the likeliest token");
  run->add_option("--seed", a.chat.seed, "The same seed, the same reply");
  run->add_option("--keep-alive,--keepalive", a.chat.keep_alive,
                  "How long the weights stay afterwards: 30m, 0, -1 for until memory is wanted")
      ->type_name("DURATION")
      ->check(keep_alive_form());
  run->footer(example("hearth run smollm2 \"What is a hearth?\""));

  auto* why_verb = program.verb("why", "Where the time of a request went",
                                [&a](Session& s) { return why(s, a.id); });
  why_verb->add_option("ID", a.id, "Which request; the last one without");
  why_verb->footer(example("hearth why"));
}

void add_catalogue(Program& program, Arguments& a) {
  auto* import = program.verb("import", "Add a GGUF file, which stays where it is",
                              [&a](Session& s) { return import_model(s, a.path, a.name); });
  import->add_option("FILE", a.path, "The file, or the first one of a sharded model")
      ->required()
      ->type_name("FILE");
  import->add_option("--name", a.name, "What to call it; made from the file's name without");
  import->footer(example("hearth import ~/models/smollm2.gguf --name smollm2"));
  auto* list = program.verb("list", "All models", [&a](Session& s) {
    return a.names && !s.json() ? list_names(s) : list_models(s);
  });
  list->add_flag("--names", a.names, "Only their names, one a line");
  list->alias("ls")->footer(example("hearth list"));
  auto* show = program.model_verb(
      "show", "All about one model", [&a](const Session& s, const std::string& model) {
        return a.as_modelfile ? show_modelfile(s, model) : show_model(s, model);
      });
  show->add_flag("--modelfile", a.as_modelfile, "The Modelfile that would make it");
  show->footer(example("hearth show smollm2"));
  auto* copy = program.verb("cp", "Give a model a second name",
                            [&a](Session& s) { return copy_model(s, a.source, a.destination); });
  copy->add_option("SOURCE", a.source, "Which model")->required();
  copy->add_option("DESTINATION", a.destination, "The new name")->required();
  copy->footer(example("hearth cp smollm2 assistant"));
  auto* create = program.model_verb("create", "Make a model from another, as a Modelfile says",
                                    [&a](const Session& s, const std::string& model) {
                                      return create_model(s, model, a.modelfile);
                                    });
  create->add_option("--file,-f", a.modelfile, "The Modelfile; - for standard input")
      ->capture_default_str()
      ->type_name("FILE");
  create->footer(example("hearth create pirate -f ./Modelfile"));
  auto* remove = program.verb("rm", "Forget models; only files that were pulled are deleted",
                              [&a](Session& s) { return remove_models(s, a.models); });
  remove->add_option("MODEL", a.models, "Which models")->required();
  remove->footer(example("hearth rm smollm2"));
}

void add_transfers(Program& program, Arguments& a) {
  auto* pull = program.verb("pull", "Fetch a model, or go on fetching it",
                            [&a](Session& s) { return pull_model(s, a.pull); });
  pull->add_option("SOURCE", a.pull.source,
                   "hf.co/ORG/REPO[:QUANT], NAME[:TAG] of the registry, or https://...")
      ->required();
  pull->add_option("--name", a.pull.name, "What to call it; as the source does without");
  pull->add_flag("--insecure", a.pull.insecure, "Over http, where pull_hosts allows that");
  pull->add_flag("--detach,-d", a.pull.detach, "Return at once; the server goes on alone");
  pull->footer(example("hearth pull hf.co/HuggingFaceTB/SmolLM2-135M-Instruct-GGUF:Q8_0"));

  auto* pulls =
      program.verb("pulls", "What is being fetched, and what is half here", [&a](Session& s) {
        if (a.source.empty()) return list_pulls(s);
        return stop_pull(s, a.source, a.drop ? Parts::kDrop : Parts::kKeep);
      });
  pulls->add_option("--stop", a.source, "Stop this one for everybody; its parts are kept");
  pulls->add_flag("--drop", a.drop, "Its parts too")->needs("--stop");
  pulls->footer(example("hearth pulls --stop qwen:9b"));

  auto* verify = program.verb(
      "verify", "Read models' files and compare them with what they were", [&a](Session& s) {
        return verify_models(s, a.model, a.repair ? Repair::kYes : Repair::kNo);
      });
  verify->add_option("MODEL", a.model, "Which model; all without");
  verify->add_flag("--repair", a.repair, "Fetch what is bad again, where it was pulled");
  verify->footer(example("hearth verify --repair"));

  program.verb("rescan", "Look for models in other stores and watched folders now", rescan)
      ->footer(example("hearth rescan"));

  auto* clear = program.verb("prune", "What no model needs any more", [&a](Session& s) {
    return prune(s, a.yes ? Prune::kDelete : Prune::kShow);
  });
  clear->add_flag("--yes,-y", a.yes, "Delete it; it is only listed without");
  clear->footer(example("hearth prune --yes"));
}

void add_warming_options(CLI::App& verb, WarmingOptions& options) {
  verb.add_option("--keep-alive,--keepalive", options.keep_alive,
                  "How long the weights stay after their last use: 30m, -1 for until memory is "
                  "wanted")
      ->type_name("DURATION")
      ->check(keep_alive_form());
  verb.add_option("--wait", options.wait_seconds,
                  "Fail after so many seconds; the server goes on warming")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
}

void add_pins(Program& program, Arguments& a) {
  const auto layers = CLI::IsMember({"weights", "pages"});
  auto* pin = program.model_verb("pin", "Keep a model in memory whatever its keep_alive says",
                                 [&a](const Session& s, const std::string& model) {
                                   return pin_layer(s, model, a.pin, a.bytes);
                                 });
  pin->add_option("--layer", a.pin, "Which layer")->check(layers)->capture_default_str();
  pin->add_option("--bytes", a.bytes, "How much of its pages: 500M, 2GiB; all without")
      ->type_name("SIZE");
  pin->footer(example("hearth pin smollm2 --layer pages --bytes 500M"));
  auto* unpin = program.model_verb(
      "unpin", "Let a pinned model go again",
      [&a](const Session& s, const std::string& model) { return unpin_layer(s, model, a.unpin); });
  unpin->add_option("--layer", a.unpin, "Which layer; all without")->check(layers);
  unpin->footer(example("hearth unpin smollm2"));
}

void add_warmth(Program& program, Arguments& a) {
  auto* ps = program.verb("ps", "How warm each model is", [&a](Session& s) {
    return list_levels(s, a.all ? Show::kAll : Show::kWarm);
  });
  ps->add_flag("--all,-a", a.all, "Cold models too");
  ps->footer(example("hearth ps --all"));
  auto* load = program.model_verb(
      "load", "Load a model's weights",
      [&a](const Session& s, const std::string& model) { return load_model(s, model, a.warming); });
  add_warming_options(*load, a.warming);
  load->footer(example("hearth load smollm2 --keep-alive 30m"));
  auto* unload = program.model_verb("unload", "Give a model's memory back", unload_model);
  unload->alias("stop")->footer(example("hearth unload smollm2"));
  auto* warm = program.layer_verb(
      "warm", "Warm one layer of a model",
      [&a](const Session& s, const std::string& model, const std::string& layer) {
        return warm_layer(s, model, layer, a.warming);
      });
  add_warming_options(*warm, a.warming);
  warm->footer(example("hearth warm smollm2 --layer pages"));
}

void add_cooling(Program& program, Arguments& a) {
  auto* cool = program.verb("cool", "Cool one layer of a model", [&a](const Session& s) {
    return cool_layer(s, a.model, a.layer, a.cooling);
  });
  cool->add_option("MODEL", a.model, "Which model; none with --all");
  cool->add_option("--layer", a.layer, "Which layer")->required()->check(layer_names());
  cool->add_flag("--preview", a.cooling.preview,
                 "Of the layer artifact: what would be deleted and fetched again");
  cool->add_flag("--all", a.cooling.all, "Of the layer prefix: all models");
  cool->add_option(
          "--tier", a.cooling.tier,
          "Of the layer prefix: give memory back, and keep on disk; all is deleted without")
      ->check(CLI::IsMember({"ram"}));
  cool->add_option("--key", a.cooling.key,
                   "Of the layer prefix: only what was kept for the API key of this name; the key "
                   "that the server wants goes before the verb, or into HEARTH_API_KEY")
      ->type_name("NAME");
  cool->footer(example("hearth cool smollm2 --layer pages"));
}

// Far more than a server keeps.
constexpr int kMostMoves = 100000;

void add_budget(Program& program, Arguments& a) {
  program.verb("memory", "Who has the memory, and what bounds it", show_memory)
      ->footer(example("hearth memory"));
  auto* moves = program.verb("moves", "What was moved out of memory or into it, and for whom",
                             [&a](Session& s) { return list_moves(s, a.moves); });
  moves->add_option("-n,--number", a.moves, "The newest so many")
      ->check(CLI::Range(1, kMostMoves))
      ->capture_default_str()
      ->type_name("COUNT");
  moves->footer(example("hearth moves -n 5"));
  program
      .verb("levels", "Services that come first, reading ahead, and which models have to be warm",
            show_levels)
      ->footer(example("hearth levels"));
}

void add_views(Program& program) {
  program.verb("prefix", "What is kept of prompts, and where", show_prefix)
      ->footer(example("hearth prefix"));
  add_doctor(program);
  add_top(program);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Hearth, a home AI server that shows where each reply's time went", "hearth"};
  Arguments arguments;
  Program program{app, arguments};
  add_serve(app);
  add_talking(program, arguments);
  add_catalogue(program, arguments);
  add_transfers(program, arguments);
  add_warmth(program, arguments);
  add_cooling(program, arguments);
  add_budget(program, arguments);
  add_views(program);
  add_pins(program, arguments);
  add_config(program);
  add_keys(program);
  add_modules(program);
  program.verb("version", "Of this program and of the server", show_version)
      ->footer(example("hearth version"));
  add_lab(app);
  add_completion(app);
  add_help(app);
  add_absent(app);
  add_documentation(app);
  return program.run(argc, argv);
}
