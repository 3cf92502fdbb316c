// SPDX-License-Identifier: Apache-2.0
//
// FrontService keeping what starts compute.
#include <utility>

#include "base/version.h"
#include "front/front_service.h"

namespace hearth::front {

CompiledRoom::World FrontService::compiled_world() {
  const auto budget = Bytes{static_cast<std::uint64_t>(config_.compiled_disk_gib) << 30};
  return {world_.loop,
          disk_pool_,
          world_.files,
          world_.clock,
          config_.data,
          std::string{engine_build()},
          world_.environment,
          config_.switches.compiled,
          budget,
          named_,
          [this](const std::string& artifact) { return host_of(artifact); },
          [this](std::string name) { return hash_content(std::move(name)); }};
}

// What is kept by content needs it known.
Task<Result<>> FrontService::hash_content(std::string name) {
  VerifyRequest request;
  request.model = std::move(name);
  const std::unique_ptr<Transfer> hashing = verify(std::move(request));
  for (;;) {
    const TransferEvent event = co_await hashing->next();
    if (const auto* error = std::get_if<Error>(&event)) co_return Failed{*error};
    if (std::holds_alternative<TransferDone>(event)) co_return Result<>{};
  }
}

CoolPreview FrontService::preview_compiled(const NamedModel& named) const {
  CoolPreview preview;
  preview.model = named.name;
  for (const NamedModel& other : named_) {
    const bool shares = other.artifact.content() == named.artifact.content();
    if (shares && other.name != named.name) preview.also.push_back(other.name);
  }
  const Compilations::State kept = compiled_.state({named.artifact.id, named.name, ""});
  preview.files = compiled_.files(named.artifact.id);
  preview.freed_bytes = static_cast<std::int64_t>((kept.stored + kept.drivers).count());
  return preview;
}

}  // namespace hearth::front
