// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/generation.h"
#include "api/ollama/requests.h"
#include "base/async.h"

namespace hearth::api::ollama {

// A request that asks the model nothing: how it is answered once the model is loaded or unloaded.
struct IdleCall {
  RequestOptions options;
  Purpose purpose = Purpose::kLoad;
  // The whole body; `reason` is "load" or "unload".
  std::function<std::string(std::string_view reason, const RequestReport& report)> body;
  // The lines before it that tell of progress; empty where none are sent.
  MakeFormat progress;
};

// Loads the model, or unloads it without loading it first.
Task<void> serve_idle(Call call, IdleCall request);

// With the content type that Ollama's own answers have.
http::HttpResponse json_response(std::string body);

}  // namespace hearth::api::ollama
