// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

struct gguf_context;
struct ggml_context;
struct ggml_tensor;

namespace hearth::engine {

// Where a tensor's bytes lie in the model's files.
struct TensorSource {
  std::string name;
  int shard = 0;
  std::uint64_t offset = 0;  // in that file
  Bytes size;
};

// What a model's files say of it, all but its vocabulary: that is by far the largest part, and the
// Vocabulary has it. Does not change once it is read, but for add_output(). Thread-safe apart from
// that.
class Metadata {
 public:
  // Errors: kCorrupt. The engine's own words are in its log.
  static Result<Metadata> read(const std::vector<std::string>& paths);

  gguf_context* handle() const { return stripped_.get(); }
  const std::vector<TensorSource>& tensors() const { return tensors_; }
  const TensorSource* find(const std::string& name) const;
  // Shape and type only.
  const ggml_tensor* shape(const std::string& name) const;

  // Makes the token embedding, which this model also uses for its output, a second tensor of its
  // own with the same bytes: so the two can be placed apart.
  void add_output();

 private:
  struct Free {
    void operator()(gguf_context* context) const;
    void operator()(ggml_context* context) const;
  };
  using Gguf = std::unique_ptr<gguf_context, Free>;
  Metadata() = default;
  Result<> add_shard(const std::string& path, int shard);
  void add_source(TensorSource source);

  Gguf stripped_;
  std::vector<std::unique_ptr<ggml_context, Free>> shapes_;  // one for each shard
  std::vector<TensorSource> tensors_;
  std::unordered_map<std::string, std::size_t> by_name_;
  bool output_is_embedding_ = false;  // add_output() was called
};

}  // namespace hearth::engine
