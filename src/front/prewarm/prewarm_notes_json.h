// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/fwd.hpp>

#include "front/prewarm/lasting_time.h"
#include "front/prewarm/prewarm_book.h"

namespace hearth::front {

boost::json::object object_of(const PrewarmNotes& notes);
boost::json::object object_of(const LastingNotes& notes);

// Throw std::exception at whatever object_of() does not make.
PrewarmNotes prewarm_notes_of(const boost::json::object& object);
LastingNotes lasting_notes_of(const boost::json::object& object);
// What is not below zero and so small that sums of two fit.
Duration kept_duration_of(const boost::json::value& value);

}  // namespace hearth::front
