// SPDX-License-Identifier: Apache-2.0
#include "fetcher/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace hearth::fetcher {
namespace {

struct AddressCase {
  const char* name;
  const char* text;
  bool is_public;
};

class Addresses : public testing::TestWithParam<AddressCase> {};

TEST_P(Addresses, ArePublicOrNot) {
  const auto address = Address::parse(GetParam().text);
  ASSERT_TRUE(address) << GetParam().text;
  EXPECT_EQ(address->is_public(), GetParam().is_public) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(All, Addresses,
                         testing::Values(AddressCase{"Google", "8.8.8.8", true},
                                         AddressCase{"One", "1.1.1.1", true},
                                         AddressCase{"Unspecified", "0.0.0.0", false},
                                         AddressCase{"ThisNetwork", "0.1.2.3", false},
                                         AddressCase{"Ten", "10.255.255.255", false},
                                         AddressCase{"BelowTen", "9.255.255.255", true},
                                         AddressCase{"AboveTen", "11.0.0.0", true},
                                         AddressCase{"SharedFirst", "100.64.0.0", false},
                                         AddressCase{"SharedLast", "100.127.255.255", false},
                                         AddressCase{"BelowShared", "100.63.255.255", true},
                                         AddressCase{"AboveShared", "100.128.0.0", true},
                                         AddressCase{"Loopback", "127.0.0.1", false},
                                         AddressCase{"LoopbackFarEnd", "127.255.255.254", false},
                                         AddressCase{"Metadata", "169.254.169.254", false},
                                         AddressCase{"Private172", "172.16.0.1", false},
                                         AddressCase{"Private172Last", "172.31.255.255", false},
                                         AddressCase{"Above172", "172.32.0.0", true},
                                         AddressCase{"Private192", "192.168.1.1", false},
                                         AddressCase{"Assignments", "192.0.0.8", false},
                                         AddressCase{"Documentation1", "192.0.2.1", false},
                                         AddressCase{"Documentation2", "198.51.100.1", false},
                                         AddressCase{"Documentation3", "203.0.113.1", false},
                                         AddressCase{"Relay", "192.88.99.1", false},
                                         AddressCase{"Measurement", "198.19.255.255", false},
                                         AddressCase{"AboveMeasurement", "198.20.0.0", true},
                                         AddressCase{"Multicast", "224.0.0.1", false},
                                         AddressCase{"Reserved", "240.0.0.1", false},
                                         AddressCase{"Broadcast", "255.255.255.255", false}));

INSTANTIATE_TEST_SUITE_P(
    SixBytes, Addresses,
    testing::Values(
        AddressCase{"Google", "2001:4860:4860::8888", true},
        AddressCase{"Cloudflare", "2606:4700::1111", true}, AddressCase{"Unspecified", "::", false},
        AddressCase{"Loopback", "::1", false}, AddressCase{"Compatible", "::8.8.8.8", false},
        AddressCase{"MappedPublic", "::ffff:8.8.8.8", true},
        AddressCase{"MappedPrivate", "::ffff:192.168.0.1", false},
        AddressCase{"MappedLoopback", "::ffff:7f00:1", false},
        AddressCase{"LinkLocal", "fe80::1", false}, AddressCase{"SiteLocal", "fec0::1", false},
        AddressCase{"UniqueLocal", "fd12:3456::1", false},
        AddressCase{"UniqueLocalLow", "fc00::1", false}, AddressCase{"Multicast", "ff02::1", false},
        AddressCase{"Documentation", "2001:db8::1", false},
        AddressCase{"NewDocumentation", "3fff:0fff::1", false},
        AddressCase{"Teredo", "2001::1", false}, AddressCase{"Orchid", "2001:20::1", false},
        AddressCase{"SixToFourPublic", "2002:808:808::1", true},
        AddressCase{"SixToFourPrivate", "2002:a00:1::1", false},
        AddressCase{"SixToFourLoopback", "2002:7f00:1::1", false},
        AddressCase{"Nat64Public", "64:ff9b::8.8.8.8", true},
        AddressCase{"Nat64Private", "64:ff9b::10.0.0.1", false},
        AddressCase{"LocalNat64", "64:ff9b:1::808:808", false},
        AddressCase{"Discard", "100::1", false}, AddressCase{"SegmentRouting", "5f00::1", false}));

TEST(Address, OnlyNumbersAreOne) {
  for (const char* text : {"", "localhost", "1.2.3", "0x7f.0.0.1", "127.1", "2130706433", "[::1]",
                           "fe80::1%eth0", "1.2.3.4 ", "1.2.3.256"}) {
    EXPECT_FALSE(Address::parse(text)) << text;
  }
}

TEST(Address, ComesFromASocketsAddress) {
  sockaddr_storage storage{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  v4->sin_family = AF_INET;
  ::inet_pton(AF_INET, "10.1.2.3", &v4->sin_addr);
  EXPECT_EQ(Address::of(reinterpret_cast<sockaddr&>(storage)), Address::parse("10.1.2.3"));

  storage = {};
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  v6->sin6_family = AF_INET6;
  ::inet_pton(AF_INET6, "::ffff:10.1.2.3", &v6->sin6_addr);
  EXPECT_EQ(Address::of(reinterpret_cast<sockaddr&>(storage)), Address::parse("10.1.2.3"));

  storage.ss_family = AF_UNIX;
  EXPECT_FALSE(Address::of(reinterpret_cast<sockaddr&>(storage)));
}

TEST(Address, PrefixesAreOfOneKind) {
  const Address v4 = *Address::parse("192.168.7.9");
  EXPECT_TRUE(v4.shares_prefix(*Address::parse("192.168.0.0"), 16));
  EXPECT_TRUE(v4.shares_prefix(*Address::parse("192.168.6.0"), 23));
  EXPECT_FALSE(v4.shares_prefix(*Address::parse("192.168.6.0"), 24));
  EXPECT_TRUE(v4.shares_prefix(*Address::parse("8.8.8.8"), 0));
  EXPECT_FALSE(v4.shares_prefix(*Address::parse("::"), 0));
  EXPECT_FALSE(v4.shares_prefix(v4, 33));
  EXPECT_TRUE(v4.shares_prefix(v4, 32));
  EXPECT_EQ(v4.text(), "192.168.7.9");
  EXPECT_EQ(Address::parse("FE80::01")->text(), "fe80::1");
}

}  // namespace
}  // namespace hearth::fetcher
