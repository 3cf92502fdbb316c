// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/source/huggingface.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/size_text.h"
#include "layers/artifact/source/gguf_choice.h"
#include "layers/artifact/source/huggingface_text.h"
#include "layers/artifact/source/plan_text.h"
#include "layers/artifact/source/source_answer.h"
#include "layers/artifact/source/source_text.h"

namespace hearth::huggingface {
namespace {

namespace json = boost::json;
using namespace hearth::literals;

// Repositories of tens of thousands of files have such an index.
constexpr Bytes kMaxIndex = 32_MiB;
constexpr std::size_t kMaxPath = 1024;
constexpr std::string_view kHost = "hf.co/";

// What a repository holds, as its index says.
struct Index {
  std::string commit;
  std::vector<RepositoryFile> gguf;
  std::vector<RepositoryFile> texts;  // what people add for programs such as this
  std::set<std::string> suffixes;     // of all files, in lower case
  bool raw_parts = false;             // "x.gguf.part1of2": cut with no regard to the format
  bool old_ggml = false;
};

bool is_commit(std::string_view text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() >= 7 && text.size() <= 64 && std::ranges::all_of(text, digit);
}

bool is_repository_path(std::string_view path) {
  if (path.empty() || path.size() > kMaxPath || !is_utf8(path)) return false;
  const auto control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\';
  };
  if (std::ranges::any_of(path, control)) return false;
  return std::ranges::none_of(split(path, '/'), [](std::string_view step) {
    return step.empty() || step == "." || step == "..";
  });
}

// A file without a SHA-256 is one that is not in large file storage. Errors: what is wrong.
Result<RepositoryFile> file_of(const ModelSource& source, const json::object& sibling,
                               std::string path) {
  RepositoryFile file{std::move(path), "", Bytes{}};
  const json::value* lfs = sibling.if_contains("lfs");
  const json::object* stored = lfs != nullptr ? lfs->if_object() : nullptr;
  if (stored != nullptr) {
    file.sha256 = lower_case(text_member(*stored, "sha256"));
    if (!is_sha256(file.sha256)) return senseless(source, "a file's SHA-256 is none");
  }
  const std::optional<Bytes> size = size_member(stored != nullptr ? *stored : sibling, "size");
  if (!size) return senseless(source, "a file has no size, or one that cannot be");
  file.size = *size;
  return file;
}

void note_format(const std::string& name, Index& index) {
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos) index.suffixes.insert(name.substr(dot));
  index.raw_parts = index.raw_parts || name.find(".gguf.part") != std::string::npos ||
                    name.find(".gguf-split") != std::string::npos;
  index.old_ggml = index.old_ggml || name.find("ggml") != std::string::npos;
}

Result<> read_sibling(const ModelSource& source, const json::value& value, Index& index) {
  const json::object* sibling = value.if_object();
  if (sibling == nullptr) return senseless(source, "an entry of its list of files is none");
  std::string path = text_member(*sibling, "rfilename");
  if (!is_repository_path(path)) return senseless(source, "a file's name cannot be one");
  const std::string name = lower_case(path);
  note_format(name, index);
  const bool text = name == "template" || name == "system" || name == "params";
  if (!name.ends_with(".gguf") && !text) return {};
  Result<RepositoryFile> file = file_of(source, *sibling, std::move(path));
  if (!file) return Failed{std::move(file).error()};
  if (!text) index.gguf.push_back(std::move(*file));
  if (text && file->size <= kMaxPlanText) index.texts.push_back(std::move(*file));
  return {};
}

Result<> check_unique(const ModelSource& source, const Index& index) {
  std::set<std::string_view> seen;
  for (const RepositoryFile& file : index.gguf) {
    if (!seen.insert(file.path).second) return senseless(source, "it lists a file twice");
  }
  return {};
}

Result<Index> read_index(const ModelSource& source, std::string_view body) {
  const Result<json::value> value = parse_json(body);
  const json::object* object = value ? value->if_object() : nullptr;
  if (object == nullptr) return senseless(source, "it is no JSON object");
  Index index;
  index.commit = lower_case(text_member(*object, "sha"));
  if (!is_commit(index.commit)) return senseless(source, "it names no commit");
  const json::value* siblings = object->if_contains("siblings");
  if (siblings == nullptr || !siblings->is_array()) {
    return senseless(source, "it has no list of files");
  }
  for (const json::value& sibling : siblings->get_array()) {
    if (Result<> read = read_sibling(source, sibling, index); !read) {
      return Failed{std::move(read).error()};
    }
  }
  if (Result<> unique = check_unique(source, index); !unique) return Failed{unique.error()};
  return index;
}

// ---- what went wrong ----

constexpr std::string_view kMakeToken =
    "make a token with read access in your account's settings there, and start the server with it "
    "as HF_TOKEN";

Failed refused(const ModelSource& source, const IndexAnswer& answer) {
  const std::string what = source.repository + " on " + server_of(source);
  if (lower_case(answer.header("x-error-code")) == "gatedrepo") {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is gated: accept its terms on its page, then {}", what,
                            answer.with_token ? "try again; the account of HF_TOKEN has to be the "
                                                "one that accepted them"
                                              : kMakeToken));
  }
  if (answer.with_token) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not open to the account of HF_TOKEN, or the token is not valid "
                            "any more, or there is no such repository ({})",
                            what, answer.status));
  }
  return fail(ErrorCode::kInvalid, fmt::format("{} does not exist or is private ({}): check its "
                                               "name; if it is private, {}",
                                               what, answer.status, kMakeToken));
}

Failed missing(const ModelSource& source, const IndexAnswer& answer) {
  const std::string server = server_of(source);
  if (lower_case(answer.header("x-error-code")) == "revisionnotfound") {
    return fail(ErrorCode::kNotFound, fmt::format("{} on {} has no revision \"{}\"",
                                                  source.repository, server, source.version));
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("{} has no repository {}{}", server, source.repository,
                          source.version == "main" ? "" : ", or not this revision of it"));
}

Failed no_gguf(const ModelSource& source, const Index& index, const GgufFiles& files) {
  const auto has = [&](std::string_view suffix) {
    return index.suffixes.contains(std::string{suffix});
  };
  std::string why = "no model in GGUF, the only format that can be run here";
  std::string remedy =
      "look for a repository of the same model with \"GGUF\" in its name (its page lists them "
      "under Quantizations), or convert it with llama.cpp's convert_hf_to_gguf.py and take the "
      "result with `hearth import`";
  if (index.raw_parts) {
    why = "GGUF only in raw parts, which have to be joined first";
    remedy =
        "download the parts, join them in order with `cat`, and take the result with "
        "`hearth import`";
  } else if (files.adapters > 0) {
    why = "only adapters in GGUF, which need the model they were made for";
    remedy =
        "pull that model, and make one of both with a Modelfile (FROM and ADAPTER) and "
        "`hearth create`";
  } else if (files.projectors > 0) {
    why = "only a projector for images in GGUF, which is no model";
  } else if (has(".safetensors")) {
    why = "safetensors but no GGUF, the only format that can be run here";
  } else if (index.old_ggml) {
    why = "the old GGML format, which nothing reads any more, but no GGUF";
  } else if (has(".bin") || has(".pth") || has(".pt")) {
    why = "PyTorch files but no GGUF, the only format that can be run here";
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("{} holds {}: {}", source.repository, why, remedy));
}

// ---- the plan ----

PlannedFile planned(const ModelSource& source, const Index& index, const RepositoryFile& file) {
  return {file.path.substr(file.path.rfind('/') + 1),
          fmt::format("{}/{}/resolve/{}/{}", source.endpoint, source.repository, index.commit,
                      escaped_path(file.path)),
          file.sha256, file.size};
}

std::string choice_of(const GgufSet& chosen, const std::vector<GgufSet>& sets) {
  const std::string what = fmt::format("{} ({})", label_of(chosen, sets), size_text(chosen.size()));
  return sets.size() == 1 ? what : what + " of " + list_of(sets);
}

void note_what_is_left_out(const GgufFiles& files, FetchPlan& plan) {
  if (files.projectors > 0) {
    plan.notes.emplace_back("images are not supported yet, so the projector for them is left out");
  }
  if (files.adapters > 0) {
    plan.notes.emplace_back("adapters in the repository are left out; name one in a Modelfile");
  }
}

// So that the same can be asked for again, also when the repository gets more files. A file whose
// name nobody could type stays ours to choose.
std::string source_of(const ModelSource& source, const std::string& chosen) {
  if (!source.wanted.empty()) return source.text;
  const std::string_view repository = std::string_view{source.text}.substr(kHost.size());
  const Result<HuggingFaceText> said =
      HuggingFaceText::parse(std::string{repository} + ":" + chosen);
  return said ? std::string{kHost} + said->canonical() : source.text;
}

}  // namespace

IndexRequest index_request(const ModelSource& source) {
  IndexRequest request;
  request.url = fmt::format("{}/api/models/{}/revision/{}?blobs=true", source.endpoint,
                            source.repository, escaped(source.version));
  request.headers.push_back({"Accept", "application/json"});
  request.limit = kMaxIndex;
  return request;
}

Result<FetchPlan> plan_of(const ModelSource& source, const IndexAnswer& answer) {
  if (answer.status == 401 || answer.status == 403) return refused(source, answer);
  if (answer.status == 404) return missing(source, answer);
  if (answer.status != 200) return unexpected_status(source, answer.status);
  Result<Index> index = read_index(source, answer.body);
  if (!index) return Failed{std::move(index).error()};
  const GgufFiles files = sort_gguf_files(std::move(index->gguf));
  if (files.sets.empty()) return no_gguf(source, *index, files);
  const Result<GgufSet> chosen = choose_gguf(files.sets, source.wanted);
  if (!chosen) return Failed{Error{chosen.error()}.during(source.repository)};

  FetchPlan plan;
  plan.source = source_of(source, label_of(*chosen, files.sets));
  plan.name = source.name;
  plan.revision = index->commit;
  plan.choice = choice_of(*chosen, files.sets);
  for (const RepositoryFile& file : chosen->files) {
    plan.files.push_back(planned(source, *index, file));
  }
  for (const RepositoryFile& file : index->texts) {
    plan.texts.push_back(planned(source, *index, file));
  }
  note_what_is_left_out(files, plan);
  return plan;
}

}  // namespace hearth::huggingface
