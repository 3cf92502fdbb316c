// SPDX-License-Identifier: Apache-2.0
//
// FrontService's care for files: hashes, verify, prune.
#include "front/front_service.h"

namespace hearth::front {

namespace {

class NoVerify : public Transfer {
 public:
  Task<TransferEvent> next() override {
    co_return Error{ErrorCode::kUnsupported, "files cannot be verified yet"};
  }
  void cancel() override {}
  void detach() override {}
};

}  // namespace

std::unique_ptr<Transfer> FrontService::verify(VerifyRequest) {
  return std::make_unique<NoVerify>();
}

Task<Result<std::vector<Prunable>>> FrontService::prune(Prune) {
  co_return std::vector<Prunable>{};
}

}  // namespace hearth::front
