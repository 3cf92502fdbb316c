// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <cstdint>

// Two models as the server tells of them, for tests of what is shown.
namespace hearth::cli {

inline constexpr std::int64_t kNow = 1'700'007'200'000'000;

inline boost::json::object warm_model() {
  return boost::json::parse(R"({
    "name": "smollm2:latest", "artifact": "a1b2", "status": "ok", "paths": ["/m/smol.gguf"],
    "size": 95700000, "imported_at_us": 1700000000000000, "last_used_us": 0,
    "architecture": "llama", "quantization": "Q4_1", "parameters": 134515008,
    "trained_context": 8192, "embedding_length": 576, "has_chat_template": true,
    "license": null, "keep_alive": "5m0s", "keep_alive_source": "request",
    "expires_at_us": 1700007440000000, "pinned": [], "aliases": ["assistant"],
    "capabilities": ["completion", "tools"],
    "layers": {
      "artifact": {"level": "local", "fraction": 1, "bytes": 95700000, "total": 95700000},
      "pages": {"level": "resident", "fraction": 0.998, "bytes": 95600000, "total": 95700000,
                "detail": "4 ranges"},
      "weights": {"level": "resident", "fraction": 1, "bytes": 95700000, "total": 95700000},
      "compiled": {"level": "none", "fraction": 0, "bytes": 0, "total": 0},
      "prefix": {"level": "none", "fraction": 0, "bytes": 0, "total": 0}},
    "worker": {"pid": 42, "uptime_ms": 65000, "resident_bytes": 147000000,
               "anonymous_bytes": 30000000, "device_bytes": 0, "backend": "CPU haswell",
               "engine": "b6123", "context": 8192},
    "predicted_ttft_ms": 21.4,
    "predicted_ttft": {"low_ms": 18.2, "high_ms": 26.9, "known": true, "start": "warm",
                       "errors": []}, "active": 2, "queued": 1})")
      .get_object();
}

inline boost::json::object cold_model() {
  boost::json::object model = warm_model();
  model.erase("worker");
  model["predicted_ttft_ms"] = 2100.0;
  model["predicted_ttft"] = {{"low_ms", 700.0}, {"high_ms", 6300.0}, {"known", false}};
  model["name"] = "cold:4b";
  model["active"] = model["queued"] = 0;
  model.erase("expires_at_us");
  model["status"] = "broken";
  model["reason"] = "the header is cut off";
  model["last_used_us"] = 1'700'000'000'000'000;
  auto& layers = model["layers"].get_object();
  layers["pages"] = {{"level", "resident"}, {"fraction", 0.002}};
  layers["weights"] = {{"level", "none"}};
  return model;
}

}  // namespace hearth::cli
