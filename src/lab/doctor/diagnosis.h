// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/doctor/circumstances.h"
#include "lab/doctor/finding.h"
#include "lab/doctor/past_reply.h"

namespace hearth::lab {

// What a server's last days and its circumstances say. Pure: the same input, the same findings.
//
// Replies with the same verdict and model are one finding. What every server does now and then (a
// first use, a short queue, a processor that wakes up) is one only where it comes again and costs
// at least kLeastOrdinary. Then what verdicts do not know: a slow device, too little memory for the
// models that are used, a layer that is switched off, too little read-ahead, heads of prompts that
// change each time. Most seconds a day first.
std::vector<Finding> diagnose(const Circumstances& facts, std::span<const PastReply> replies,
                              std::int64_t now_us);

inline constexpr int kDays = 7;                // that are looked back on
inline constexpr double kLeastOrdinary = 1.0;  // seconds a day
// A device that reads models slower than this is slow; a common SSD on SATA reads kUsualDisk.
inline constexpr double kSlowDisk = 150e6;  // bytes a second
inline constexpr double kUsualDisk = 500e6;

// From the first of these replies until now, from 1 to kDays: less than a day of history counts as
// one, so that a minute is not taken for a day's beginning.
double days_of(std::span<const PastReply> replies, std::int64_t now_us);

}  // namespace hearth::lab
