// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "base/version.h"
#include "cli/help.h"
#include "front/keep_alive.h"

namespace hearth::cli {
namespace {

constexpr const char* kFooter =
    "\n`hearth VERB --help` explains a verb. Exit codes: 0 done, 1 refused or failed, 2 no server\n"
    "answers, 64 wrong usage, 130 interrupted.";

}  // namespace

std::string example(std::string_view command) {
  return fmt::format(
      "\nExample: {}\n--host, --key and --json work with every verb; `hearth --help` explains "
      "them.",
      command);
}

CLI::Validator keep_alive_form() {
  return CLI::Validator{[](std::string& text) {
                          const auto parsed = front::KeepAlive::parse(text);
                          return parsed ? std::string{} : parsed.error().message();
                        },
                        "", "keep_alive"};
}

CLI::Validator layer_names() {
  return CLI::IsMember({"artifact", "pages", "weights", "compiled", "prefix"});
}

Program::Program(CLI::App& app, Arguments& arguments) : app_{app}, arguments_{arguments} {
  app_.require_subcommand(1);
  app_.fallthrough();
  app_.footer(kFooter);
  app_.add_option("--host", arguments_.host,
                  "The server to talk to: HOST, HOST:PORT or URL (HEARTH_HOST, then OLLAMA_HOST, "
                  "then 127.0.0.1:11435)")
      ->type_name("HOST");
  app_.add_option("--key", arguments_.key,
                  "An API key, where the server wants one (HEARTH_API_KEY, then OLLAMA_API_KEY for "
                  "a server from OLLAMA_HOST; other users of this machine see a command line)")
      ->type_name("KEY");
  app_.set_version_flag("-v,--version", "hearth " + std::string{version()});
  app_.add_flag("--json", arguments_.json, "Print what the API answers");
}

CLI::App* Program::verb(const std::string& name, const std::string& help, Verb action) {
  CLI::App* verb = app_.add_subcommand(name, help);
  verb->callback([this, action = std::move(action)] { chosen_ = action; });
  return verb;
}

CLI::App* Program::model_verb(const std::string& name, const std::string& help, ModelVerb action) {
  CLI::App* added = verb(name, help, [this, action = std::move(action)](Session& session) {
    return action(session, arguments_.model);
  });
  added->add_option("MODEL", arguments_.model, "Which model")->required();
  return added;
}

CLI::App* Program::layer_verb(const std::string& name, const std::string& help, LayerVerb action) {
  CLI::App* added = verb(name, help, [this, action = std::move(action)](Session& session) {
    return action(session, arguments_.model, arguments_.layer);
  });
  added->add_option("MODEL", arguments_.model, "Which model")->required();
  added->add_option("--layer", arguments_.layer, "Which layer")->required()->check(layer_names());
  return added;
}

int Program::run(int argc, char** argv) {
  if (argc < 2) {
    std::cout << app_.help();
    return kExitUsage;
  }
  try {
    app_.parse(argc, argv);
  } catch (const CLI::RuntimeError& ended) {
    return ended.get_exit_code();
  } catch (const CLI::ParseError& wrong) {
    if (const std::string unknown = unknown_verb(app_); !unknown.empty()) {
      report(Error{ErrorCode::kInvalid, unknown});
      return kExitUsage;
    }
    return app_.exit(wrong) == 0 ? kExitOk : kExitUsage;
  }
  if (!chosen_) return kExitOk;
  auto address = server_address(arguments_.host, process_environment);
  if (!address) return report(address.error());
  std::string key = api_key(arguments_.key, *address, process_environment);
  auto api = ApiClient::to(std::move(*address));
  if (!api) return report(api.error());
  const Result<> usable = api->use_key(std::move(key));
  if (!usable) return report(usable.error());
  Session session{.api = std::move(*api)};
  if (arguments_.json) session.format = OutputFormat::kJson;
  const int code = chosen_(session);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  fmt::print(stderr, "hearth: not all of the output could be written\n");
  return code == kExitOk ? kExitFailed : code;
}

}  // namespace hearth::cli
