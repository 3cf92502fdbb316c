// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "api/generation.h"
#include "base/result.h"

namespace hearth::api::openai {

// What Jina's and Cohere's clients ask of a reranker.
struct RerankCall {
  RequestOptions options;
  std::string query;
  std::vector<std::string> documents;
  int most = 0;  // top_n: of the best documents; 0: all
  bool with_documents = false;
};

// Pure. Errors are kInvalid and name the member at fault by its path.
Result<RerankCall> parse_rerank(const boost::json::object& body);

}  // namespace hearth::api::openai
