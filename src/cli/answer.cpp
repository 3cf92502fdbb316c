// SPDX-License-Identifier: Apache-2.0
#include "cli/answer.h"

#include "cli/json_fields.h"

namespace hearth::cli {

std::string model_target(const std::string& name) {
  return "/api/hearth/models/" + percent_encode(name);
}

int print_json(const Result<std::string>& answer) {
  if (!answer) return report(answer.error());
  print(answer->ends_with('\n') ? *answer : *answer + "\n");
  return kExitOk;
}

Result<boost::json::array> models_of(const Result<std::string>& answer) {
  auto object = object_of(answer);
  if (!object) return Failed{std::move(object).error()};
  const auto* models = array_in(*object, "models");
  return models == nullptr ? boost::json::array{} : *models;
}

}  // namespace hearth::cli
