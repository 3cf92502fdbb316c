// SPDX-License-Identifier: Apache-2.0
#include "engine/device_upload.h"

#include <ggml-backend.h>
#include <ggml.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

namespace hearth::engine {
namespace {

// Large enough for a copy's fixed cost not to show, small enough for a layer to be there soon.
constexpr std::size_t kPiece = std::size_t{4} << 20;
constexpr std::size_t kPieces = 2;  // one is filled while the other is on its way

struct Release {
  void operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
  void operator()(ggml_backend_event* event) const { ggml_backend_event_free(event); }
};
template <class T>
using Owned = std::unique_ptr<T, Release>;

bool copies_beside_computing(ggml_backend_dev_t device) {
  ggml_backend_dev_props properties;
  ggml_backend_dev_get_props(device, &properties);
  return properties.caps.async && properties.caps.host_buffer && properties.caps.events;
}

}  // namespace

// The way to one device: a queue of its own, and the ring.
class DeviceUpload::Lane {
 public:
  // Null: the device has no such way.
  static std::unique_ptr<Lane> open(ggml_backend_dev_t device) {
    ggml_backend_buffer_type_t pinned = ggml_backend_dev_host_buffer_type(device);
    if (pinned == nullptr || !copies_beside_computing(device)) return nullptr;
    std::unique_ptr<Lane> lane{new Lane};
    lane->queue_.reset(ggml_backend_dev_init(device, nullptr));
    if (!lane->queue_) return nullptr;
    for (Piece& piece : lane->ring_) {
      piece.memory.reset(ggml_backend_buft_alloc_buffer(pinned, kPiece));
      piece.left.reset(ggml_backend_event_new(device));
      if (!piece.memory || !piece.left) return nullptr;
    }
    return lane;
  }
  ~Lane() {
    if (queue_) ggml_backend_synchronize(queue_.get());
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Memory that nothing is on its way from any more.
  std::span<std::byte> next_piece(const Arrived& arrived) {
    Piece& piece = ring_[sent_ % kPieces];
    if (sent_ >= kPieces) {
      ggml_backend_event_synchronize(piece.left.get());
      settle(sent_ - kPieces + 1, arrived);
    }
    return {static_cast<std::byte*>(ggml_backend_buffer_get_base(piece.memory.get())), kPiece};
  }

  // Of what next_piece() returned.
  void send(ggml_tensor* tensor, std::span<const std::byte> bytes, std::uint64_t offset) {
    ggml_backend_tensor_set_async(queue_.get(), tensor, bytes.data(), offset, bytes.size());
    ggml_backend_event_record(ring_[sent_ % kPieces].left.get(), queue_.get());
    ++sent_;
  }

  // All of `tag` has been sent.
  void close(std::size_t tag) { open_.push_back({tag, sent_}); }

  void flush(const Arrived& arrived) {
    ggml_backend_synchronize(queue_.get());
    settle(sent_, arrived);
  }

 private:
  struct Piece {
    Owned<ggml_backend_buffer> memory;
    Owned<ggml_backend_event> left;
  };
  struct Open {
    std::size_t tag;
    std::uint64_t pieces;  // that were sent up to its end
  };
  Lane() = default;

  // The first `pieces` that were sent are there.
  void settle(std::uint64_t pieces, const Arrived& arrived) {
    while (!open_.empty() && open_.front().pieces <= pieces) {
      arrived(open_.front().tag);
      open_.pop_front();
    }
  }

  Owned<ggml_backend> queue_;
  std::array<Piece, kPieces> ring_;  // before the queue goes, its pieces do
  std::uint64_t sent_ = 0;
  std::deque<Open> open_;
};

DeviceUpload::DeviceUpload(Arrived arrived) : arrived_{std::move(arrived)} {}
DeviceUpload::~DeviceUpload() = default;

DeviceUpload::Lane* DeviceUpload::lane_to(const ggml_tensor* tensor) {
  ggml_backend_buffer_type_t memory = ggml_backend_buffer_get_type(tensor->buffer);
  ggml_backend_dev_t device = ggml_backend_buft_get_device(memory);
  if (device == nullptr || memory != ggml_backend_dev_buffer_type(device)) return nullptr;
  const auto known = std::ranges::find(lanes_, device, &Known::device);
  if (known != lanes_.end()) return known->lane.get();
  return lanes_.emplace_back(device, Lane::open(device)).lane.get();
}

Result<> DeviceUpload::upload(std::size_t tag, ggml_tensor* tensor, const Fill& fill) {
  Lane* lane = lane_to(tensor);
  if (lane == nullptr) return copy(tag, tensor, fill);
  const std::size_t size = ggml_nbytes(tensor);
  for (std::size_t offset = 0; offset < size;) {
    const auto piece = lane->next_piece(arrived_);
    const auto bytes = piece.first(std::min(piece.size(), size - offset));
    if (auto filled = fill(offset, bytes); !filled) return filled;
    lane->send(tensor, bytes, offset);
    offset += bytes.size();
  }
  lane->close(tag);
  return {};
}

Result<> DeviceUpload::copy(std::size_t tag, ggml_tensor* tensor, const Fill& fill) {
  piece_.resize(kPiece);
  const std::size_t size = ggml_nbytes(tensor);
  for (std::size_t offset = 0; offset < size;) {
    const auto bytes = std::span{piece_}.first(std::min(piece_.size(), size - offset));
    if (auto filled = fill(offset, bytes); !filled) return filled;
    ggml_backend_tensor_set(tensor, bytes.data(), offset, bytes.size());
    offset += bytes.size();
  }
  arrived_(tag);
  return {};
}

void DeviceUpload::flush() {
  for (const Known& known : lanes_) {
    if (known.lane) known.lane->flush(arrived_);
  }
}

}  // namespace hearth::engine
