// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layers/compiled/compilations.h"

namespace hearth {

// Where nothing is kept on disk. Stateless.
class NoCompilations : public Compilations {
 public:
  State state(const Subject&) const override { return {}; }
  Task<Bytes> measure_drivers(Subject) override { co_return Bytes{}; }
  Task<Result<>> build(Subject) override {
    co_return fail(ErrorCode::kUnsupported, "nothing compiled is kept here");
  }
  Task<Result<Bytes>> drop(Subject) override { co_return Bytes{}; }

  static NoCompilations& instance() {
    static NoCompilations none;
    return none;
  }
};

}  // namespace hearth
