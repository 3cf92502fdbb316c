// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/found/store_root.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hearth {
namespace {

// Where Ollama's own service keeps its models on Linux.
constexpr std::string_view kOllamaService = "/usr/share/ollama/.ollama/models";

class Roots {
 public:
  explicit Roots(const std::map<std::string, std::string>& environment)
      : environment_{environment} {}

  void add(Store store, std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    // A relative path would mean another place for each directory a server is started in.
    if (!path.starts_with('/')) return;
    StoreRoot root{store, std::move(path)};
    if (std::ranges::find(roots_, root) == roots_.end()) roots_.push_back(std::move(root));
  }

  // The variable's value with `below` behind it; empty when it is not set.
  std::string in(const std::string& variable, std::string_view below = {}) const {
    const auto found = environment_.find(variable);
    if (found == environment_.end() || found->second.empty()) return {};
    std::string value = found->second;
    if (value == "~" || value.starts_with("~/")) value.replace(0, 1, home());
    return value + std::string{below};
  }

  std::vector<StoreRoot> take() { return std::move(roots_); }

 private:
  std::string home() const {
    const auto found = environment_.find("HOME");
    return found == environment_.end() ? std::string{} : found->second;
  }

  const std::map<std::string, std::string>& environment_;
  std::vector<StoreRoot> roots_;
};

// The first of the places that Hugging Face's own library would use.
void add_hugging_face(Roots& roots) {
  for (std::string place :
       {roots.in("HF_HUB_CACHE"), roots.in("HUGGINGFACE_HUB_CACHE"), roots.in("HF_HOME", "/hub"),
        roots.in("XDG_CACHE_HOME", "/huggingface/hub"),
        roots.in("HOME", "/.cache/huggingface/hub")}) {
    if (!place.empty()) return roots.add(Store::kHuggingFace, std::move(place));
  }
}

void add_ollama(Roots& roots) {
  if (std::string place = roots.in("OLLAMA_MODELS"); !place.empty()) {
    return roots.add(Store::kOllama, std::move(place));
  }
  std::string home = roots.in("HOME", "/.ollama/models");
  if (home.empty()) return;
  roots.add(Store::kOllama, std::move(home));
  roots.add(Store::kOllama, std::string{kOllamaService});
}

void add_lm_studio(Roots& roots) {
  roots.add(Store::kLmStudio, roots.in("HOME", "/.lmstudio/models"));
  roots.add(Store::kLmStudio, roots.in("HOME", "/.cache/lm-studio/models"));
}

}  // namespace

std::vector<StoreRoot> store_roots(const std::vector<std::string>& stores,
                                   const std::vector<std::string>& folders,
                                   const std::map<std::string, std::string>& environment) {
  Roots roots{environment};
  for (const std::string& name : stores) {
    const std::optional<Store> store = store_named(name);
    if (store == Store::kHuggingFace) add_hugging_face(roots);
    if (store == Store::kOllama) add_ollama(roots);
    if (store == Store::kLmStudio) add_lm_studio(roots);
  }
  for (const std::string& folder : folders) roots.add(Store::kFolder, folder);
  return roots.take();
}

}  // namespace hearth
