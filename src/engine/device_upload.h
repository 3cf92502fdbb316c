// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

struct ggml_backend_device;
struct ggml_tensor;

namespace hearth::engine {

// Brings weights into the memory of GPUs while these compute: piece by piece through a ring of
// pinned memory, so that one piece is read from the disk while the one before it is still on its
// way. A device that has no such memory, or no copies beside its computations, is given each piece
// by a copy that is waited for.
//
// Belongs to one thread; others may have their own for the same devices.
class DeviceUpload {
 public:
  // All bytes of what upload() was told under this tag are on the device. Called by upload() and
  // flush(), in the order of the uploads to one device.
  using Arrived = std::function<void(std::size_t tag)>;
  // Fills `into` with the tensor's bytes from `offset` on.
  using Fill = std::function<Result<>(std::uint64_t offset, std::span<std::byte> into)>;

  explicit DeviceUpload(Arrived arrived);
  // Waits for what is under way.
  ~DeviceUpload();
  DeviceUpload(const DeviceUpload&) = delete;
  DeviceUpload& operator=(const DeviceUpload&) = delete;

  // `tensor` lies in a device's memory. Returns before its last bytes have arrived. Errors: those
  // of `fill`; the tag then never arrives.
  Result<> upload(std::size_t tag, ggml_tensor* tensor, const Fill& fill);

  // Returns when everything has arrived.
  void flush();

 private:
  class Lane;
  Lane* lane_to(const ggml_tensor* tensor);
  Result<> copy(std::size_t tag, ggml_tensor* tensor, const Fill& fill);

  struct Known {
    ggml_backend_device* device = nullptr;
    std::unique_ptr<Lane> lane;  // null: it has none
  };

  Arrived arrived_;
  std::vector<Known> lanes_;
  std::vector<std::byte> piece_;  // of copies that are waited for
};

}  // namespace hearth::engine
