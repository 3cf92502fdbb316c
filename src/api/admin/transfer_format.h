// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/call.h"
#include "api/transfers.h"

namespace hearth::api::admin {

// {"progress":{…}}, {"verified":{…}}, {"done":{…},"model":{…}}, {"error":{…}}: as lines, or as
// server-sent events of that name for those whose Accept asks for them. What `call` refers to must
// outlive it.
std::unique_ptr<TransferFormat> transfer_format(const Call& call);

}  // namespace hearth::api::admin
