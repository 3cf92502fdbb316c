// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/url_source.h"

#include <fmt/format.h>

#include "layers/artifact/shard_name.h"
#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

constexpr int kMaxFiles = 1000;

PlannedFile file_at(std::string url) {
  PlannedFile file;
  file.name = url.substr(url.rfind('/') + 1);
  file.url = std::move(url);
  return file;
}

}  // namespace

Result<FetchPlan> url_plan(const ModelSource& source) {
  FetchPlan plan;
  plan.source = source.text;
  plan.name = source.name;
  const std::optional<ShardName> shard = parse_shard_name(source.url);
  if (!shard) {
    plan.files.push_back(file_at(source.url));
    return plan;
  }
  if (shard->count > kMaxFiles) {
    return invalid_source(fmt::format("a set of {} files is more than the {} that are accepted",
                                      shard->count, kMaxFiles));
  }
  for (int number = 1; number <= shard->count; ++number) {
    plan.files.push_back(file_at(shard->sibling(number)));
  }
  return plan;
}

}  // namespace hearth
