// SPDX-License-Identifier: Apache-2.0
#include "api/admin/transfer_format.h"

#include <string>

#include "api/errors.h"
#include "api/model_json.h"
#include "timeline/json_writer.h"

namespace hearth::api::admin {
namespace {

std::string file_json(const front::TransferProgress& progress) {
  JsonWriter out;
  out.string("name", progress.file);
  if (!progress.digest.empty()) out.string("digest", progress.digest);
  return out.integer("done_bytes", progress.done).integer("total_bytes", progress.total).object();
}

std::string progress_json(const front::TransferProgress& progress) {
  JsonWriter out;
  out.string("stage", progress.stage);
  if (progress.all_total > 0) {
    out.number("fraction",
               static_cast<double>(progress.all_done) / static_cast<double>(progress.all_total));
  }
  out.integer("done_bytes", progress.all_done).integer("total_bytes", progress.all_total);
  out.number("bytes_per_s", progress.bytes_per_s);
  if (progress.eta_ms) out.number("eta_ms", *progress.eta_ms);
  if (!progress.note.empty()) out.string("note", progress.note);
  if (!progress.model.empty()) out.string("model", progress.model);
  if (!progress.file.empty()) out.raw("file", file_json(progress));
  return JsonWriter{}.raw("progress", out.object()).object();
}

std::string verdict_json(const front::Verified& verified, Audience audience) {
  JsonWriter out;
  out.string("model", verified.model).string("verdict", verified.verdict);
  if (!verified.sha256.empty()) out.string("sha256", verified.sha256);
  out.integer("bytes", verified.bytes).integer("bad_bytes", verified.bad_bytes);
  if (!verified.text.empty()) {
    out.string("text",
               audience == Audience::kAdmin ? verified.text : without_directories(verified.text));
  }
  return out.object();
}

class HearthTransfer : public TransferFormat {
 public:
  explicit HearthTransfer(const Call& call) : call_{call} {
    const auto accept = call_.request().header("Accept").value_or("");
    events_ = accept.find("text/event-stream") != std::string_view::npos;
  }

  std::string_view content_type() const override {
    return events_ ? "text/event-stream; charset=utf-8" : "application/x-ndjson";
  }
  void append_progress(std::string& out, const front::TransferProgress& progress) override {
    append(out, "progress", progress_json(progress));
  }
  void append_verified(std::string& out, const front::Verified& verified) override {
    const std::string json = verdict_json(verified, audience_of(call_));
    append(out, "verified", JsonWriter{}.raw("verified", json).object());
  }
  void append_done(std::string& out, const front::TransferDone& done) override {
    append(out, "done", whole(done));
  }
  void append_error(std::string& out, const Error& error) override {
    const front::Refused refused{error, {}, {}, {}};
    append(out, "error", error_body(call_.dialect, audience_of(call_), refused));
  }
  std::string whole(const front::TransferProgress& progress) override {
    return progress_json(progress);
  }
  std::string whole(const front::TransferDone& done) override {
    JsonWriter out;
    out.raw("done", done_json(done));
    if (done.model.empty()) return out.object();
    const auto model = call_.service.model(done.model);
    if (model) out.raw("model", model_json(*model, audience_of(call_), Extent::kWhole));
    return out.object();
  }

 private:
  void append(std::string& out, std::string_view name, const std::string& json) const {
    if (events_) {
      out.append("event: ").append(name).append("\ndata: ").append(json).append("\n\n");
    } else {
      out.append(json).append("\n");
    }
  }

  std::string done_json(const front::TransferDone& done) const {
    JsonWriter out;
    if (!done.model.empty()) out.string("name", done.model);
    out.integer("bytes", done.bytes).integer("received_bytes", done.received);
    out.yes_or_no("was_there", done.was_there).number("metadata_ms", done.metadata_ms);
    out.number("download_ms", done.download_ms).number("verify_ms", done.verify_ms);
    if (!done.model.empty()) return out.object();
    std::string list;
    for (const front::Verified& verified : done.verified) {
      list += (list.empty() ? "" : ",") + verdict_json(verified, audience_of(call_));
    }
    return out.raw("verified", "[" + list + "]").object();
  }

  Call call_;
  bool events_ = false;
};

}  // namespace

std::unique_ptr<TransferFormat> transfer_format(const Call& call) {
  return std::make_unique<HearthTransfer>(call);
}

}  // namespace hearth::api::admin
