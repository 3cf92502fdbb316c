// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/call.h"
#include "base/async.h"

// The /api routes, as Ollama's clients know them.
namespace hearth::api::ollama {

// The Ollama release whose API these routes follow. Clients ask for it to learn which requests they
// may send: structured formats, tool calls, thinking, capabilities in lists.
inline constexpr std::string_view kOllamaApiLevel = "0.32.15";

Task<void> chat(Call call);
Task<void> generate(Call call);
Task<void> embed(Call call);
Task<void> embeddings(Call call);  // the older form of the same: one text, one vector

Task<void> list_models(Call call);   // /api/tags
Task<void> list_running(Call call);  // /api/ps
Task<void> show_model(Call call);
Task<void> copy_model(Call call);
Task<void> delete_model(Call call);
Task<void> version(Call call);

Task<void> pull(Call call);
Task<void> push(Call call);
Task<void> create_model(Call call);
Task<void> show_blob(Call call);  // HEAD of /api/blobs
Task<void> add_blob(Call call);   // whose body is streamed

}  // namespace hearth::api::ollama
