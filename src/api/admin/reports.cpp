// SPDX-License-Identifier: Apache-2.0
#include "api/admin/reports.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "api/admin/admin.h"
#include "api/errors.h"
#include "base/json.h"

namespace hearth::api::admin {
namespace {

namespace json = boost::json;
using namespace literals;

constexpr Bytes kLongestRun = 256_KiB;
constexpr Bytes kLongestReport = 16_MiB;
constexpr std::size_t kMostRuns = 200;
constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

// A page that runs nothing, asks for nothing and can do nothing to whoever shows it.
constexpr const char* kPolicy =
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

bool is_name(std::string_view name) {
  return !name.empty() && name.front() != '.' &&
         name.find_first_not_of(kNameCharacters) == std::string_view::npos;
}

Result<std::string> text_of(const Files& files, const std::string& path, Bytes longest) {
  auto file = files.open_read(path);
  if (!file) return Failed{file.error()};
  const auto info = files.info(*file);
  if (!info) return Failed{info.error()};
  if (info->kind != FileKind::kRegular) return fail(ErrorCode::kNotFound, "this is no file");
  if (info->size > longest) return fail(ErrorCode::kInvalid, "this file is too long for a report");
  std::string text(info->size.count(), '\0');
  const auto read = files.read_at(*file, 0, std::as_writable_bytes(std::span{text}));
  if (!read) return Failed{read.error()};
  text.resize(*read);
  return text;
}

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::int64_t integer_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

json::value run_of(const Files& files, const std::string& directory, const std::string& name) {
  const std::string path = directory + '/' + name;
  const auto text = text_of(files, path + "/run.json", kLongestRun);
  if (!text) return nullptr;
  const auto run = parse_json(*text);
  if (!run || !run->is_object()) return nullptr;
  const json::object& told = run->get_object();
  return json::object{{"name", name},
                      {"study", text_in(told, "study")},
                      {"model", text_in(told, "model")},
                      {"started_us", integer_in(told, "started_wall_us")},
                      {"report", files.info(path + "/report.html").has_value()},
                      {"summary", files.info(path + "/summary.json").has_value()}};
}

http::HttpResponse refused(const Call& call, const Error& error) {
  return error_response(Dialect::kHearth, audience_of(call), error);
}

http::HttpResponse page_of(std::string html) {
  http::HttpResponse response{200, {}, std::move(html)};
  response.headers = {
      {"Content-Type", "text/html; charset=utf-8"}, {"Content-Security-Policy", kPolicy},
      {"X-Content-Type-Options", "nosniff"},        {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},           {"Cache-Control", "no-store"}};
  return response;
}

http::HttpResponse list_answer(const Call& call) {
  const auto directory = reports_directory(call.service.configuration());
  if (!directory) return refused(call, directory.error());
  json::object answer{{"reports", json::parse(list_runs(Files::real(), *directory))}};
  if (audience_of(call) == Audience::kAdmin) answer["directory"] = *directory;
  return http::HttpResponse::json(200, json::serialize(answer));
}

http::HttpResponse file_answer(const Call& call) {
  const std::string part = call.request().parameter("part").value_or("page");
  if (part != "page" && part != "summary") {
    return refused(call, Error{ErrorCode::kInvalid, "part: page or summary"}.at("part"));
  }
  const bool is_page = part == "page";
  const auto directory = reports_directory(call.service.configuration());
  if (!directory) return refused(call, directory.error());
  auto text = report_file(Files::real(), *directory, call.argument,
                          is_page ? ReportPart::kPage : ReportPart::kSummary);
  if (!text) return refused(call, text.error());
  return is_page ? page_of(std::move(*text)) : http::HttpResponse::json(200, std::move(*text));
}

}  // namespace

Result<std::string> reports_directory(std::string_view configuration) {
  const auto parsed = parse_json(configuration);
  const json::value* options =
      parsed && parsed->is_object() ? parsed->get_object().if_contains("options") : nullptr;
  if (options != nullptr && options->is_array()) {
    for (const json::value& option : options->get_array()) {
      const json::object* one = option.if_object();
      if (one == nullptr || text_in(*one, "name") != "data") continue;
      return text_in(*one, "value") + "/reports";
    }
  }
  return fail(ErrorCode::kInternal, "the configuration names no data directory");
}

std::string list_runs(const Files& files, const std::string& directory) {
  std::vector<json::object> runs;
  for (const std::string& name : files.list(directory).value_or(std::vector<std::string>{})) {
    if (!is_name(name)) continue;
    json::value run = run_of(files, directory, name);
    if (run.is_object()) runs.push_back(std::move(run.get_object()));
  }
  std::ranges::stable_sort(runs, std::greater{},
                           [](const json::object& run) { return integer_in(run, "started_us"); });
  runs.resize(std::min(runs.size(), kMostRuns));
  return json::serialize(json::array(runs.begin(), runs.end()));
}

Result<std::string> report_file(const Files& files, const std::string& directory,
                                const std::string& name, ReportPart part) {
  const auto missing = [] { return fail(ErrorCode::kNotFound, "there is no such report"); };
  if (!is_name(name)) return missing();
  const std::string file = part == ReportPart::kPage ? "/report.html" : "/summary.json";
  const std::string run = directory + '/' + name;
  const auto info = files.info(run);
  if (!info || info->kind != FileKind::kDirectory) return missing();
  auto text = text_of(files, run + file, kLongestReport);
  if (!text && text.error().code() == ErrorCode::kNotFound) return missing();
  return text;
}

Task<void> list_reports(Call call) {
  auto response = list_answer(call);
  (void)co_await call.exchange.respond(std::move(response));
}

Task<void> show_report(Call call) {
  auto response = file_answer(call);
  (void)co_await call.exchange.respond(std::move(response));
}

}  // namespace hearth::api::admin
