// SPDX-License-Identifier: Apache-2.0
#include "cli/top_feed.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "cli/answer.h"
#include "cli/event_lines.h"
#include "cli/json_fields.h"
#include "cli/session.h"

namespace hearth::cli {
namespace {

using namespace std::chrono_literals;
using Object = boost::json::object;

constexpr auto kFirstPause = 500ms;
constexpr std::chrono::milliseconds kLongestPause = 8s;
constexpr auto kBetweenReadings = 700ms;  // of models; memory is read with them
constexpr int kPage = 500;                // entries of the history
constexpr int kMostPages = 40;            // of today's

std::string history_target(const std::string& before) {
  std::string target = fmt::format("/api/hearth/requests?limit={}", kPage);
  return before.empty() ? target : target + "&before=" + percent_encode(before);
}

// Today's, and the last ones; into `state`.
Result<> load_history(const ApiClient& api, TopState& state) {
  state.forget_history();
  std::string last;
  for (int page = 0; page < kMostPages; ++page) {
    const auto answer = object_of(api.get(history_target(last)));
    if (!answer) return Failed{answer.error()};
    const auto entries = objects_in(*answer, "requests");
    const bool more = state.add_history(*answer, top_moment());
    if (!more || static_cast<int>(entries.size()) < kPage) return {};
    last = text_in(*entries.back(), "request_id");
  }
  return {};
}

// A server that has no such answer yet says 404, which is no reason to show nothing.
Result<> load_object(const ApiClient& api, const char* what, Object& into) {
  auto answer = object_of(api.get(fmt::format("/api/hearth/{}", what)));
  if (!answer && answer.error().code() == ErrorCode::kNotFound) return {};
  if (!answer) return Failed{answer.error()};
  into = std::move(*answer);
  return {};
}

Result<> load_models(const ApiClient& api, TopState& state) {
  auto models = models_of(api.get("/api/hearth/models"));
  if (!models) return Failed{models.error()};
  state.models = std::move(*models);
  return {};
}

Result<> load_running(const ApiClient& api, TopState& state) {
  Object running;
  const Result<> answered = load_object(api, "running", running);
  if (answered) state.set_running(running, top_moment());
  return answered;
}

// In this order, so that what ends meanwhile is in the history.
Result<TopState> load_all(const ApiClient& api) {
  TopState state;
  state.address = api.address();
  Result<> good = load_object(api, "version", state.version);
  state.version_read = Clock::real().now();
  if (good) good = load_object(api, "memory", state.memory);
  if (good) good = load_object(api, "levels", state.levels);
  if (good) good = load_models(api, state);
  if (good) good = load_running(api, state);
  if (good) good = load_history(api, state);
  if (!good) return Failed{good.error()};
  return state;
}

}  // namespace

struct TopFeed::Shared {
  explicit Shared(ApiClient client)
      : api{std::move(client)}, wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}

  void tell() {
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake.get(), &one, sizeof one) == sizeof one);
    changed.notify_all();
  }

  void follow();
  void refresh();
  bool sleep(std::chrono::milliseconds pause);
  void on_bytes(EventLines& events, std::string_view bytes);
  void reload();
  void reread(const TopState::Stale& stale);

  const ApiClient api;
  const Fd wake;
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex, as is all below.
  TopState state;
  std::optional<Error> refused;
  bool gap = true;  // there were none, or they have ended: what is known gets old
  bool ended = false;
};

// False: it is over.
bool TopFeed::Shared::sleep(std::chrono::milliseconds pause) {
  std::unique_lock lock{mutex};
  return !changed.wait_for(lock, pause, [this] { return ended || refused; });
}

void TopFeed::Shared::on_bytes(EventLines& events, std::string_view bytes) {
  {
    std::lock_guard lock{mutex};
    if (std::exchange(gap, false)) state.stale.everything = true;
    state.link = TopState::Link::kLive;
    events.feed(bytes);
  }
  tell();
}

void TopFeed::Shared::follow() {
  std::chrono::milliseconds pause = kFirstPause;
  do {
    EventLines events{[this](const std::string& type, std::string_view data) {
      state.take(type, data, top_moment());
    }};
    const auto take = [&](std::string_view bytes) {
      on_bytes(events, bytes);
      pause = kFirstPause;
      std::lock_guard lock{mutex};
      return !ended;
    };
    const Result<> read = api.follow("/api/hearth/events", take);
    {
      std::lock_guard lock{mutex};
      state.link = TopState::Link::kLost;
      gap = true;
      const bool is_away = read || read.error().code() == ErrorCode::kUnavailable ||
                           read.error().code() == ErrorCode::kBusy;
      if (!is_away) refused = read.error();
    }
    tell();
    if (!sleep(pause)) return;
    pause = std::min(pause * 2, kLongestPause);
  } while (true);
}

void TopFeed::Shared::reload() {
  auto loaded = load_all(api);
  std::lock_guard lock{mutex};
  if (!loaded) return;  // the events' thread notices it too, and has it read anew
  loaded->link = state.link;
  loaded->stale = state.stale;  // of what came while this was read
  state = std::move(*loaded);
}

void TopFeed::Shared::reread(const TopState::Stale& stale) {
  TopState read;
  const bool has_models = stale.models && load_models(api, read);
  const bool has_memory = stale.memory && load_object(api, "memory", read.memory);
  for (const std::string& name : stale.model) {
    if (has_models) break;
    auto model = object_of(api.get(model_target(name)));
    if (model) read.put_model(std::move(*model));
  }
  std::lock_guard lock{mutex};
  if (has_memory) state.memory = std::move(read.memory);
  if (has_models) {
    state.models = std::move(read.models);
    return;
  }
  for (auto& model : read.models) state.put_model(std::move(model.get_object()));
}

void TopFeed::Shared::refresh() {
  while (true) {
    TopState::Stale stale;
    {
      std::unique_lock lock{mutex};
      changed.wait(lock, [this] { return ended || refused || state.stale.any(); });
      if (ended || refused) return;
      stale = std::exchange(state.stale, {});
    }
    if (stale.everything) {
      reload();
    } else {
      reread(stale);
    }
    tell();
    if (!sleep(kBetweenReadings)) return;
  }
}

TopFeed::TopFeed(ApiClient api) : shared_{std::make_shared<Shared>(std::move(api))} {}

TopFeed::~TopFeed() {
  {
    std::lock_guard lock{shared_->mutex};
    shared_->ended = true;
  }
  shared_->tell();
}

Result<> TopFeed::load() {
  auto loaded = load_all(shared_->api);
  if (!loaded) return Failed{loaded.error()};
  std::lock_guard lock{shared_->mutex};
  shared_->state = std::move(*loaded);
  return {};
}

// Everything is read once more as soon as events come, so nothing is missed in between.
void TopFeed::start() {
  std::thread{[shared = shared_] { shared->follow(); }}.detach();
  std::thread{[shared = shared_] { shared->refresh(); }}.detach();
}

TopState TopFeed::state() const {
  std::lock_guard lock{shared_->mutex};
  return shared_->state;
}

std::optional<Error> TopFeed::given_up() const {
  std::lock_guard lock{shared_->mutex};
  return shared_->refused;
}

int TopFeed::changes() const { return shared_->wake.get(); }

void TopFeed::forget_changes() {
  std::uint64_t count = 0;
  static_cast<void>(::read(shared_->wake.get(), &count, sizeof count) == sizeof count);
}

TopMoment top_moment() {
  const Clock& clock = Clock::real();
  TopMoment moment{clock.now(), clock.wall_us(), 0};
  const std::time_t seconds = moment.wall_us / 1'000'000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  local.tm_sec = local.tm_min = local.tm_hour = 0;
  local.tm_isdst = -1;
  moment.midnight_us = static_cast<std::int64_t>(::mktime(&local)) * 1'000'000;
  return moment;
}

}  // namespace hearth::cli
