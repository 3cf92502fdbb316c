// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>

#include "api/generation.h"
#include "api/model_defaults.h"
#include "api/transfers.h"
#include "base/result.h"
#include "wire/messages.h"

// Bodies of the /api routes, read. Pure. Errors are kInvalid and name the member at fault by its
// path. Members that nobody here knows are passed over, except within `options`; those whose
// silence would change the answer are refused by name.
namespace hearth::api::ollama {

// What a request is for. Those that ask the model nothing only load it, or unload it where they
// keep it alive for no time.
enum class Purpose { kAnswer, kLoad, kUnload };

struct TextCall {
  GenerateCall generate;
  Purpose purpose = Purpose::kAnswer;
};

struct EmbedCall {
  RequestOptions options;
  wire::EmbedMessage message;
  int dimensions = 0;  // 0: all that there are
  Purpose purpose = Purpose::kAnswer;
};

Result<TextCall> parse_chat(const boost::json::object& body, const ModelDefaults& defaults = {});
Result<TextCall> parse_generate(const boost::json::object& body,
                                const ModelDefaults& defaults = {});
Result<EmbedCall> parse_embed(const boost::json::object& body);
Result<EmbedCall> parse_embeddings(const boost::json::object& body);

// The model of /api/show and /api/delete: `model`, or `name` as older clients call it.
Result<std::string> parse_model(const boost::json::object& body);

struct PullCall {
  front::PullRequest pull;
  TransferOptions options;
};
Result<PullCall> parse_pull(const boost::json::object& body);

struct CreateCall {
  front::CreateRequest create;
  front::Delivery delivery = front::Delivery::kStreamed;
};
Result<CreateCall> parse_create(const boost::json::object& body);

struct CopyCall {
  std::string source;
  std::string destination;
};
Result<CopyCall> parse_copy(const boost::json::object& body);

}  // namespace hearth::api::ollama
