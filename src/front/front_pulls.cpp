// SPDX-License-Identifier: Apache-2.0
//
// FrontService's pulls: fetching models, and giving back files that can be fetched again.
#include "front/front_service.h"

namespace hearth::front {

namespace {

class NoTransfer : public Transfer {
 public:
  Task<TransferEvent> next() override {
    co_return Error{ErrorCode::kUnsupported, "this server cannot fetch models"};
  }
  void cancel() override {}
  void detach() override {}
};

}  // namespace

std::unique_ptr<Transfer> FrontService::pull(PullRequest) { return std::make_unique<NoTransfer>(); }

std::vector<PullStatus> FrontService::pulls() const { return {}; }

Task<Result<>> FrontService::stop_pull(std::string name, Parts) {
  co_return fail(ErrorCode::kNotFound, "no pull of \"" + name + "\"");
}

Task<Result<CoolPreview>> FrontService::preview_cool(std::string) {
  co_return fail(ErrorCode::kUnsupported, "imported files are never deleted");
}

}  // namespace hearth::front
