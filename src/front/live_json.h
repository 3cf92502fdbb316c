// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "front/reply.h"
#include "front/transfer.h"
#include "layers/artifact/catalogue.h"
#include "timeline/report.h"
#include "timeline/snapshot.h"

namespace hearth::front {

// The data of live events, one JSON object each. No paths: any role may listen.
std::string request_started_json(const std::string& id, const std::string& model,
                                 const RequestContext& context);
// What is known of it so far.
std::string request_running_json(const RequestReport& report, Duration waited);
std::string levels_json(const std::string& model, const std::vector<LayerSnapshot>& layers);
std::string progress_json(const std::string& model, double fraction);  // of a load
std::string pull_json(const PullStatus& pull, const TransferProgress& progress);
std::string models_changed_json(const std::vector<NamedModel>& models);

}  // namespace hearth::front
