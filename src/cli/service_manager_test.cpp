// SPDX-License-Identifier: Apache-2.0
#include "cli/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "base/fd.h"
#include "base/sim_event_loop.h"
#include "base/temporary_directory.h"

namespace hearth::cli {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using Environment = std::map<std::string, std::string>;

// The manager's end of the socket.
class Manager {
 public:
  explicit Manager(const std::string& name)
      : socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      throw std::runtime_error{"bind " + name};
    }
  }

  std::vector<std::string> heard() const {
    std::vector<std::string> messages;
    std::array<char, 256> text{};
    for (;;) {
      const ssize_t n = ::recv(socket_.get(), text.data(), text.size(), 0);
      if (n < 0) return messages;
      messages.emplace_back(text.data(), static_cast<std::size_t>(n));
    }
  }

 private:
  Fd socket_;
};

class ServiceManagerTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  std::string name_ = directory_ / "notify";
  Manager manager_{name_};
  SimEventLoop loop_;
};

TEST_F(ServiceManagerTest, HearsOfBeginningAndEnd) {
  ServiceManager service{loop_, {{"NOTIFY_SOCKET", name_}}};
  service.ready("on 127.0.0.1:11435");
  service.stopping();
  EXPECT_THAT(manager_.heard(), ElementsAre("READY=1\nSTATUS=on 127.0.0.1:11435",
                                            "STOPPING=1\nSTATUS=Replies under way may end"));
}

TEST_F(ServiceManagerTest, IsNotSpokenToUnlessItAsks) {
  ServiceManager service{loop_, {{"WATCHDOG_USEC", "1000000"}}};
  service.ready("here");
  loop_.run_for(seconds{10});
  EXPECT_FALSE(service.watchdog());
  EXPECT_THAT(manager_.heard(), IsEmpty());
}

TEST_F(ServiceManagerTest, WatchdogIsFedTwiceInItsInterval) {
  ServiceManager service{loop_, {{"NOTIFY_SOCKET", name_}, {"WATCHDOG_USEC", "20000000"}}};
  loop_.run_for(seconds{60});
  EXPECT_THAT(manager_.heard(), IsEmpty());
  service.ready("here");
  loop_.run_for(seconds{25});
  EXPECT_THAT(manager_.heard(),
              ElementsAre("READY=1\nSTATUS=here", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"));
}

TEST_F(ServiceManagerTest, WatchdogIsNotFedByWhatIsGone) {
  {
    ServiceManager service{loop_, {{"NOTIFY_SOCKET", name_}, {"WATCHDOG_USEC", "20000000"}}};
    service.ready("here");
  }
  (void)manager_.heard();
  loop_.run_for(seconds{60});
  EXPECT_THAT(manager_.heard(), IsEmpty());
}

TEST_F(ServiceManagerTest, ReachesANameInTheAbstractNamespace) {
  const std::string name = "@hearth-test-" + std::to_string(::getpid());
  const Manager abstract{name};
  ServiceManager service{loop_, {{"NOTIFY_SOCKET", name}}};
  service.ready("here");
  EXPECT_THAT(abstract.heard(), ElementsAre("READY=1\nSTATUS=here"));
}

TEST_F(ServiceManagerTest, AnEndThatNobodyReadsHoldsNothingUp) {
  ServiceManager service{loop_, {{"NOTIFY_SOCKET", name_}, {"WATCHDOG_USEC", "2"}}};
  for (int i = 0; i < 10000; ++i) service.stopping();
  ServiceManager lost{loop_, {{"NOTIFY_SOCKET", directory_ / "nobody"}}};
  lost.ready("here");
  ServiceManager too_long{loop_, {{"NOTIFY_SOCKET", std::string(200, 'x')}}};
  too_long.ready("here");
}

struct WatchdogCase {
  const char* name;
  std::string usec;
  std::string pid;
  std::optional<Duration> interval;
};

class Watchdog : public testing::TestWithParam<WatchdogCase> {};

TEST_P(Watchdog, IsForThisProcessAlone) {
  SimEventLoop loop;
  Environment environment{{"NOTIFY_SOCKET", "/nowhere"}, {"WATCHDOG_USEC", GetParam().usec}};
  if (!GetParam().pid.empty()) environment["WATCHDOG_PID"] = GetParam().pid;
  EXPECT_EQ((ServiceManager{loop, environment}.watchdog()), GetParam().interval);
}

INSTANTIATE_TEST_SUITE_P(ServiceManager, Watchdog,
                         testing::Values(WatchdogCase{"OfAnybody", "30000000", "", seconds{30}},
                                         WatchdogCase{"Ours", "30000000",
                                                      std::to_string(::getpid()), seconds{30}},
                                         WatchdogCase{"Another", "30000000", "1", std::nullopt},
                                         WatchdogCase{"NoPid", "30000000", "me", std::nullopt},
                                         WatchdogCase{"Zero", "0", "", std::nullopt},
                                         WatchdogCase{"Negative", "-5", "", std::nullopt},
                                         WatchdogCase{"NoNumber", "30s", "", std::nullopt},
                                         WatchdogCase{"Empty", "", "", std::nullopt}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::cli
