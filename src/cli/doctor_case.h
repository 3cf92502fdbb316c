// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cli/session.h"
#include "lab/doctor/circumstances.h"
#include "lab/doctor/past_reply.h"

namespace hearth::cli {

// What a diagnosis is made from.
struct DoctorCase {
  lab::Circumstances facts;
  std::vector<lab::PastReply> replies;  // of the last lab::kDays, newest first
  std::int64_t now_us = 0;              // wall clock
};

// Asks the server, and where it runs on this machine also the kernel. What the key may not see, or
// is not there to be seen, is noted as not observable. Errors: those of the server's version, which
// any key may see, and of its history.
Result<DoctorCase> doctor_case(const Session& session);

}  // namespace hearth::cli
