// SPDX-License-Identifier: Apache-2.0
//
// FrontService's configuration.
#include "front/front_service.h"

namespace hearth::front {

std::string FrontService::configuration() const { return "{}"; }

Task<Result<std::string>> FrontService::reload_configuration() {
  co_return fail(ErrorCode::kUnsupported, "not yet");
}

}  // namespace hearth::front
