// SPDX-License-Identifier: Apache-2.0
//
// FrontService's eye on other programs' stores and on watched folders.
#include "front/front_service.h"

namespace hearth::front {

Task<Result<>> FrontService::rescan() { co_return Result<>{}; }

}  // namespace hearth::front
