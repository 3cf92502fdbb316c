// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "base/async.h"

// The routes under /api/hearth: for those who run the server. Admins read paths here.
namespace hearth::api::admin {

Task<void> list_models(Call call);
Task<void> show_model(Call call);
Task<void> remove_model(Call call);
Task<void> import_model(Call call);
Task<void> create_model(Call call);
Task<void> show_details(Call call);

// Both tell of their work in lines of JSON, server-sent events, or once at its end.
Task<void> pull(Call call);
Task<void> verify(Call call);
Task<void> list_pulls(Call call);
Task<void> stop_pull(Call call);
Task<void> prune(Call call);
Task<void> rescan(Call call);

// These answer when it is done, with the model as it is then. A client that goes away meanwhile
// changes nothing: the work belongs to the server. load, and warm of weights, take keep_alive,
// `Prefer: wait=N`, and return_progress for a stream of JSON lines (load.h).
Task<void> load(Call call);
Task<void> unload(Call call);
Task<void> warm(Call call);
Task<void> cool(Call call);
Task<void> pin(Call call);
Task<void> unpin(Call call);

// What is kept of prompts; and what is worth a change, with its remedy.
Task<void> show_prefix(Call call);
Task<void> show_doctor(Call call);
Task<void> show_memory(Call call);
Task<void> show_moves(Call call);
Task<void> show_levels(Call call);

// Named beginnings of prompts.
Task<void> list_modules(Call call);
Task<void> show_module(Call call);
Task<void> set_module(Call call);
Task<void> remove_module(Call call);

// What `hearth lab` measured, in this server's data directory.
Task<void> list_reports(Call call);
Task<void> show_report(Call call);

Task<void> list_requests(Call call);
Task<void> list_running(Call call);
Task<void> show_request(Call call);

Task<void> show_config(Call call);
Task<void> reload_config(Call call);

// A key's secret is in the answer to add_key and nowhere else.
Task<void> list_keys(Call call);
Task<void> add_key(Call call);
Task<void> remove_key(Call call);

// Server-sent events, until the client goes, its key is taken back, or the server stops.
Task<void> events(Call call);
Task<void> version(Call call);

}  // namespace hearth::api::admin
