// SPDX-License-Identifier: Apache-2.0
#include "base/event_loop_asio.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <unordered_map>
#include <vector>

namespace hearth {
namespace asio = boost::asio;

struct AsioEventLoop::State {
  // A hint of 1 lets Asio skip locks between threads that would run the loop; post() stays safe.
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  TimerId next_timer = 1;
  std::unordered_map<TimerId, asio::steady_timer> timers;
  // One descriptor and the waits on it; 0 where there is none. Ids tell a wait from a later one for
  // the same number.
  struct Waiting {
    asio::posix::stream_descriptor descriptor;
    std::uint64_t reading = 0;
    std::uint64_t writing = 0;
  };
  std::uint64_t next_wait = 1;
  std::unordered_map<int, Waiting> waiting;
  std::unique_ptr<asio::signal_set> signals;
  std::function<void(int)> on_signal;

  void await_descriptor(int fd, std::uint64_t Waiting::* which, Callback callback) {
    using Descriptor = asio::posix::stream_descriptor;
    auto found = waiting.find(fd);
    if (found == waiting.end()) found = waiting.emplace(fd, Waiting{Descriptor{context, fd}}).first;
    const std::uint64_t id = next_wait++;
    found->second.*which = id;
    found->second.descriptor.async_wait(
        which == &Waiting::reading ? Descriptor::wait_read : Descriptor::wait_write,
        [this, fd, which, id, run = std::move(callback)](const boost::system::error_code&) {
          if (end_wait(fd, which, id)) run();
        });
  }

  // False when forget() or another wait came after this one had been queued as ready.
  bool end_wait(int fd, std::uint64_t Waiting::* which, std::uint64_t id) {
    const auto found = waiting.find(fd);
    if (found == waiting.end() || found->second.*which != id) return false;
    found->second.*which = 0;
    // Not kept for the next wait: the caller may close it now, and its number be given to another.
    if (found->second.reading == 0 && found->second.writing == 0) forget(fd);
    return true;
  }

  void forget(int fd) {
    const auto found = waiting.find(fd);
    if (found == waiting.end()) return;
    found->second.descriptor.release();
    waiting.erase(found);
  }

  void await_signal() {
    signals->async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      on_signal(signal);
      await_signal();
    });
  }
};

AsioEventLoop::AsioEventLoop() : state_{std::make_unique<State>()} {}

AsioEventLoop::~AsioEventLoop() {
  // The descriptors belong to their callers: give them back before Asio closes them.
  for (auto& [fd, waiting] : state_->waiting) waiting.descriptor.release();
}

void AsioEventLoop::run() { state_->context.run(); }
void AsioEventLoop::stop() { state_->context.stop(); }
asio::io_context& AsioEventLoop::context() { return state_->context; }
TimePoint AsioEventLoop::now() const { return std::chrono::steady_clock::now(); }

void AsioEventLoop::on_signals(std::initializer_list<int> signals,
                               std::function<void(int)> callback) {
  state_->signals = std::make_unique<asio::signal_set>(state_->context);
  for (const int signal : signals) state_->signals->add(signal);
  state_->on_signal = std::move(callback);
  state_->await_signal();
}

void AsioEventLoop::post(Callback callback) { asio::post(state_->context, std::move(callback)); }

EventLoop::TimerId AsioEventLoop::call_at(TimePoint when, Callback callback) {
  const TimerId id = state_->next_timer++;
  auto& timer = state_->timers.emplace(id, state_->context).first->second;
  timer.expires_at(when);
  timer.async_wait([state = state_.get(), id,
                    run = std::move(callback)](const boost::system::error_code& error) {
    // cancel() may come after the timer was queued as expired: then the entry is gone already.
    if (error || state->timers.erase(id) == 0) return;
    run();
  });
  return id;
}

void AsioEventLoop::cancel(TimerId timer) { state_->timers.erase(timer); }

void AsioEventLoop::when_readable(int fd, Callback callback) {
  state_->await_descriptor(fd, &State::Waiting::reading, std::move(callback));
}

void AsioEventLoop::when_writable(int fd, Callback callback) {
  state_->await_descriptor(fd, &State::Waiting::writing, std::move(callback));
}

void AsioEventLoop::forget(int fd) { state_->forget(fd); }

}  // namespace hearth
