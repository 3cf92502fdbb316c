// SPDX-License-Identifier: Apache-2.0
#include "cli/top.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/screen.h"
#include "cli/top_feed.h"
#include "cli/top_view.h"

namespace hearth::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kFastest = 250ms;  // between two frames
constexpr milliseconds kSlowest = 5s;     // ages and lengths of time go on by themselves

struct TopOptions {
  bool once = false;
};

int show_once(const Session& session, const TopState& state) {
  const TopMoment moment = top_moment();
  if (session.json()) {
    print(boost::json::serialize(top_json(state, moment)) + "\n");
    return kExitOk;
  }
  std::string text;
  for (const std::string& line : top_frame(state, moment, 0, session.out)) text += line + '\n';
  print(text);
  return kExitOk;
}

// Draws when something has changed, and not more often than it may.
class Watching {
 public:
  explicit Watching(TopFeed& feed) : feed_{feed} {}

  // What ended it.
  int run();

 private:
  void draw();
  milliseconds pause() const;
  std::optional<int> take(Screen::Event event);

  TopFeed& feed_;
  Screen screen_;
  TimePoint drawn_{};
  bool changed_ = true;
};

void Watching::draw() {
  const TopState state = feed_.state();
  const TopMoment moment = top_moment();
  screen_.show(top_frame(state, moment, screen_.rows(), screen_.style()));
  drawn_ = moment.now;
  changed_ = !state.under_way.empty();  // their times run
}

milliseconds Watching::pause() const {
  const auto since = std::chrono::duration_cast<milliseconds>(Clock::real().now() - drawn_);
  return std::max(milliseconds{0}, (changed_ ? kFastest : kSlowest) - since);
}

std::optional<int> Watching::take(Screen::Event event) {
  switch (event) {
    case Screen::Event::kKey:
      if (screen_.key() == 'q' || screen_.key() == 'Q') return kExitOk;
      break;
    case Screen::Event::kInterrupted:
      return kExitInterrupted;
    case Screen::Event::kGone:
      return kExitOk;
    case Screen::Event::kChanged:
      feed_.forget_changes();
      changed_ = true;
      break;
    case Screen::Event::kResized:
      draw();
      break;
    case Screen::Event::kNothing:
      break;
  }
  return std::nullopt;
}

int Watching::run() {
  feed_.start();
  draw();
  while (!feed_.given_up()) {
    if (const auto code = take(screen_.wait(pause(), feed_.changes()))) return *code;
    if (pause() == milliseconds{0}) draw();
  }
  return kExitFailed;
}

bool can_be_drawn_on(const OutputStyle& style) {
  return style.terminal && process_environment("TERM") != "dumb";
}

int top(const Session& session, const TopOptions& options) {
  TopFeed feed{session.api};
  const Result<> loaded = feed.load();
  if (!loaded) return report(loaded.error());
  if (options.once || session.json() || !can_be_drawn_on(session.out)) {
    return show_once(session, feed.state());
  }
  const int code = Watching{feed}.run();
  const auto given_up = feed.given_up();
  return given_up ? report(*given_up) : code;
}

}  // namespace

void add_top(Program& program) {
  // Lives as long as the callback that owns it.
  auto options = std::make_shared<TopOptions>();
  auto* verb = program.verb("top", "What the server does, live, until q is pressed",
                            [options](Session& session) { return top(session, *options); });
  verb->add_flag("--once", options->once, "One picture of now, as in a pipe");
  verb->footer(example("hearth top"));
}

}  // namespace hearth::cli
