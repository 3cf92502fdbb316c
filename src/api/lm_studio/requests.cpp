// SPDX-License-Identifier: Apache-2.0
#include "api/lm_studio/requests.h"

#include <array>
#include <limits>
#include <utility>

#include "api/fields.h"
#include "api/sampling.h"

namespace hearth::api::lm_studio {
namespace {

constexpr std::array<std::string_view, 4> kOfTheConfiguration{
    "eval_batch_size", "flash_attention", "num_experts", "offload_kv_cache_to_gpu"};

}  // namespace

Result<LoadCall> parse_load(const boost::json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  LoadCall call;
  call.options.model = body.required_text("model");
  call.options.keep_alive = read_keep_alive(body);
  constexpr int kMost = std::numeric_limits<int>::max();
  call.context = static_cast<int>(body.integer("context_length", {1, kMost}).value_or(0));
  call.echo = body.flag("echo_load_config").value_or(false);
  for (std::string_view name : kOfTheConfiguration) {
    if (body.has(name)) body.fail(name, "a load cannot change this; models load as configured");
  }
  if (error) return Failed{std::move(*error)};
  return call;
}

Result<std::string> parse_unload(const boost::json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  std::string id = body.required_text("instance_id");
  if (error) return Failed{std::move(*error)};
  return id;
}

}  // namespace hearth::api::lm_studio
