// SPDX-License-Identifier: Apache-2.0
#include "api/openai/rerank_request.h"

#include <fmt/format.h>

#include <utility>

#include "api/fields.h"
#include "api/openai/common.h"

namespace hearth::api::openai {
namespace json = boost::json;
namespace {

constexpr std::size_t kMostDocuments = 2048;

// A text, or an object that has one.
std::string read_document(const Fields& body, const json::array& list, std::size_t index) {
  const json::value& value = list[index];
  if (value.is_string()) return std::string{std::string_view{value.get_string()}};
  const std::optional<Fields> document = body.element("documents", list, index);
  return document ? document->required_text("text") : std::string{};
}

void read_documents(const Fields& body, RerankCall& call) {
  const json::array* list = body.list("documents");
  if (list == nullptr || list->empty()) {
    body.fail("documents", "a list with at least one document is required");
    return;
  }
  if (list->size() > kMostDocuments) {
    body.fail("documents", fmt::format("at most {} documents are possible", kMostDocuments));
  }
  for (std::size_t i = 0; i < list->size() && !body.failed(); ++i) {
    call.documents.push_back(read_document(body, *list, i));
  }
}

}  // namespace

Result<RerankCall> parse_rerank(const json::object& object) {
  Fields::FirstError error;
  const Fields body{object, "", error};
  RerankCall call;
  read_options(body, call.options);
  call.query = body.required_text("query");
  read_documents(body, call);
  call.most = static_cast<int>(body.integer("top_n", {1, 1 << 20}).value_or(0));
  call.with_documents = body.flag("return_documents").value_or(false);
  if (error) return Failed{std::move(*error)};
  return call;
}

}  // namespace hearth::api::openai
