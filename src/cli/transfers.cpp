// SPDX-License-Identifier: Apache-2.0
#include "cli/transfers.h"

#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/answer_lines.h"
#include "cli/display_width.h"
#include "cli/interruptible_stream.h"
#include "cli/json_fields.h"
#include "cli/progress_bar.h"
#include "cli/transfer_view.h"

namespace hearth::cli {
namespace {

// A long answer as it comes: a bar, and a line for whatever is worth keeping.
class Watching {
 public:
  explicit Watching(const Session& session) : session_{session}, bar_{stderr, session.error} {}

  // The last line. Errors: as of the call; kCancelled after ^C.
  Result<std::string> run(std::string target, const boost::json::object& body) {
    AnswerLines lines{[this](const boost::json::object& line) { return take(line); }};
    const Result<> read =
        stream_until_interrupt(session_.api, std::move(target), boost::json::serialize(body),
                               [&lines](std::string_view bytes) { lines.feed(bytes); });
    bar_.clear();
    if (!read) return Failed{read.error()};
    return lines.finish();
  }

 private:
  bool take(const boost::json::object& line) {
    if (const auto* progress = object_in(line, "progress")) {
      note(text_in(*progress, "note"));
      bar_.update(progress_note(*progress));
      return true;
    }
    if (const auto* verified = object_in(line, "verified")) {
      bar_.clear();
      if (!session_.json()) print(verified_line(*verified, session_.out));
      return true;
    }
    return false;
  }

  // What was chosen, or why it waits: once, and where it disturbs no other program.
  void note(std::string text) {
    if (text.empty() || text == noted_ || !session_.error.terminal) return;
    bar_.clear();
    fmt::print(stderr, "{}\n", session_.error.paint(Paint::kDim, one_line(text)));
    noted_ = std::move(text);
  }

  const Session& session_;
  ProgressBar bar_;
  std::string noted_;
};

int interrupted(std::string_view what) {
  fmt::print(stderr, "{}\n", what);
  return kExitInterrupted;
}

Result<std::string> post(const Session& session, std::string target, boost::json::object body) {
  return session.api.post(std::move(target), boost::json::serialize(body));
}

int detach_pull(const Session& session, boost::json::object body, const std::string& source) {
  body["detach"] = true;
  body["stream"] = false;
  const auto answer = post(session, "/api/hearth/pull", std::move(body));
  if (session.json()) return print_json(answer);
  if (!answer) return report(answer.error());
  print(fmt::format("the server fetches {}; `hearth pulls` shows how far it is\n", source));
  return kExitOk;
}

}  // namespace

int pull_model(const Session& session, const PullOptions& options) {
  boost::json::object body{{"source", options.source}, {"insecure", options.insecure}};
  if (!options.name.empty()) body["name"] = options.name;
  if (options.detach) return detach_pull(session, std::move(body), options.source);
  const auto last = Watching{session}.run("/api/hearth/pull", body);
  if (!last && last.error().code() == ErrorCode::kCancelled) {
    return interrupted(fmt::format("paused; `hearth pull {}` goes on from here", options.source));
  }
  if (session.json()) return print_json(last);
  const auto whole = object_of(last);
  if (!whole) return report(whole.error());
  print(pulled_sentence(*whole));
  return kExitOk;
}

int list_pulls(const Session& session) {
  const auto answer = session.api.get("/api/hearth/pulls");
  if (session.json()) return print_json(answer);
  const auto whole = object_of(answer);
  if (!whole) return report(whole.error());
  const auto* pulls = array_in(*whole, "pulls");
  if (pulls != nullptr && !pulls->empty()) {
    print(pulls_table(*pulls, session.out));
  } else if (session.out.terminal) {
    print("Nothing is being pulled, and no parts are kept\n");
  }
  return kExitOk;
}

int stop_pull(const Session& session, const std::string& name, Parts parts) {
  const bool drop = parts == Parts::kDrop;
  const auto answer = post(session, "/api/hearth/pulls/stop", {{"name", name}, {"drop", drop}});
  if (session.json()) return print_json(answer);
  if (!answer) return report(answer.error());
  print(drop ? fmt::format("stopped {}; its parts are gone\n", name)
             : fmt::format("stopped {}; `hearth pull` goes on from its parts\n", name));
  return kExitOk;
}

int verify_models(const Session& session, const std::string& name, Repair repair) {
  boost::json::object body{{"repair", repair == Repair::kYes}};
  if (!name.empty()) body["model"] = name;
  const auto last = Watching{session}.run("/api/hearth/verify", body);
  if (!last && last.error().code() == ErrorCode::kCancelled) {
    return interrupted("stopped; what was verified by then counts");
  }
  const auto whole = object_of(last);
  if (session.json()) print_json(last);
  if (!whole) return session.json() ? kExitFailed : report(whole.error());
  const auto* done = object_in(*whole, "done");
  return done != nullptr && all_good(*done) ? kExitOk : kExitFailed;
}

int prune(const Session& session, Prune what) {
  const bool shown = what == Prune::kShow;
  const auto answer = post(session, "/api/hearth/prune", {{"dry_run", shown}});
  if (session.json()) return print_json(answer);
  const auto whole = object_of(answer);
  if (!whole) return report(whole.error());
  print(prunable_text(*whole, session.out));
  return kExitOk;
}

}  // namespace hearth::cli
