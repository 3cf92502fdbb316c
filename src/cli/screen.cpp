// SPDX-License-Identifier: Apache-2.0
#include "cli/screen.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace hearth::cli {
namespace {

constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[?7l\033[H\033[2J";
constexpr std::string_view kLeave = "\033[?7h\033[?25h\033[?1049l";
constexpr std::size_t kUsualRows = 24;

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(STDOUT_FILENO, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;  // the terminal is gone, which wait() tells
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Screen::Screen() {
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = Fd{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
  has_keys_ = ::tcgetattr(STDIN_FILENO, &earlier_) == 0;
  if (has_keys_) {
    termios raw = earlier_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // a stopped one would leave the screen as it is
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  write_all(kEnter);
}

Screen::~Screen() {
  write_all(kLeave);
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &earlier_);
  signals_.reset();
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

Screen::Event Screen::signalled() {
  signalfd_siginfo info{};
  if (::read(signals_.get(), &info, sizeof info) != sizeof info) return Event::kNothing;
  if (info.ssi_signo != SIGWINCH) return Event::kInterrupted;
  shown_.clear();
  write_all("\033[H\033[2J");
  return Event::kResized;
}

Screen::Event Screen::typed() {
  const ssize_t got = ::read(STDIN_FILENO, &key_, 1);
  if (got == 1) return Event::kKey;
  return got < 0 && errno == EINTR ? Event::kNothing : Event::kGone;
}

Screen::Event Screen::wait(std::chrono::milliseconds pause, int watched) {
  std::array<pollfd, 3> fds{{{signals_.get(), POLLIN, 0},
                             {has_keys_ ? STDIN_FILENO : -1, POLLIN, 0},
                             {watched, POLLIN, 0}}};
  const int timeout = static_cast<int>(std::max<std::int64_t>(0, pause.count()));
  if (::poll(fds.data(), fds.size(), timeout) <= 0) return Event::kNothing;
  if (fds[0].revents != 0) return signalled();
  if (fds[1].revents != 0) return typed();
  return Event::kChanged;
}

OutputStyle Screen::style() const { return style_of(STDOUT_FILENO); }

std::size_t Screen::rows() const {
  winsize size{};
  const bool told = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return told ? size.ws_row : kUsualRows;
}

void Screen::show(std::vector<std::string> lines) {
  std::string text;
  for (std::size_t i = 0; i < std::max(lines.size(), shown_.size()); ++i) {
    const std::string line = i < lines.size() ? lines[i] : std::string{};
    const bool is_shown = i < shown_.size() && shown_[i] == line;
    if (!is_shown) text += fmt::format("\033[{};1H\033[2K{}", i + 1, line);
  }
  write_all(text);
  shown_ = std::move(lines);
}

}  // namespace hearth::cli
