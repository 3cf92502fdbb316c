// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "layers/artifact/source/http_url.h"

namespace hearth {

enum class SourceKind { kHuggingFace, kRegistry, kUrl };

// Who answers for sources that name no server of their own. Addresses, from the configuration.
struct SourceServers {
  std::string huggingface = "https://huggingface.co";
  std::string registry = "https://registry.ollama.ai";
};

// Of a registry that is named without one.
enum class SourceScheme { kHttps, kHttp };

// What somebody who says "pull this" means. Nothing in it is a path step, an escape or a control
// character, so it is safe to print and to build addresses from.
//
//   hf.co/org/repo[@revision][:quantisation]      also huggingface.co, and pages' addresses
//   hf.co/org/repo[@revision]:file.gguf
//   [host[:port]/][namespace/]name[:tag]          a registry as Ollama's
//   https://host/path/file.gguf                   any web server
struct ModelSource {
  SourceKind kind = SourceKind::kRegistry;
  std::string text;        // canonical: parse_source() of it gives the same
  std::string name;        // what the model is called unless the user says otherwise
  std::string endpoint;    // address of the server, no "/" at its end
  std::string repository;  // "org/repo", "library/name"; of kUrl: empty
  std::string version;     // kHuggingFace: a branch, tag or commit; kRegistry: the tag
  std::string wanted;      // kHuggingFace: a quantisation or a file's path; empty: ours to choose
  std::string url;         // kUrl: of the file
  // The server that is asked first, as HostRule::matches() takes it (`path` is of no meaning).
  HttpUrl host;
  // It is one of SourceServers, so whoever wrote the configuration knows it.
  bool configured = false;
};

// `scheme` counts where the text names a registry without one. Errors: kInvalid, saying what is
// wrong without repeating what may be a path.
Result<ModelSource> parse_source(std::string_view text, const SourceServers& servers,
                                 SourceScheme scheme = SourceScheme::kHttps);

}  // namespace hearth
