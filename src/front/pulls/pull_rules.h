// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/host_rule.h"
#include "base/result.h"
#include "front/config.h"
#include "layers/artifact/source/model_source.h"
#include "wire/fetch_messages.h"

namespace hearth::front {

// How a pull may behave, as the configuration says at its beginning.
struct PullRules {
  SourceServers servers;
  wire::FetchRules fetch;
  std::vector<HostRule> hosts;  // fetch.hosts

  // Errors: kInvalid, when the server that `source` names may not be asked.
  Result<> check(const ModelSource& source) const;
};

PullRules pull_rules(const Config& config);

// What the environment or a file of the user's says for Hugging Face; empty: nothing. Blocks on a
// file. Never to be logged.
std::string hugging_face_token(const Environment& environment);

}  // namespace hearth::front
