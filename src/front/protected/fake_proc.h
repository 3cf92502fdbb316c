// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_directory.h"
#include "front/protected/service_source.h"

namespace hearth::front::test {

// For tests: files as /proc and /sys/fs/cgroup have them, in a directory of one's own.
class FakeProc {
 public:
  FakeProc() { write("proc/self/cgroup", "0::/hearth\n"); }

  ServiceRoots roots() const { return {directory_ / "proc", directory_ / "cgroup"}; }

  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path{directory_ / name};
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  void remove(const std::string& name) { std::filesystem::remove_all(directory_ / name); }

  void process(int id, const std::string& comm, const std::string& group = "/service") {
    write(fmt::format("proc/{}/comm", id), comm + "\n");
    write(fmt::format("proc/{}/cgroup", id), "5:cpu:/\n0::" + group + "\n");
  }
  void end(int id) { remove(fmt::format("proc/{}", id)); }
  void task(int process, int id, Duration waited, std::uint64_t times) {
    write(fmt::format("proc/{}/task/{}/schedstat", process, id),
          fmt::format("123456789 {} {}\n", waited.count(), times));
  }
  void end_task(int process, int id) { remove(fmt::format("proc/{}/task/{}", process, id)); }

  // "cpu", "memory", "io"; so long some task waited, so far.
  void waits(const std::string& group, const std::string& what, std::chrono::microseconds total) {
    write("cgroup/" + group + "/cgroup.procs", "");
    write("cgroup/" + group + "/" + what + ".pressure",
          fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n"
                      "full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
                      total.count()));
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace hearth::front::test
