// SPDX-License-Identifier: Apache-2.0
#include "front/worker_environment.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

namespace hearth::front {

std::vector<std::string> worker_environment(const std::vector<std::string>& more) {
  std::vector<std::string> environment{"LC_ALL=C.UTF-8", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  static constexpr std::array kPassed{"CUDA_VISIBLE_DEVICES",
                                      "GGML_VK_VISIBLE_DEVICES",
                                      "HIP_VISIBLE_DEVICES",
                                      "VK_DRIVER_FILES",
                                      "VK_ICD_FILENAMES",
                                      "LD_LIBRARY_PATH",
                                      "HOME",
                                      "ASAN_OPTIONS",
                                      "TSAN_OPTIONS"};
  for (const char* name : kPassed) {
    if (const char* value = std::getenv(name))
      environment.push_back(std::string{name} + "=" + value);
  }
  environment.insert(environment.end(), more.begin(), more.end());
  return environment;
}

std::vector<std::string> fetcher_environment(const std::map<std::string, std::string>& ours) {
  static constexpr std::array kPassed{
      "HTTP_PROXY",     "http_proxy",   "HTTPS_PROXY", "https_proxy",   "ALL_PROXY",
      "all_proxy",      "NO_PROXY",     "no_proxy",    "SSL_CERT_FILE", "SSL_CERT_DIR",
      "CURL_CA_BUNDLE", "ASAN_OPTIONS", "TSAN_OPTIONS"};
  std::vector<std::string> environment{"LC_ALL=C.UTF-8"};
  for (const char* name : kPassed) {
    const auto found = ours.find(name);
    if (found != ours.end()) environment.push_back(found->first + "=" + found->second);
  }
  return environment;
}

namespace {

std::string beside_us(const std::string& name) {
  std::array<char, PATH_MAX> path{};
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (n <= 0) return {};
  const std::string self{path.data(), static_cast<std::size_t>(n)};
  return self.substr(0, self.rfind('/') + 1) + name;
}

}  // namespace

std::string worker_program() { return beside_us("hearth-worker"); }
std::string keeper_program() { return beside_us("hearth-keeper"); }
std::string fetcher_program() { return beside_us("hearth-fetcher"); }

}  // namespace hearth::front
