// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/pool.h"
#include "front/pulls/fetcher.h"
#include "layers/artifact/fetch_plan.h"
#include "layers/artifact/source/source_index.h"

namespace hearth::front {

// What a pull will do, found out from its source's index: the questions, and the credentials that
// go with them and later with the files. Belongs to the loop; used once.
class PlanFinder {
 public:
  struct World {
    EventLoop& loop;
    Pool& disk;
    // The user's token for Hugging Face; may block.
    std::function<std::string()> token;
  };
  PlanFinder(World world, ModelSource source, Fetcher& fetcher);

  // With the small texts that belong to the model. Errors: those of plan_of(), and the fetcher's.
  Task<Result<FetchPlan>> find();
  // For files that are known already: only what lets them be asked for.
  Task<Result<>> prepare();

  // Whether a file that was fetched once is the same at its server by now, as that says. False when
  // in doubt.
  Task<bool> is_unchanged(hearth::Origin::File file);

  // Why a file cannot be had that its index promised: its server wants to know who asks, or says
  // no. Nothing, when it would give it.
  Task<std::optional<Error>> refusal(std::string url);

  // For a file of the plan. Credentials go to the source's own server only.
  std::vector<wire::HttpField> headers_for(const std::string& url) const;

 private:
  Task<Result<>> take_token();
  Task<Result<IndexAnswer>> ask(IndexRequest request);
  Task<Result<IndexAnswer>> ask_registry_again(IndexRequest request, IndexAnswer refused);
  Task<Result<>> fetch_texts(FetchPlan* plan);

  World world_;
  const ModelSource source_;
  Fetcher& fetcher_;
  std::optional<HeaderField> credentials_;
};

}  // namespace hearth::front
