// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/pool.h"
#include "front/protected/probe.h"

namespace hearth::front {

// Where an "http://" address leads.
struct ProbeAddress {
  std::string host;  // a name or an address, without brackets
  std::string port;
  std::string target;  // path and query
  std::string name;    // for the Host header
};

// Errors: kInvalid (another scheme, a user name, no host, characters that an address cannot have).
Result<ProbeAddress> parse_probe_address(const std::string& url);

// GETs an address over a connection of its own each time, on a thread of its own; a name is looked
// up before the time counts. Redirects are answers and not followed; of the answer at most 16 KiB
// are read, for at most as long as its patience lasts.
class HttpProbe : public Probe {
 public:
  HttpProbe(EventLoop& loop, ProbeAddress address, Duration patience = std::chrono::seconds{2});

  Task<Result<Answer>> ask() override;
  void cancel() override { cancelled_ = true; }

 private:
  EventLoop& loop_;
  const ProbeAddress address_;
  const Duration patience_;
  std::atomic<bool> cancelled_{false};
  Pool pool_;
};

// See MakeProbe. `loop` outlives the probes.
MakeProbe http_probes(EventLoop& loop);

}  // namespace hearth::front
