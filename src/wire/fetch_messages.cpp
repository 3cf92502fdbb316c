// SPDX-License-Identifier: Apache-2.0
#include "wire/fetch_messages.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "wire/json_writer.h"
#include "wire/object_reader.h"

namespace hearth::wire {
namespace json = boost::json;
namespace {

constexpr Range<int> kMilliseconds{0, 3'600'000};

std::string encode(const std::vector<HttpField>& fields) {
  std::string out = "[";
  for (const HttpField& field : fields) {
    if (out.size() > 1) out += ',';
    JsonWriter one;
    one.text("name", field.name).text("value", field.value);
    out += one.finish();
  }
  return out += ']';
}

std::vector<HttpField> read_fields(ObjectReader& in) {
  std::vector<HttpField> fields;
  in.each_object("headers", [&](ObjectReader& one) {
    one.require({"name"});
    std::string name = one.text("name");
    fields.push_back({std::move(name), one.text("value")});
  });
  return fields;
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string read_sha256(ObjectReader& in) {
  std::string digest = in.text("sha256");
  if (!digest.empty() && !is_sha256(digest)) {
    in.wrong(in.path_of("sha256"), "64 lower-case hexadecimal digits");
  }
  return digest;
}

FetchRules read_fetch_rules(ObjectReader& in) {
  FetchRules m;
  m.hosts = in.texts("hosts");
  m.user_agent = in.text("user_agent");
  m.connections = in.integer("connections", {1, 64}).value_or(m.connections);
  m.bytes_per_second = in.bytes("bytes_per_second");
  m.stall_ms = in.integer("stall_ms", {1, kMilliseconds.high}).value_or(m.stall_ms);
  m.retries = in.integer("retries", kCount).value_or(m.retries);
  m.retry_ms = in.integer("retry_ms", kMilliseconds).value_or(m.retry_ms);
  return m;
}

FetchText read_fetch_text(ObjectReader& in) {
  in.require({"url", "limit"});
  FetchText m;
  m.url = in.text("url");
  m.headers = read_fields(in);
  m.limit = in.bytes("limit");
  if (m.limit > kMaxFetchedText) in.wrong(in.path_of("limit"), "at most 32 MiB");
  return m;
}

FetchedText read_fetched_text(ObjectReader& in) {
  in.require({"status"});
  FetchedText m;
  m.status = in.integer("status", {100, 999}).value_or(0);
  m.headers = read_fields(in);
  m.url = in.text("url");
  return m;
}

FetchFile read_fetch_file(ObjectReader& in) {
  in.require({"url"});
  FetchFile m;
  m.url = in.text("url");
  m.headers = read_fields(in);
  m.sha256 = read_sha256(in);
  m.size = in.bytes("size");
  return m;
}

Fetching read_fetching(ObjectReader& in) {
  in.require({"stage"});
  Fetching m;
  m.stage = in.text("stage");
  m.done = in.bytes("done");
  m.total = in.bytes("total");
  m.received = in.bytes("received");
  m.connections = in.integer("connections", kCount).value_or(0);
  m.note = in.text("note");
  return m;
}

Fetched read_fetched(ObjectReader& in) {
  in.require({"sha256", "size"});
  Fetched m;
  m.sha256 = read_sha256(in);
  m.etag = in.text("etag");
  m.size = in.bytes("size");
  m.received = in.bytes("received");
  return m;
}

}  // namespace

std::string encode(const FetchRules& m) {
  JsonWriter out;
  out.texts("hosts", m.hosts)
      .text("user_agent", m.user_agent)
      .number("connections", m.connections)
      .bytes("bytes_per_second", m.bytes_per_second)
      .number("stall_ms", m.stall_ms)
      .number("retries", m.retries)
      .number("retry_ms", m.retry_ms);
  return out.finish();
}

std::string encode(const FetchText& m) {
  JsonWriter out;
  out.text("url", m.url).raw("headers", encode(m.headers)).bytes("limit", m.limit);
  return out.finish();
}

// The body follows the object after a line break, which is nowhere in the object itself: a body
// need not be UTF-8, and what hashes it wants every byte as it was.
std::string encode(const FetchedText& m) {
  JsonWriter out;
  out.number("status", m.status).raw("headers", encode(m.headers)).text("url", m.url);
  std::string payload = out.finish();
  payload += '\n';
  return payload += m.body;
}

std::string encode(const FetchFile& m) {
  JsonWriter out;
  out.text("url", m.url)
      .raw("headers", encode(m.headers))
      .text("sha256", m.sha256)
      .bytes("size", m.size);
  return out.finish();
}

std::string encode(const Fetching& m) {
  JsonWriter out;
  out.text("stage", m.stage)
      .bytes("done", m.done)
      .bytes("total", m.total)
      .bytes("received", m.received)
      .number("connections", m.connections)
      .text("note", m.note);
  return out.finish();
}

std::string encode(const Fetched& m) {
  JsonWriter out;
  out.text("sha256", m.sha256)
      .text("etag", m.etag)
      .bytes("size", m.size)
      .bytes("received", m.received);
  return out.finish();
}

Result<FetchRules> decode_fetch_rules(const std::string& payload) {
  return read_message(payload, read_fetch_rules);
}
Result<FetchText> decode_fetch_text(const std::string& payload) {
  return read_message(payload, read_fetch_text);
}

Result<FetchedText> decode_fetched_text(const std::string& payload) {
  const std::string_view whole = payload;
  const std::size_t end = whole.find('\n');
  Result<FetchedText> m = read_message(whole.substr(0, end), read_fetched_text);
  if (!m) return m;
  if (end == std::string_view::npos) return fail(ErrorCode::kCorrupt, "body: is missing");
  m->body = whole.substr(end + 1);
  return m;
}

Result<FetchFile> decode_fetch_file(const std::string& payload) {
  return read_message(payload, read_fetch_file);
}
Result<Fetching> decode_fetching(const std::string& payload) {
  return read_message(payload, read_fetching);
}
Result<Fetched> decode_fetched(const std::string& payload) {
  return read_message(payload, read_fetched);
}

}  // namespace hearth::wire
