// SPDX-License-Identifier: Apache-2.0
//
// FrontService's keys.
#include "front/front_service.h"

namespace hearth::front {

Task<Result<NewKey>> FrontService::add_key(std::string, Role) {
  co_return fail(ErrorCode::kUnsupported, "not yet");
}

Task<Result<>> FrontService::remove_key(std::string) {
  co_return fail(ErrorCode::kUnsupported, "not yet");
}

}  // namespace hearth::front
