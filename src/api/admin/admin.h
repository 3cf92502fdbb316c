// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "base/async.h"

// The routes under /api/hearth: for those who run the server, so paths may be named here.
namespace hearth::api::admin {

Task<void> list_models(Call call);
Task<void> show_model(Call call);
Task<void> remove_model(Call call);
Task<void> import_model(Call call);

// These answer when it is done. A client that goes away meanwhile changes nothing: the work belongs
// to the server.
Task<void> load(Call call);
Task<void> unload(Call call);
Task<void> warm(Call call);
Task<void> cool(Call call);

Task<void> list_requests(Call call);
Task<void> show_request(Call call);

// Server-sent events, until the client goes or the server stops.
Task<void> events(Call call);
Task<void> version(Call call);

}  // namespace hearth::api::admin
