// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/chat.h"
#include "cli/levels.h"
#include "cli/session.h"
#include "cli/transfers.h"

namespace hearth::cli {

// What the command line fills in, for all verbs together.
struct Arguments {
  std::string host, key;
  bool json = false;
  bool all = false;
  bool names = false;
  std::string model, layer, path, name, id, source, destination, bytes, unpin;
  std::string pin = "weights";
  std::vector<std::string> models, prompt;
  ChatOptions chat;
  WarmingOptions warming;
  CoolOptions cooling;
  PullOptions pull;
  std::string modelfile = "Modelfile";
  std::size_t moves = 20;
  bool drop = false;
  bool repair = false;
  bool yes = false;
  bool as_modelfile = false;
};

// For a verb's footer: how it is used, and that some options are everybody's.
std::string example(std::string_view command);

// For --keep-alive: what no API would take is wrong usage.
CLI::Validator keep_alive_form();

// For --layer: one of the five.
CLI::Validator layer_names();

// Puts verbs that talk to a server onto the command line, and runs the one that was asked for.
// `app` and `arguments` outlive it.
class Program {
 public:
  using Verb = std::function<int(Session&)>;

  Program(CLI::App& app, Arguments& arguments);

  CLI::App* verb(const std::string& name, const std::string& help, Verb action);

  // A verb with a MODEL.
  using ModelVerb = std::function<int(const Session&, const std::string& model)>;
  CLI::App* model_verb(const std::string& name, const std::string& help, ModelVerb action);

  // A verb with a MODEL and one of its layers.
  using LayerVerb =
      std::function<int(const Session&, const std::string& model, const std::string& layer)>;
  CLI::App* layer_verb(const std::string& name, const std::string& help, LayerVerb action);

  // Returns the process's exit code; see session.h.
  int run(int argc, char** argv);

 private:
  CLI::App& app_;
  Arguments& arguments_;
  Verb chosen_;
};

}  // namespace hearth::cli
