// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/undo.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "http/client.h"
#include "lab/machine/file_pages.h"
#include "lab/machine/processes.h"

namespace hearth::lab {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint16_t kUsualPort = 11435;

Failed invalid(const Undo& entry) {
  return fail(ErrorCode::kInvalid,
              fmt::format("\"{}\" of an undo journal was passed over: it makes "
                          "no sense",
                          entry.subject));
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::string> end_server(const Undo& entry) {
  const auto pid = number_in<pid_t>(entry.subject);
  if (!pid || *pid <= 1 || entry.detail.empty()) return invalid(entry);
  if (start_time_of(*pid) != entry.detail) return std::string{};
  if (end_process(*pid, entry.detail, 5s)) return fmt::format("ended process {}", *pid);
  return fail(ErrorCode::kUnavailable, fmt::format("process {} does not end", *pid));
}

Result<std::string> read_file_back(const Files& files, const Undo& entry) {
  const double share = std::clamp(number_in<double>(entry.detail).value_or(1.0), 0.0, 1.0);
  const Result<> done = read_back(files, entry.subject, share);
  // A file that is gone has no pages to miss.
  if (!done && done.error().code() == ErrorCode::kNotFound) return std::string{};
  if (!done) return Failed{Error{done.error()}.during("read back")};
  return fmt::format("read {} back into memory", entry.subject);
}

bool is_own_tree(const fs::path& path) {
  const bool goes_up = std::ranges::find(path, fs::path{".."}) != path.end();
  return path.is_absolute() && !goes_up && std::distance(path.begin(), path.end()) > 2;
}

Result<std::string> remove_tree(const Undo& entry) {
  const std::string name = fs::path{entry.subject}.filename();
  if (!is_own_tree(entry.subject) || !name.starts_with(kTreePrefix)) return invalid(entry);
  std::error_code error;
  const auto removed = fs::remove_all(entry.subject, error);
  if (error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("remove {}: {}", entry.subject, error.message()));
  }
  return removed == 0 ? std::string{} : fmt::format("removed {}", entry.subject);
}

void end_members(const std::string& group) {
  const std::string text = read_small_file(group + "/cgroup.procs");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const auto pid = number_in<pid_t>(std::string_view{text}.substr(at, end - at));
    if (pid && *pid > 1) (void)::kill(*pid, SIGKILL);
    at = end + 1;
  }
}

Result<std::string> remove_group(const Files& files, const Undo& entry) {
  if (!entry.subject.starts_with("/sys/fs/cgroup/") || !is_own_tree(entry.subject)) {
    return invalid(entry);
  }
  // Who was in it may have ended and not be gone yet.
  for (int tries = 0; tries < 200; ++tries) {
    if (!files.info(entry.subject)) {
      return tries == 0 ? std::string{} : "removed the control group " + entry.subject;
    }
    end_members(entry.subject);
    std::error_code ignored;
    fs::remove(entry.subject, ignored);
    std::this_thread::sleep_for(10ms);
  }
  return fail(ErrorCode::kUnavailable, "control group " + entry.subject + " stays: it is in use");
}

// The subject is "ADDRESS MODEL LAYER".
Result<std::string> unpin(const Undo& entry) {
  const std::string_view subject = entry.subject;
  const std::size_t first = subject.find(' '), last = subject.rfind(' ');
  if (first == std::string_view::npos || first == last) return invalid(entry);
  const auto client = http::Client::to(subject.substr(0, first), kUsualPort);
  if (!client) return invalid(entry);
  http::Client::Call call;
  call.method = "POST";
  call.target = "/api/hearth/unpin";
  call.headers = {{"Content-Type", "application/json"}};
  call.body = boost::json::serialize(boost::json::object{
      {"model", subject.substr(first + 1, last - first - 1)}, {"layer", subject.substr(last + 1)}});
  call.read_timeout = 10s;
  const Result<http::HttpResponse> answer = client->call(call);
  // Where nobody listens any more, the server has ended, and a pin of a lab's own server with it.
  if (!answer) return std::string{};
  if (answer->status < 300) return "unpinned " + entry.subject;
  return fail(ErrorCode::kUnavailable, fmt::format("unpin {}: {}", entry.subject, answer->status));
}

}  // namespace

Result<std::string> undo(const Files& files, const Undo& entry) {
  switch (entry.kind) {
    case Undo::Kind::kEndProcess:
      return end_server(entry);
    case Undo::Kind::kReadBack:
      return read_file_back(files, entry);
    case Undo::Kind::kRemoveTree:
      return remove_tree(entry);
    case Undo::Kind::kRemoveGroup:
      return remove_group(files, entry);
    case Undo::Kind::kUnpin:
      return unpin(entry);
  }
  return invalid(entry);
}

}  // namespace hearth::lab
