// SPDX-License-Identifier: Apache-2.0
#include "api/reply_set.h"

#include <utility>

namespace hearth::api {
namespace {

bool is_last(const front::Event& event) {
  return std::holds_alternative<front::Finished>(event) ||
         std::holds_alternative<front::Refused>(event);
}

front::GenerateRequest request_of(const Call& call, const GenerateCall& request, int index) {
  front::GenerateRequest generate{context_of(call, request.options), request.message};
  std::optional<std::uint32_t>& seed = generate.message.sampling.seed;
  if (seed) *seed += static_cast<std::uint32_t>(index);
  return generate;
}

}  // namespace

ReplySet::ReplySet(Call& call, const GenerateCall& request, int count)
    : exchange_{call.exchange}, state_{std::make_shared<State>(*call.options.loop)}, open_{count} {
  for (int index = 0; index < count; ++index) {
    state_->replies.push_back(
        call.service.generate(request_of(call, request, index), request.delivery));
  }
  exchange_.on_client_gone([this] { cancel(); });
  if (exchange_.client_gone()) cancel();
  for (int index = 0; index < count; ++index) {
    call.options.loop->spawn(pump(state_, index));
  }
}

ReplySet::~ReplySet() {
  exchange_.on_client_gone({});
  if (open_ > 0) cancel();
}

Task<void> ReplySet::pump(std::shared_ptr<State> state, int index) {
  front::Reply& reply = *state->replies[static_cast<std::size_t>(index)];
  bool more = true;
  while (more) {
    front::Event event = co_await reply.next();
    more = !is_last(event);
    Arrival arrival{index, std::move(event)};
    state->arrivals.push(std::move(arrival));
  }
}

Task<std::optional<ReplySet::Arrival>> ReplySet::next() {
  std::optional<Arrival> arrival;
  if (open_ > 0) arrival = co_await state_->arrivals.pop();
  if (arrival && is_last(arrival->event)) --open_;
  co_return arrival;
}

void ReplySet::cancel() {
  for (const auto& reply : state_->replies) reply->cancel();
}

}  // namespace hearth::api
