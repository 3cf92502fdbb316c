// SPDX-License-Identifier: Apache-2.0
#include "api/create_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/ollama/option_rules.h"
#include "layers/artifact/source/modelfile.h"

namespace hearth::api {
namespace json = boost::json;
namespace {

using Named = std::vector<std::pair<std::string, std::string>>;

struct RefusedMember {
  std::string_view name;
  std::string_view reason;
};

constexpr std::string_view kNoQuantizing =
    "models are used as they are; pull one that is quantised, or quantise the file with "
    "llama.cpp's llama-quantize first";
constexpr std::string_view kNoOtherWords =
    "conversations are rendered by the template and read by what it makes the model write";

constexpr std::array kRefusedMembers{
    RefusedMember{"quantize", kNoQuantizing},
    RefusedMember{"quantization", kNoQuantizing},
    RefusedMember{"draft_quantize", kNoQuantizing},
    RefusedMember{"renderer", kNoOtherWords},
    RefusedMember{"parser", kNoOtherWords},
    RefusedMember{"remote_host", "models of other servers are not passed on"},
};

// Clients that send all members send empty ones.
bool says_nothing(const json::value& value) {
  if (value.is_string()) return value.get_string().empty();
  if (value.is_object()) return value.get_object().empty();
  return value.is_array() && value.get_array().empty();
}

bool says(const Fields& body, std::string_view name) {
  const json::value* value = body.find(name);
  return value != nullptr && !says_nothing(*value);
}

void refuse_unsupported(const Fields& body) {
  for (const RefusedMember& refused : kRefusedMembers) {
    if (says(body, refused.name)) body.fail(refused.name, std::string{refused.reason});
  }
}

// {"file name": "sha256:..."}
Named read_blobs(const Fields& body, std::string_view name) {
  Named out;
  if (!says(body, name)) return out;
  const std::optional<Fields> blobs = body.object(name);
  if (!blobs) return out;
  for (const auto& member : blobs->json()) {
    out.emplace_back(member.key(), blobs->required_text(member.key()));
  }
  return out;
}

std::vector<std::string> read_texts(const Fields& body, std::string_view name) {
  std::vector<std::string> out;
  const json::array* list = body.list(name);
  if (list == nullptr) return out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json::value& text = (*list)[i];
    if (!text.is_string()) {
      body.fail_at(fmt::format("{}[{}]", body.path_of(name), i),
                   fmt::format("a string is expected, not {}", kind_name(text)));
      break;
    }
    out.emplace_back(std::string_view{text.get_string()});
  }
  return out;
}

void read_adapters(const Fields& body, Paths paths, front::CreateRequest& request) {
  const json::value* adapters = body.find("adapters");
  if (adapters != nullptr && adapters->is_array() && paths == Paths::kAllowed) {
    request.adapter_paths = read_texts(body, "adapters");
  } else {
    request.adapters = read_blobs(body, "adapters");
  }
}

void read_license(const Fields& body, front::CreateRequest& request) {
  const json::value* license = body.find("license");
  if (license == nullptr) return;
  if (!license->is_array()) {
    request.license = body.text("license");
    return;
  }
  std::string joined;
  for (const std::string& text : read_texts(body, "license")) {
    joined += (joined.empty() ? "" : "\n\n") + text;
  }
  request.license = std::move(joined);
}

json::object read_message(const Fields& message) {
  json::object out;
  const std::string role = message.required_text("role");
  if (!message.failed() && role != "system" && role != "user" && role != "assistant") {
    message.fail("role", "must be system, user or assistant");
  }
  out["role"] = role;
  out["content"] = message.text("content").value_or("");
  return out;
}

void read_messages(const Fields& body, front::CreateRequest& request) {
  const json::array* messages = body.list("messages");
  if (messages == nullptr) return;
  json::array out;
  for (std::size_t i = 0; i < messages->size() && !body.failed(); ++i) {
    const std::optional<Fields> message = body.element("messages", *messages, i);
    if (message) out.push_back(read_message(*message));
  }
  request.messages = json::serialize(out);
}

void check_source(const Fields& body, Paths paths) {
  const bool path = says(body, "path");
  if (path && paths == Paths::kRefused) {
    body.fail("path", "files of the server's machine are named under /api/hearth/create");
  }
  const int said =
      int{says(body, "from")} + int{says(body, "files")} + int{path} + int{says(body, "modelfile")};
  if (said == 1) return;
  const std::string possible = paths == Paths::kAllowed ? "from, files or path" : "from or files";
  body.fail("from", said == 0 ? "say what it is made of: " + possible
                              : "only one is possible of " + possible);
}

bool is_path(std::string_view text) {
  return text.starts_with('/') || text.starts_with('.') || text.starts_with('~');
}

// What a Modelfile says where no member does.
void fill_in(const ModelSettings& said, front::CreateRequest& request) {
  const auto fill = [](std::optional<std::string>& member, const std::string& text) {
    if (!member && !text.empty()) member = text;
  };
  fill(request.system, said.system);
  fill(request.chat_template, said.chat_template);
  fill(request.license, said.license);
  if (request.parameters.empty()) request.parameters = said.parameters;
  if (request.messages.empty()) request.messages = said.messages;
}

// The old way to say it all. Paths in it are the server's, whole ones.
void read_modelfile(const Fields& body, Paths paths, front::CreateRequest& request) {
  const std::string text = body.text("modelfile").value_or("");
  if (text.empty()) return;
  auto file = parse_modelfile(text);
  if (!file) {
    body.fail("modelfile", file.error().message());
    return;
  }
  const bool from_path = is_path(file->from);
  if ((from_path || !file->adapters.empty()) && paths == Paths::kRefused) {
    body.fail("modelfile",
              "it names files; send them to /api/blobs and name them in files and adapters, or "
              "use `hearth create NAME -f FILE`");
    return;
  }
  (from_path ? request.path : request.from) = file->from;
  request.adapter_paths = std::move(file->adapters);
  fill_in(file->settings, request);
}

}  // namespace

front::CreateRequest read_create(const Fields& body, Paths paths) {
  front::CreateRequest request;
  refuse_unsupported(body);
  const std::string_view name = says(body, "name") ? "name" : "model";
  request.name = body.required_text(name);
  check_source(body, paths);
  request.from = body.text("from").value_or("");
  request.path = body.text("path").value_or("");
  request.files = read_blobs(body, "files");
  read_adapters(body, paths, request);
  request.system = body.text("system");
  request.chat_template = body.text("template");
  read_license(body, request);
  request.parameters = ollama::read_parameters(body);
  read_messages(body, request);
  read_modelfile(body, paths, request);
  return request;
}

}  // namespace hearth::api
