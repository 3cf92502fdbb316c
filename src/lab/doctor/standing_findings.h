// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "lab/doctor/circumstances.h"
#include "lab/doctor/finding.h"
#include "lab/doctor/past_reply.h"

namespace hearth::lab {

// The part of diagnose() that no single verdict can tell. What it says of heads of prompts takes
// the place of prefix.diverged. Pure.
void add_standing(std::vector<Finding>& findings, const Circumstances& facts,
                  std::span<const PastReply> replies, double days);

}  // namespace hearth::lab
