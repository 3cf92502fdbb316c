// SPDX-License-Identifier: Apache-2.0
//
// /api/chat and /api/generate.
#include "api/generation.h"
#include "api/ollama/idle.h"
#include "api/ollama/ollama.h"
#include "api/ollama/reply_format.h"
#include "api/ollama/requests.h"
#include "api/read_body.h"

namespace hearth::api::ollama {
namespace {

using Parse = Result<TextCall> (*)(const boost::json::object&, const ModelDefaults&);

IdleCall idle_call(const TextCall& request, Shape shape, const Clock* clock, MakeFormat format) {
  IdleCall idle{request.generate.options, request.purpose, {}, {}};
  idle.body = [model = idle.options.model, shape, clock](std::string_view reason,
                                                         const RequestReport& report) {
    return done_line(model, shape, *clock, reason, report);
  };
  const bool tells =
      idle.options.return_progress && request.generate.delivery == front::Delivery::kStreamed;
  if (tells) idle.progress = std::move(format);
  return idle;
}

Task<void> serve_text(Call call, Parse parse, Shape shape) {
  auto request = read_body(call, parse);
  if (!request) {
    co_await refuse(std::move(call), std::move(request).error());
    co_return;
  }
  const Clock* clock = call.options.clock;
  MakeFormat format = [shape, clock](ReplyIdentity identity) {
    return line_format(std::move(identity), shape, *clock);
  };
  if (request->purpose != Purpose::kAnswer) {
    IdleCall idle = idle_call(*request, shape, clock, std::move(format));
    co_await serve_idle(std::move(call), std::move(idle));
    co_return;
  }
  co_await serve_generate(std::move(call), std::move(request->generate), std::move(format));
}

}  // namespace

Task<void> chat(Call call) { return serve_text(std::move(call), parse_chat, Shape::kChat); }

Task<void> generate(Call call) {
  return serve_text(std::move(call), parse_generate, Shape::kGenerate);
}

}  // namespace hearth::api::ollama
