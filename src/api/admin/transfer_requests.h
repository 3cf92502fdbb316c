// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>

#include "api/transfers.h"
#include "base/result.h"
#include "front/service.h"

// Bodies of the routes that bring models and let them go, read. Pure. Errors are kInvalid and name
// the member at fault.
namespace hearth::api::admin {

struct PullCall {
  front::PullRequest pull;
  TransferOptions options;
};
Result<PullCall> parse_pull(const boost::json::object& body);

struct VerifyCall {
  front::VerifyRequest verify;
  TransferOptions options;
};
// An empty body: all models.
Result<VerifyCall> parse_verify(const std::string& body);

struct StopCall {
  std::string name;
  front::Service::Parts parts = front::Service::Parts::kKeep;
};
Result<StopCall> parse_stop(const boost::json::object& body);

// An empty body: show. Only "dry_run": false deletes.
Result<front::Service::Prune> parse_prune(const std::string& body);

}  // namespace hearth::api::admin
