// SPDX-License-Identifier: Apache-2.0
#include "cli/create.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/json_fields.h"
#include "layers/artifact/source/modelfile.h"

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;

// More than any Modelfile, less than a model that was named by mistake.
constexpr std::uintmax_t kLongest = 16U << 20U;

std::string all_of(std::istream& in) {
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

Result<std::string> read_modelfile(const std::string& path) {
  if (path == "-") return all_of(std::cin);
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) {
    return fail(ErrorCode::kNotFound, "no Modelfile \"" + path + "\"; -f names one");
  }
  if (fs::file_size(path, unknown) > kLongest) {
    return fail(ErrorCode::kInvalid, "\"" + path + "\" is too long for a Modelfile");
  }
  std::ifstream in{path};
  if (!in) return fail(ErrorCode::kUnavailable, "\"" + path + "\" cannot be read");
  return all_of(in);
}

// Whoever writes "./x", "/x" or "~/x" means a file; so does one who names a file that is there.
bool is_path(const std::string& text, const fs::path& folder) {
  if (text.starts_with('.') || text.starts_with('/') || text.starts_with('~')) return true;
  std::error_code unknown;
  return text.ends_with(".gguf") && fs::exists(folder / text, unknown);
}

std::string absolute_path(const std::string& text, const fs::path& folder) {
  fs::path path{text};
  if (text.starts_with("~/")) {
    const char* home = std::getenv("HOME");
    path = fs::path{home == nullptr ? "" : home} / text.substr(2);
  }
  if (path.is_relative()) path = folder / path;
  std::error_code unknown;
  return fs::absolute(path, unknown).lexically_normal().string();
}

boost::json::value json_or_null(const std::string& text) {
  auto parsed = parse_json(text);
  return parsed ? std::move(*parsed) : boost::json::value{};
}

boost::json::object request_of(const std::string& name, const Modelfile& file,
                               const fs::path& folder) {
  boost::json::object body{{"name", name}};
  if (is_path(file.from, folder)) {
    body["path"] = absolute_path(file.from, folder);
  } else {
    body["from"] = file.from;
  }
  boost::json::array adapters;
  for (const std::string& adapter : file.adapters) {
    adapters.emplace_back(absolute_path(adapter, folder));
  }
  if (!adapters.empty()) body["adapters"] = std::move(adapters);
  const ModelSettings& settings = file.settings;
  if (!settings.system.empty()) body["system"] = settings.system;
  if (!settings.chat_template.empty()) body["template"] = settings.chat_template;
  if (!settings.license.empty()) body["license"] = settings.license;
  if (!settings.parameters.empty()) body["parameters"] = json_or_null(settings.parameters);
  if (!settings.messages.empty()) body["messages"] = json_or_null(settings.messages);
  return body;
}

}  // namespace

int create_model(const Session& session, const std::string& name, const std::string& file) {
  const auto text = read_modelfile(file);
  if (!text) return report(text.error());
  const auto modelfile = parse_modelfile(*text);
  if (!modelfile) return report(modelfile.error());
  for (const std::string& note : modelfile->notes) fmt::print(stderr, "hearth: {}\n", note);
  const fs::path folder = file == "-" ? fs::path{"."} : fs::path{file}.parent_path();
  const auto body = request_of(name, *modelfile, folder.empty() ? fs::path{"."} : folder);
  const auto answer = session.api.post("/api/hearth/create", boost::json::serialize(body));
  if (session.json()) return print_json(answer);
  const auto model = object_of(answer);
  if (!model) return report(model.error());
  print(fmt::format("{} is ready; `hearth show {}` says what it is\n", text_in(*model, "name"),
                    name));
  return kExitOk;
}

int show_modelfile(const Session& session, const std::string& name) {
  const boost::json::object body{{"model", name}};
  const auto answer = session.api.post("/api/show", boost::json::serialize(body));
  if (session.json()) return print_json(answer);
  const auto shown = object_of(answer);
  if (!shown) return report(shown.error());
  std::string text = text_in(*shown, "modelfile");
  if (!text.ends_with('\n')) text += '\n';
  print(text);
  return kExitOk;
}

}  // namespace hearth::cli
