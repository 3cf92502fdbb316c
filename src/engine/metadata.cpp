// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata.h"

#include <ggml.h>
#include <gguf.h>

#include <string_view>
#include <utility>

namespace hearth::engine {
namespace {

constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kEmbedding = "token_embd.weight";
constexpr const char* kOutput = "output.weight";

void copy_array(gguf_context* to, const gguf_context* from, std::int64_t key, const char* name) {
  const gguf_type type = gguf_get_arr_type(from, key);
  const std::size_t count = gguf_get_arr_n(from, key);
  if (type != GGUF_TYPE_STRING) {
    return gguf_set_arr_data(to, name, type, gguf_get_arr_data(from, key), count);
  }
  std::vector<const char*> texts(count);
  for (std::size_t i = 0; i < count; ++i) texts[i] = gguf_get_arr_str(from, key, i);
  gguf_set_arr_str(to, name, texts.data(), count);
}

void copy_value(gguf_context* to, const gguf_context* from, std::int64_t key) {
  const char* name = gguf_get_key(from, key);
  switch (gguf_get_kv_type(from, key)) {
    case GGUF_TYPE_UINT8:
      return gguf_set_val_u8(to, name, gguf_get_val_u8(from, key));
    case GGUF_TYPE_INT8:
      return gguf_set_val_i8(to, name, gguf_get_val_i8(from, key));
    case GGUF_TYPE_UINT16:
      return gguf_set_val_u16(to, name, gguf_get_val_u16(from, key));
    case GGUF_TYPE_INT16:
      return gguf_set_val_i16(to, name, gguf_get_val_i16(from, key));
    case GGUF_TYPE_UINT32:
      return gguf_set_val_u32(to, name, gguf_get_val_u32(from, key));
    case GGUF_TYPE_INT32:
      return gguf_set_val_i32(to, name, gguf_get_val_i32(from, key));
    case GGUF_TYPE_UINT64:
      return gguf_set_val_u64(to, name, gguf_get_val_u64(from, key));
    case GGUF_TYPE_INT64:
      return gguf_set_val_i64(to, name, gguf_get_val_i64(from, key));
    case GGUF_TYPE_FLOAT32:
      return gguf_set_val_f32(to, name, gguf_get_val_f32(from, key));
    case GGUF_TYPE_FLOAT64:
      return gguf_set_val_f64(to, name, gguf_get_val_f64(from, key));
    case GGUF_TYPE_BOOL:
      return gguf_set_val_bool(to, name, gguf_get_val_bool(from, key));
    case GGUF_TYPE_STRING:
      return gguf_set_val_str(to, name, gguf_get_val_str(from, key));
    case GGUF_TYPE_ARRAY:
      return copy_array(to, from, key, name);
    default:
      return;
  }
}

// The tensors of all shards become one list, so what is said of shards would only mislead.
bool is_left_out(std::string_view key) {
  return key.starts_with("tokenizer.") || key.starts_with("split.");
}

// Without a vocabulary the engine takes the number of tokens from here.
void say_vocabulary_size(gguf_context* to, const gguf_context* from) {
  const std::int64_t tokens = gguf_find_key(from, kTokens);
  const std::int64_t architecture = gguf_find_key(from, "general.architecture");
  if (tokens < 0 || architecture < 0 || gguf_get_kv_type(from, architecture) != GGUF_TYPE_STRING ||
      gguf_get_kv_type(from, tokens) != GGUF_TYPE_ARRAY) {
    return;
  }
  const std::string key = std::string{gguf_get_val_str(from, architecture)} + ".vocab_size";
  gguf_set_val_u32(to, key.c_str(), static_cast<std::uint32_t>(gguf_get_arr_n(from, tokens)));
  gguf_set_val_str(to, "tokenizer.ggml.model", "none");
}

}  // namespace

void Metadata::Free::operator()(gguf_context* context) const { gguf_free(context); }
void Metadata::Free::operator()(ggml_context* context) const { ggml_free(context); }

Result<Metadata> Metadata::read(const std::vector<std::string>& paths) {
  Metadata metadata;
  metadata.stripped_.reset(gguf_init_empty());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (auto added = metadata.add_shard(paths[i], static_cast<int>(i)); !added) {
      return Failed{std::move(added).error()};
    }
  }
  return metadata;
}

Result<> Metadata::add_shard(const std::string& path, int shard) {
  ggml_context* shapes = nullptr;
  const gguf_init_params params{true, &shapes};
  const Gguf whole{gguf_init_from_file(path.c_str(), params)};
  if (!whole) return fail(ErrorCode::kCorrupt, "the header of a file cannot be read");
  shapes_.emplace_back(shapes);
  if (shard == 0) {
    for (std::int64_t key = 0; key < gguf_get_n_kv(whole.get()); ++key) {
      if (!is_left_out(gguf_get_key(whole.get(), key))) {
        copy_value(stripped_.get(), whole.get(), key);
      }
    }
    say_vocabulary_size(stripped_.get(), whole.get());
  }
  const std::uint64_t data = gguf_get_data_offset(whole.get());
  for (std::int64_t i = 0; i < gguf_get_n_tensors(whole.get()); ++i) {
    const char* name = gguf_get_tensor_name(whole.get(), i);
    if (by_name_.contains(name)) return fail(ErrorCode::kCorrupt, "a tensor is there twice");
    gguf_add_tensor(stripped_.get(), ggml_get_tensor(shapes, name));
    add_source({name, shard, data + gguf_get_tensor_offset(whole.get(), i),
                Bytes{gguf_get_tensor_size(whole.get(), i)}});
  }
  return {};
}

void Metadata::add_source(TensorSource source) {
  by_name_[source.name] = tensors_.size();
  tensors_.push_back(std::move(source));
}

const TensorSource* Metadata::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

const ggml_tensor* Metadata::shape(const std::string& name) const {
  const char* known = name == kOutput && output_is_embedding_ ? kEmbedding : name.c_str();
  for (const auto& shapes : shapes_) {
    if (const ggml_tensor* found = ggml_get_tensor(shapes.get(), known)) return found;
  }
  return nullptr;
}

void Metadata::add_output() {
  const TensorSource* embedding = find(kEmbedding);
  if (embedding == nullptr || find(kOutput) != nullptr) return;
  ggml_tensor output = *shape(kEmbedding);
  ggml_set_name(&output, kOutput);
  gguf_add_tensor(stripped_.get(), &output);
  output_is_embedding_ = true;
  TensorSource source = *embedding;
  source.name = kOutput;
  add_source(std::move(source));
}

}  // namespace hearth::engine
