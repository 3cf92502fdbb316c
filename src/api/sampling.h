// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/fields.h"
#include "front/keep_alive.h"
#include "front/reply.h"
#include "wire/messages.h"

// What requests of several dialects say in the same words.
namespace hearth::api {

// seed, temperature, top_p, top_k, ...: those that are there, over what `sampling` holds.
void read_sampling(const Fields& fields, wire::Sampling& sampling);

// num_predict, num_ctx, num_keep, as Ollama's options have them: those that are there.
void read_lengths(const Fields& fields, wire::GenerateMessage& message);

// A string or a list of them, in place of what `stops` holds. Empty ones stop nothing.
void read_stops(const Fields& fields, std::string_view name, std::vector<std::string>& stops);

// keep_alive in Ollama's forms, or ttl, LM Studio's word for it in seconds. Absent and null: as the
// server is configured.
std::optional<front::KeepAlive> read_keep_alive(const Fields& body);

// return_progress: only a stream can tell of it, so asking for it elsewhere is an error.
bool read_progress(const Fields& body, front::Delivery delivery);

// Sets `target` where there is a value.
template <class T, class U>
void keep(T& target, const std::optional<U>& value) {
  if (value) target = static_cast<T>(*value);
}

}  // namespace hearth::api
