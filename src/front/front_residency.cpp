// SPDX-License-Identifier: Apache-2.0
//
// FrontService's names and pins.
#include "front/front_service.h"

namespace hearth::front {

Task<Result<ModelStatus>> FrontService::copy_model(std::string, std::string) {
  co_return fail(ErrorCode::kUnsupported, "not yet");
}

Task<Result<ModelDetails>> FrontService::details(std::string) {
  co_return fail(ErrorCode::kUnsupported, "not yet");
}

Task<Result<ModelStatus>> FrontService::pin(std::string, std::string, Bytes) {
  co_return fail(ErrorCode::kUnsupported, "not yet");
}

Task<Result<ModelStatus>> FrontService::unpin(std::string, std::string) {
  co_return fail(ErrorCode::kUnsupported, "not yet");
}

}  // namespace hearth::front
