// SPDX-License-Identifier: Apache-2.0
#include "api/ollama/pull_format.h"

#include <algorithm>
#include <array>

#include "api/errors.h"
#include "api/ollama/reply_format.h"
#include "timeline/json_writer.h"

namespace hearth::api::ollama {
namespace {

enum class Step { kManifest, kVerifying, kWriting, kSuccess };

constexpr std::array<std::string_view, 4> kSteps{"pulling manifest", "verifying sha256 digest",
                                                 "writing manifest", "success"};

constexpr std::string_view kDigest = "sha256:";

// As much of a digest as clients show.
constexpr std::size_t kShown = 12;

std::string layer_json(const front::TransferProgress& progress) {
  const bool named = progress.digest.starts_with(kDigest);
  const std::string what = named ? progress.digest.substr(kDigest.size(), kShown) : progress.file;
  JsonWriter out;
  out.string("status", "pulling " + what);
  if (named) out.string("digest", progress.digest);
  out.integer("total", progress.total);
  if (progress.done > 0) out.integer("completed", progress.done);
  return out.object();
}

class PullFormat : public TransferFormat {
 public:
  explicit PullFormat(const Call& call) : call_{call} {}

  std::string_view content_type() const override { return kNdjson; }
  std::string_view source_field() const override { return "model"; }
  void append_progress(std::string& out, const front::TransferProgress& progress) override {
    advance(out, Step::kManifest);
    if (progress.stage == "download" && !progress.file.empty()) {
      if (progress.file != layer_.file) complete_layer(out);
      layer_ = progress;
      out.append(layer_json(layer_)).append("\n");
    } else if (progress.stage == "verify" || progress.stage == "install") {
      complete_layer(out);
      advance(out, progress.stage == "verify" ? Step::kVerifying : Step::kWriting);
    }
  }
  void append_verified(std::string&, const front::Verified&) override {}
  void append_done(std::string& out, const front::TransferDone&) override {
    complete_layer(out);
    advance(out, Step::kSuccess);
  }
  void append_error(std::string& out, const Error& error) override {
    const front::Refused refused{error, {}, {}, {}};
    out.append(error_body(call_.dialect, audience_of(call_), refused)).append("\n");
  }
  std::string whole(const front::TransferDone&) override { return status_json("success"); }
  std::string whole(const front::TransferProgress&) override { return status_json(kSteps[0]); }

 private:
  // Clients draw a bar for each layer and wait for its end, which the last progress need not be.
  void complete_layer(std::string& out) {
    if (layer_.done < layer_.total) {
      layer_.done = layer_.total;
      out.append(layer_json(layer_)).append("\n");
    }
  }

  // Up to and with `step`.
  void advance(std::string& out, Step step) {
    for (; next_ <= static_cast<std::size_t>(step); ++next_) {
      out.append(status_json(kSteps[next_])).append("\n");
    }
  }

  Call call_;
  std::size_t next_ = 0;
  front::TransferProgress layer_;  // as it was told last
};

}  // namespace

std::string status_json(std::string_view status) {
  return JsonWriter{}.string("status", status).object();
}

std::unique_ptr<TransferFormat> pull_format(const Call& call) {
  return std::make_unique<PullFormat>(call);
}

}  // namespace hearth::api::ollama
