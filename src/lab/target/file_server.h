// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/result.h"

namespace hearth::lab {

// Hands one file out on 127.0.0.1, as a web server would, so that a model can be fetched again
// without any network: GET and HEAD, ranges, a limit on the bytes per second of all connections
// together. A thread for the listener and one for each connection; all of them are gone when this
// object is.
class FileServer {
 public:
  struct Config {
    std::string file;
    std::optional<Bytes> per_second;  // unset: as fast as it goes
  };
  // Errors: kNotFound (no such file), kUnavailable (no socket).
  static Result<std::unique_ptr<FileServer>> serve(const Config& config);

  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  std::string origin() const;  // "http://127.0.0.1:40123"
  std::string url() const;     // of the file; it ends in ".gguf"

 private:
  FileServer(Config config, Bytes size, Fd listener, std::uint16_t port);

  void accept(const std::stop_token& stop);
  void answer(const std::stop_token& stop, const Fd& socket);
  bool send_file(const std::stop_token& stop, const Fd& socket, std::uint64_t from, Bytes length);
  std::chrono::steady_clock::time_point turn_of(std::size_t bytes);

  const Config config_;
  const Bytes size_;
  const Fd listener_;
  const std::uint16_t port_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point free_at_;  // under mutex_: when the line has room again
  std::list<std::jthread> connections_;            // of the listener's thread
  std::jthread thread_;
};

}  // namespace hearth::lab
