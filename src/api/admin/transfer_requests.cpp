// SPDX-License-Identifier: Apache-2.0
#include "api/admin/transfer_requests.h"

#include "api/fields.h"

namespace hearth::api::admin {
namespace json = boost::json;
namespace {

template <class T>
Result<T> outcome(T call, Fields::FirstError error) {
  if (error) return Failed{std::move(*error)};
  return call;
}

// Where nothing is required, no body is a fine one.
Result<json::object> body_or_nothing(const std::string& body) {
  if (body.empty()) return json::object{};
  return parse_body(body);
}

TransferOptions read_options(const Fields& body) {
  TransferOptions options;
  const bool streamed = body.flag("stream").value_or(true);
  options.delivery = streamed ? front::Delivery::kStreamed : front::Delivery::kWhole;
  options.detach = body.flag("detach").value_or(false);
  return options;
}

}  // namespace

Result<PullCall> parse_pull(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  PullCall call;
  call.pull.source = body.required_text("source");
  call.pull.name = body.text("name").value_or("");
  call.pull.insecure = body.flag("insecure").value_or(false);
  call.options = read_options(body);
  return outcome(std::move(call), std::move(error));
}

Result<VerifyCall> parse_verify(const std::string& text) {
  auto object = body_or_nothing(text);
  if (!object) return Failed{std::move(object).error()};
  Fields::FirstError error;
  const Fields body{*object, "", error};
  VerifyCall call;
  call.verify.model = body.text("model").value_or("");
  call.verify.repair = body.flag("repair").value_or(false);
  call.options = read_options(body);
  return outcome(std::move(call), std::move(error));
}

Result<StopCall> parse_stop(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  StopCall call;
  call.name = body.required_text("name");
  if (body.flag("drop").value_or(false)) call.parts = front::Service::Parts::kDrop;
  return outcome(std::move(call), std::move(error));
}

Result<front::Service::Prune> parse_prune(const std::string& text) {
  auto object = body_or_nothing(text);
  if (!object) return Failed{std::move(object).error()};
  Fields::FirstError error;
  const Fields body{*object, "", error};
  const bool dry = body.flag("dry_run").value_or(true);
  return outcome(dry ? front::Service::Prune::kShow : front::Service::Prune::kDelete,
                 std::move(error));
}

}  // namespace hearth::api::admin
