// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/model_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "layers/artifact/model_name.h"
#include "layers/artifact/source/huggingface_text.h"
#include "layers/artifact/source/source_text.h"

namespace hearth {
namespace {

constexpr std::size_t kMaxLength = 2048;
constexpr std::array<std::string_view, 3> kHuggingFaceHosts{"hf.co", "huggingface.co",
                                                            "www.huggingface.co"};
constexpr std::array<std::string_view, 3> kOllamaHosts{"registry.ollama.ai", "ollama.com",
                                                       "www.ollama.com"};
constexpr std::string_view kRegistryHost = kOllamaHosts.front();
constexpr std::string_view kNamespace = "library";
constexpr std::string_view kTag = "latest";

Failed invalid(std::string message) { return invalid_source(std::move(message)); }

bool is_one_of(std::string_view host, std::span<const std::string_view> hosts) {
  return std::ranges::find(hosts, host) != hosts.end();
}

// What no kind of source may have.
Result<> check_characters(std::string_view text) {
  if (text.empty()) return invalid("it is empty");
  if (text.size() > kMaxLength) {
    return invalid(
        fmt::format("it has {} characters, at most {} are accepted", text.size(), kMaxLength));
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) return invalid("it has a character that is not plain ASCII");
    if (c == ' ') return invalid("it has a blank");
    if (byte < 0x20 || byte == 0x7F) return invalid("it has a control character");
    if (c == '\\') return invalid("it has a backslash");
    if (c == '#') return invalid("it has a \"#\"");
  }
  return {};
}

// A path would be a name that happens to begin with a dot or so; nobody means that.
Result<> check_no_path(std::string_view text) {
  const bool path = text.front() == '/' || text.front() == '.' || text.front() == '~' ||
                    text.starts_with("file:");
  if (path) {
    return invalid("it looks like a file of this machine; `hearth import` takes those");
  }
  if (text.find("..") != std::string_view::npos) return invalid("\"..\" is not accepted");
  return {};
}

// The servers from the configuration, as addresses.
struct Servers {
  HttpUrl huggingface;
  HttpUrl registry;
};

Result<Servers> read_servers(const SourceServers& servers) {
  Result<HttpUrl> huggingface = HttpUrl::parse(servers.huggingface);
  if (!huggingface) return Failed{std::move(huggingface).error().during("huggingface_endpoint")};
  Result<HttpUrl> registry = HttpUrl::parse(servers.registry);
  if (!registry) return Failed{std::move(registry).error().during("ollama_registry")};
  return Servers{std::move(*huggingface), std::move(*registry)};
}

std::string endpoint_of(const HttpUrl& server) {
  std::string path = server.path;
  while (path.ends_with('/')) path.pop_back();
  return server.origin() + path;
}

void ask(ModelSource& source, const HttpUrl& server) {
  source.endpoint = endpoint_of(server);
  source.host = server;
}

// ---- Hugging Face ----

// `rest`: what follows the host and its slash.
Result<ModelSource> huggingface_source(std::string_view rest, const Servers& servers) {
  Result<HuggingFaceText> said = HuggingFaceText::parse(rest);
  if (!said) return Failed{std::move(said).error()};
  ModelSource source;
  source.kind = SourceKind::kHuggingFace;
  source.text = "hf.co/" + said->canonical();
  source.repository = said->repository;
  source.version = said->revision;
  source.wanted = said->wanted;
  source.configured = true;
  ask(source, servers.huggingface);
  std::string tag{kTag};
  if (!said->wanted.empty()) {
    const Result<ModelName> file = ModelName::from_path(said->wanted);
    if (!file) return invalid("no name can be made of its file's");
    tag = file->model();
  }
  const Result<ModelName> name = ModelName::parse("hf.co/" + said->repository + ":" + tag);
  if (!name) return Failed{name.error()};
  source.name = name->canonical();
  return source;
}

// ---- registries ----

struct RegistryText {
  std::string host;  // as written; empty: not said
  std::string name_space{kNamespace};
  std::string model;
  std::string tag{kTag};
};

bool looks_like_a_host(std::string_view part) {
  return part.find_first_of(".:") != std::string_view::npos || part == "localhost";
}

Result<RegistryText> read_registry_text(std::string_view text) {
  std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() > 3) {
    return invalid(
        "it has more parts than host, namespace and name; the address of a file must "
        "begin with https:// and end in .gguf");
  }
  RegistryText said;
  std::string_view last = parts.back();
  parts.pop_back();
  if (last.find('@') != std::string_view::npos) {
    return invalid("a digest or revision after \"@\" is only understood for hf.co; use a tag");
  }
  const std::size_t colon = last.find(':');
  if (colon != std::string_view::npos) said.tag = std::string{last.substr(colon + 1)};
  said.model = std::string{last.substr(0, colon)};
  if (parts.size() == 1 && looks_like_a_host(parts.front())) {
    said.host = std::string{parts.front()};
  } else if (!parts.empty()) {
    said.name_space = std::string{parts.back()};
  }
  if (parts.size() == 2) said.host = std::string{parts.front()};
  if (Result<> fit = check_part(said.name_space, "namespace"); !fit) return Failed{fit.error()};
  if (Result<> fit = check_part(said.model, "name"); !fit) return Failed{fit.error()};
  if (Result<> fit = check_part(said.tag, "tag"); !fit) return Failed{fit.error()};
  return said;
}

// The server that `said` names, or the one from the configuration.
struct RegistryServer {
  HttpUrl url;
  bool official = true;  // where names without a host live
  bool configured = true;
};

Result<RegistryServer> registry_server(RegistryText& said, std::string_view scheme,
                                       const HttpUrl& configured) {
  if (said.host.empty()) return RegistryServer{configured};
  Result<HttpUrl> host = HttpUrl::parse(fmt::format("{}://{}", scheme, said.host));
  if (!host) return Failed{std::move(host).error().at("model")};
  // As it is shown: in lower case, without the usual port.
  said.host = host->origin().substr(host->scheme.size() + 3);
  if (is_one_of(host->host, kOllamaHosts)) return RegistryServer{configured};
  if (host->host == configured.host && host->port == configured.port) {
    return RegistryServer{configured, false};
  }
  return RegistryServer{std::move(*host), false, false};
}

// Short, as people say it, where the model lives where names without a host do.
std::string name_of(const RegistryText& said, const RegistryServer& server) {
  std::string above = said.name_space + "/";
  if (server.official && said.name_space == kNamespace) above.clear();
  if (!server.official) above = said.host + "/" + above;
  return above + said.model + ":" + said.tag;
}

Result<ModelSource> registry_source(std::string_view text, std::string_view scheme,
                                    const HttpUrl& configured) {
  Result<RegistryText> said = read_registry_text(text);
  if (!said) return Failed{std::move(said).error()};
  const Result<RegistryServer> server = registry_server(*said, scheme, configured);
  if (!server) return Failed{server.error()};
  ModelSource source;
  source.kind = SourceKind::kRegistry;
  source.repository = said->name_space + "/" + said->model;
  source.version = said->tag;
  const bool plain = !server->configured && server->url.scheme == "http";
  source.text = fmt::format("{}{}/{}:{}", plain ? "http://" : "",
                            server->official ? kRegistryHost : std::string_view{said->host},
                            source.repository, source.version);
  source.configured = server->configured;
  ask(source, server->url);
  const Result<ModelName> name = ModelName::parse(name_of(*said, *server));
  if (!name) return Failed{name.error()};
  source.name = name->canonical();
  return source;
}

// ---- addresses ----

bool is_gguf(std::string_view path) { return lower_case(path).ends_with(".gguf"); }

Result<ModelSource> url_source(const HttpUrl& url) {
  ModelSource source;
  source.kind = SourceKind::kUrl;
  source.text = source.url = url.origin() + url.path;
  source.endpoint = url.origin();
  source.host = url;
  const Result<ModelName> name = ModelName::from_path(url.path);
  if (!name) return invalid("no name can be made of its file's");
  source.name = name->canonical();
  return source;
}

bool same_server(const HttpUrl& a, const HttpUrl& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

// What follows the server's own path and a slash; nullopt: the address is not below it.
std::optional<std::string_view> below(const HttpUrl& url, const HttpUrl& server) {
  if (!same_server(url, server)) return std::nullopt;
  std::string_view base = server.path;
  while (base.ends_with('/')) base.remove_suffix(1);
  std::string_view path = url.path;
  if (!path.starts_with(base)) return std::nullopt;
  path.remove_prefix(base.size());
  if (!path.starts_with('/')) return std::nullopt;
  return path.substr(1);
}

// How the pages of Hugging Face call a file or a branch.
bool is_page_of_repository(std::string_view path) {
  constexpr std::array<std::string_view, 4> kPages{"resolve", "blob", "raw", "tree"};
  const std::vector<std::string_view> parts = split(path, '/');
  return parts.size() >= 4 && is_one_of(parts[2], kPages);
}

Result<ModelSource> address_source(std::string_view text, const Servers& servers) {
  Result<HttpUrl> url = HttpUrl::parse(text);
  if (!url) return Failed{std::move(url).error().at("model")};
  // What the button on a file's page copies.
  if (!url->query.empty() && url->query != "download=true") {
    return invalid("a query (from \"?\" on) is not accepted; it may hold a key, and it may expire");
  }
  std::string_view path = url->path;
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (is_one_of(url->host, kHuggingFaceHosts)) return huggingface_source(path, servers);
  const std::optional<std::string_view> mirrored = below(*url, servers.huggingface);
  if (mirrored && is_page_of_repository(*mirrored)) return huggingface_source(*mirrored, servers);
  if (is_gguf(url->path)) return url_source(*url);
  if (std::ranges::count(path, '/') == 1) {
    const std::string host = url->origin().substr(url->scheme.size() + 3);
    return registry_source(fmt::format("{}/{}", host, path), url->scheme, servers.registry);
  }
  return invalid(
      "an address must be that of a .gguf file, of a model on huggingface.co, or "
      "https://host/namespace/name:tag of a registry");
}

}  // namespace

Result<ModelSource> parse_source(std::string_view text, const SourceServers& servers,
                                 SourceScheme scheme) {
  if (Result<> fit = check_characters(text); !fit) return Failed{std::move(fit).error()};
  if (Result<> fit = check_no_path(text); !fit) return Failed{std::move(fit).error()};
  const Result<Servers> known = read_servers(servers);
  if (!known) return Failed{known.error()};
  if (text.find("://") != std::string_view::npos) return address_source(text, *known);
  if (text.find('%') != std::string_view::npos) return invalid("it has a percent sign");
  const std::size_t slash = text.find('/');
  const bool hosted = slash != std::string_view::npos &&
                      is_one_of(lower_case(text.substr(0, slash)), kHuggingFaceHosts);
  if (hosted) return huggingface_source(text.substr(slash + 1), *known);
  return registry_source(text, scheme == SourceScheme::kHttp ? "http" : "https", known->registry);
}

}  // namespace hearth
