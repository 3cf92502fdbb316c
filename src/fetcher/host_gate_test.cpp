// SPDX-License-Identifier: Apache-2.0
#include "fetcher/host_gate.h"

#include <gtest/gtest.h>

namespace hearth::fetcher {
namespace {

HostGate gate() {
  return *HostGate::of(
      {"hf.co", "*.mirror.example", "http://nas.lan:8080", "http://*:9000", "10.0.0.5:8443"});
}

std::string first(const char* text) {
  const auto reach = gate().first(*Url::parse(text));
  if (!reach) return "no";
  return *reach == Reach::kAnywhere ? "anywhere" : "public";
}

std::string redirect(const char* from, const char* to) {
  const auto reach = gate().redirect(*Url::parse(from), *Url::parse(to));
  if (!reach) {
    EXPECT_EQ(reach.error().code(), ErrorCode::kInvalid);
    return "no";
  }
  return *reach == Reach::kAnywhere ? "anywhere" : "public";
}

TEST(HostGate, AFetchBeginsWhereARuleSays) {
  EXPECT_EQ(first("https://hf.co/x"), "anywhere");
  EXPECT_EQ(first("https://hf.co:444/x"), "no");
  EXPECT_EQ(first("http://hf.co/x"), "no");
  EXPECT_EQ(first("https://evil.example/x"), "no");
  EXPECT_EQ(first("https://a.mirror.example/"), "public");
  EXPECT_EQ(first("https://mirror.example/"), "no");
  EXPECT_EQ(first("http://nas.lan:8080/"), "anywhere");
  EXPECT_EQ(first("https://10.0.0.5:8443/"), "anywhere");
  EXPECT_EQ(first("http://8.8.8.8:9000/"), "public");
  EXPECT_EQ(first("http://10.0.0.5:9000/"), "no");
  EXPECT_EQ(first("http://[::1]:9000/"), "no");
  EXPECT_EQ(first("http://localhost:9000/"), "no");
}

TEST(HostGate, ARedirectMayGoToThePublicOverHttps) {
  EXPECT_EQ(redirect("https://hf.co/x", "https://cdn.example/y"), "public");
  EXPECT_EQ(redirect("https://hf.co/x", "https://cdn.example:8443/y"), "public");
  EXPECT_EQ(redirect("https://hf.co/x", "https://10.0.0.5/"), "no");
  EXPECT_EQ(redirect("https://hf.co/x", "https://10.0.0.5:8443/"), "anywhere");
  EXPECT_EQ(redirect("https://hf.co/x", "https://169.254.169.254/"), "no");
  EXPECT_EQ(redirect("https://hf.co/x", "https://[::ffff:127.0.0.1]/"), "no");
  EXPECT_EQ(redirect("https://hf.co/x", "https://localhost./"), "no");
  EXPECT_EQ(redirect("https://hf.co/x", "https://metadata.google.internal/"), "no");
  EXPECT_EQ(redirect("https://hf.co/x", "https://printer.local/"), "no");
  EXPECT_EQ(redirect("https://hf.co/x", "https://notlocal/"), "public");
}

TEST(HostGate, NeverFromHttpsToHttp) {
  EXPECT_EQ(redirect("https://hf.co/x", "http://nas.lan:8080/"), "no");
  EXPECT_EQ(redirect("https://hf.co/x", "http://hf.co/x"), "no");
}

TEST(HostGate, HttpOnlyWhereARuleSays) {
  EXPECT_EQ(redirect("http://nas.lan:8080/", "http://nas.lan:8080/y"), "anywhere");
  EXPECT_EQ(redirect("http://nas.lan:8080/", "http://other.example/y"), "no");
  EXPECT_EQ(redirect("http://nas.lan:8080/", "https://other.example/y"), "public");
}

TEST(HostGate, SaysWhatToDo) {
  const auto reach = gate().first(*Url::parse("http://evil.example:81/secret?sig=1"));
  ASSERT_FALSE(reach);
  EXPECT_EQ(reach.error().message(),
            "evil.example:81 is not among the hosts that models may come from; add "
            "\"http://evil.example:81\" to `pull_hosts` if it should be");
  const auto bad = HostGate::of({"a/b"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace hearth::fetcher
