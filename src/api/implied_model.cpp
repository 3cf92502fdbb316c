// SPDX-License-Identifier: Apache-2.0
#include "api/implied_model.h"

#include <algorithm>
#include <vector>

namespace hearth::api {

bool is_loaded(const front::ModelStatus& model) {
  const auto weights =
      std::ranges::find(model.layers, std::string{"weights"}, &front::LayerStatus::layer);
  return weights != model.layers.end() &&
         (weights->level == "resident" || weights->level == "loading");
}

Result<std::string> implied_model(const front::Service& service,
                                  const std::optional<std::string>& named) {
  if (named && !named->empty()) return *named;
  const std::vector<front::ModelStatus> models = service.models();
  if (models.size() == 1) return models.front().name;
  std::vector<std::string> loaded;
  for (const front::ModelStatus& model : models) {
    if (is_loaded(model)) loaded.push_back(model.name);
  }
  if (loaded.size() == 1) return loaded.front();
  return Failed{
      Error{ErrorCode::kInvalid, "model: a model must be named here, as this server has several"}
          .at("model")};
}

}  // namespace hearth::api
