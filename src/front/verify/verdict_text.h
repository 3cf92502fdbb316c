// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "layers/artifact/catalogue.h"

namespace hearth::front {

// Sentences about files that are not what they were: what is the matter, and what to do. Pure.
std::string text_of_rot(const NamedModel& model, Bytes bad);
std::string text_of_change(const NamedModel& model);
std::string text_of_absence(const NamedModel& model);
// What a client hears that asks for a rotten model.
std::string refusal_of_rot(const NamedModel& model);

// Whether `verify --repair` can do something about it.
bool is_repairable(const Artifact& artifact);

}  // namespace hearth::front
