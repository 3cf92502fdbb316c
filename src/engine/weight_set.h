// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/metadata.h"
#include "engine/placement.h"
#include "engine/weight_gate.h"

struct ggml_backend_buffer;
struct ggml_tensor;

namespace hearth::engine {

// Where the engine computes with a weight.
enum class Home {
  kMapped,    // where it lies in the model's mapped file
  kStored,    // where it lies, repacked, in a mapped file of its own
  kRepacked,  // memory of ours that set() fills from the file's bytes
  kCopied,    // memory of this process that takes the file's bytes as they are
  kDevice,    // a GPU's memory; a DeviceUpload brings it there
};

struct Weight {
  std::string name;
  Home home = Home::kMapped;
  bool from_stored = false;  // its bytes come from the stored repack, not from the model's file
  int shard = 0;             // of the model's files
  std::uint64_t offset = 0;  // of its bytes in that file, or in the stored one
  Bytes size;                // of these bytes
  // Only rows of it are looked up, and each faults its own page in: nobody waits for it.
  bool lazy = false;
  ggml_tensor* tensor = nullptr;
};

// A model's weights between file and engine: where each one is to be, what is still missing, and
// the mappings and memory that hold them. The readers bring the bytes; this knows what becomes of
// them. Outlives the engine's model.
//
// Thread-safe once the model is made: different weights may be filled by different threads.
class WeightSet {
 public:
  enum class Keep {
    kMapped,  // the page cache holds the weights
    kCopied,  // this process does
  };
  struct Stored {
    std::uint64_t offset = 0;
    Bytes size;
  };
  struct Sources {
    std::vector<int> files;  // descriptors of the model's files, in order; not owned
    int stored_file = -1;    // of the stored repack; not owned
    std::unordered_map<std::string, Stored> stored;  // by the tensor's name
    Keep keep = Keep::kMapped;
  };

  // Maps the files; reads nothing. Metadata and placement outlive the set. Errors: kCorrupt, when a
  // file is too short for its tensors; kNoSpace.
  static Result<std::unique_ptr<WeightSet>> open(const Metadata& metadata,
                                                 const Placement& placement, Sources sources);
  ~WeightSet();
  WeightSet(const WeightSet&) = delete;
  WeightSet& operator=(const WeightSet&) = delete;

  // For the engine's call-back: gives `tensor` its place. False: the file has something else under
  // that name, or memory is short.
  bool take(ggml_tensor* tensor);
  // After the last take().
  void seal();

  // In the order of first touch.
  std::span<const Weight> weights() const { return weights_; }
  WeightGate& gate() { return gate_; }

  // The file's bytes of a weight, mapped. Reading them may wait for the device.
  std::span<const std::byte> source(const Weight& weight) const;
  // Turns the file's bytes of a kRepacked weight into what the engine wants.
  void set(const Weight& weight, std::span<const std::byte> bytes) const;
  // Where the bytes of a kCopied weight go.
  std::span<std::byte> destination(const Weight& weight) const;
  // The stored bytes of this weight are no good: gives it memory of its own, to be set() from the
  // model's file. Before its gate is open. False: memory is short.
  bool rebuild(std::size_t index);
  // The repacked weights now lie in this file, byte for byte as they are: has the engine compute
  // there, and gives their memory back. Between two evaluations, after the readers have ended.
  // Errors: kNoSpace.
  Result<> adopt(int stored_file, const std::unordered_map<std::string, Stored>& stored);

  // The repacked form of a kRepacked weight that has been set, or of a kStored one.
  std::span<const std::byte> repacked(const Weight& weight) const;
  // A reader has failed: whoever touches these pages of a mapping all the same finds zeros rather
  // than the end of the process.
  void blank(const Weight& weight) const;

  Bytes bytes_in(Home home) const;
  Bytes repacked_bytes() const;  // in whichever home
  bool is_repacked(const Weight& weight) const { return placement_.repacked.contains(weight.name); }

 private:
  class Mapping;
  WeightSet(const Metadata& metadata, const Placement& placement, Sources sources);
  Result<> map_files();
  bool place(Weight& weight, ggml_tensor* tensor);
  bool place_repacked(Weight& weight, ggml_tensor* tensor, ggml_backend_buffer* buffer);
  ggml_backend_buffer* buffer_of(ggml_backend_buffer_type* type);
  bool is_tied() const;
  bool is_on_device(const std::string& name) const;

  struct Buffer {
    ggml_backend_buffer_type* type = nullptr;
    ggml_backend_buffer* buffer = nullptr;
    std::size_t used = 0;
  };

  const Metadata& metadata_;
  const Placement& placement_;
  Sources sources_;
  std::vector<std::unique_ptr<Mapping>> mappings_;  // of the model's files
  std::unique_ptr<Mapping> stored_;
  std::vector<std::unique_ptr<Mapping>> retired_;  // stored files that weights still lie in
  std::mutex mutex_;                               // of buffers_, once readers are at work
  std::vector<Buffer> buffers_;
  std::vector<Weight> weights_;
  WeightGate gate_;
};

}  // namespace hearth::engine
