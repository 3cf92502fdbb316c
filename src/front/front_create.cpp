// SPDX-License-Identifier: Apache-2.0
//
// FrontService's models made from others: create, and blobs that clients bring.
#include "front/front_service.h"

namespace hearth::front {

Task<Result<ModelStatus>> FrontService::create_model(CreateRequest) {
  co_return fail(ErrorCode::kUnsupported, "models cannot be created yet");
}

Task<Result<Bytes>> FrontService::blob(std::string) {
  co_return fail(ErrorCode::kNotFound, "no such blob");
}

Task<Result<std::unique_ptr<BlobUpload>>> FrontService::receive_blob(std::string, Bytes) {
  co_return fail(ErrorCode::kUnsupported, "blobs cannot be received yet");
}

}  // namespace hearth::front
