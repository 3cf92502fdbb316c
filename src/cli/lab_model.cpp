// SPDX-License-Identifier: Apache-2.0
#include "cli/lab_model.h"

#include <utility>

#include "base/files.h"
#include "cli/api_client.h"
#include "cli/json_fields.h"
#include "cli/session.h"

namespace hearth::cli {
namespace {

Result<std::vector<std::string>> paths_of(const std::string& name, const std::string& host,
                                          std::string key) {
  auto address = server_address(host, process_environment);
  if (!address) return Failed{address.error()};
  key = api_key(key, *address, process_environment);
  auto api = ApiClient::to(std::move(*address));
  if (!api) return Failed{api.error()};
  if (const Result<> usable = api->use_key(std::move(key)); !usable) return Failed{usable.error()};
  const auto model = object_of(api->get("/api/hearth/models/" + percent_encode(name)));
  if (!model) return Failed{model.error()};
  return texts_in(*model, "paths");
}

}  // namespace

Result<std::string> model_file(const std::string& model, const std::string& host,
                               const std::string& key) {
  const Files& files = Files::real();
  const auto info = files.info(model);
  if (info && info->kind == FileKind::kRegular) return files.real_path(model);
  auto paths = paths_of(model, host, key);
  if (!paths) {
    return fail(ErrorCode::kNotFound, "--model " + model +
                                          ": there is no such file, and asking a " +
                                          "server for its name: " + paths.error().message());
  }
  if (paths->empty()) return fail(ErrorCode::kNotFound, model + " has no file at present");
  if (paths->size() > 1) {
    return fail(ErrorCode::kUnsupported,
                model + " has " + std::to_string(paths->size()) + " files; the lab takes one");
  }
  return files.real_path(paths->front());
}

}  // namespace hearth::cli
