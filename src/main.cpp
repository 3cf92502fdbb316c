// SPDX-License-Identifier: Apache-2.0
// The table of contents: which verb is which function.
#include <CLI/CLI.hpp>

#include "cli/models.h"
#include "cli/program.h"
#include "cli/run.h"
#include "cli/serve.h"
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

  auto* why_verb = program.verb("why", "Where the time of a request went",
                                [&a](Session& s) { return why(s, a.id); });
  why_verb->add_option("ID", a.id, "Which request; the last one without");
}

void add_catalogue(Program& program, Arguments& a) {
  auto* import = program.verb("import", "Add a GGUF file, which stays where it is",
                              [&a](Session& s) { return import_model(s, a.path, a.name); });
  import->add_option("FILE", a.path, "The file, or the first one of a sharded model")->required();
  import->add_option("--name", a.name, "What to call it; made from the file's name without");
  program.verb("list", "All models", list_models)->alias("ls");
  program.model_verb("show", "All about one model", show_model);
  program.model_verb("rm", "Forget a model; its file stays", remove_model);
}

void add_warmth(Program& program, Arguments& a) {
  auto* ps = program.verb("ps", "How warm each model is", [&a](Session& s) {
    return list_levels(s, a.all ? Show::kAll : Show::kWarm);
  });
  ps->add_flag("--all,-a", a.all, "Cold models too");
  program.model_verb("load", "Load a model's weights", load_model);
  program.model_verb("unload", "Give a model's memory back", unload_model)->alias("stop");
  program.layer_verb("warm", "Warm one layer of a model", warm_layer);
  program.layer_verb("cool", "Cool one layer of a model", cool_layer);
  program.verb("version", "Of this program and of the server", show_version);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Hearth, a home AI server that shows where each reply's time went", "hearth"};
  Arguments arguments;
  Program program{app, arguments};
  add_serve(app);
  add_talking(program, arguments);
  add_catalogue(program, arguments);
  add_warmth(program, arguments);
  return program.run(argc, argv);
}
