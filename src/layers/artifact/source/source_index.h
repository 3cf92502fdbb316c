// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "layers/artifact/fetch_plan.h"
#include "layers/artifact/source/model_source.h"

namespace hearth {

struct HeaderField {
  std::string name;
  std::string value;

  friend bool operator==(const HeaderField&, const HeaderField&) = default;
};

// A small text to ask a source's server for, by GET.
struct IndexRequest {
  std::string url;
  std::vector<HeaderField> headers;
  Bytes limit;  // an answer beyond it is an error
};

// What came back, whatever its status.
struct IndexAnswer {
  int status = 0;
  std::vector<HeaderField> headers;  // names in lower case
  std::string body;
  bool with_token = false;  // the request carried one

  // The first value; empty when there is none.
  std::string_view header(std::string_view name) const;
};

// Pull in four steps, of which this is the pure part:
//   1. index_request(), if there is one: ask, with bearer() where a token is at hand;
//   2. status 401 of a registry: ask token_request(), put token_header() of the answer to the
//      headers, ask again, and send it with every file too;
//   3. plan_of(); each of its `texts` is asked for and given to apply_text();
//   4. the files.

// What a source's own index is asked. Nothing for one that has none (kUrl).
std::optional<IndexRequest> index_request(const ModelSource& source);

// `answer` is ignored where there is no index. Errors: kNotFound (no such model, no such
// quantisation: what there is is listed), kInvalid (a token is missing or not accepted; several
// files fit), kUnsupported (nothing that could be run; says what to do), kCorrupt (the answer makes
// no sense), kUnavailable (the server cannot at the moment).
Result<FetchPlan> plan_of(const ModelSource& source, const IndexAnswer& answer);

// "Authorization: Bearer <token>". Errors: kInvalid, when this cannot be a token; it is not
// repeated.
Result<HeaderField> bearer(std::string_view token);

}  // namespace hearth
