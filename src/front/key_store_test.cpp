// SPDX-License-Identifier: Apache-2.0
#include "front/key_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/temporary_directory.h"

namespace hearth::front {
namespace {

class NoRandom final : public SecureRandom {
 public:
  Result<> fill(std::span<unsigned char>) const override {
    return fail(ErrorCode::kUnavailable, "no entropy");
  }
};

class FixedRandom final : public SecureRandom {
 public:
  Result<> fill(std::span<unsigned char> into) const override {
    std::ranges::fill(into, static_cast<unsigned char>(0xfb));
    return {};
  }
};

class KeyStoreTest : public testing::Test {
 protected:
  KeyStore open() {
    auto store = KeyStore::open(path_, Clock::real());
    EXPECT_TRUE(store);
    return std::move(*store);
  }
  std::string all_bytes() const {
    std::ostringstream out;
    for (const char* suffix : {"", "-wal"}) out << std::ifstream{path_ + suffix}.rdbuf();
    return out.str();
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/keys.db";
};

TEST_F(KeyStoreTest, KeepsDigestsAndNoSecret) {
  std::string secret;
  {
    KeyStore store = open();
    const auto key = store.add("laptop", Role::kAdmin);
    ASSERT_TRUE(key);
    secret = key->secret;
    EXPECT_TRUE(std::regex_match(secret, std::regex{"hearth-[A-Za-z0-9_-]{43}"})) << secret;
    EXPECT_TRUE(std::regex_match(key->info.id, std::regex{"k[0-9a-f]{12}"})) << key->info.id;
    EXPECT_EQ(all_bytes().find(secret.substr(7)), std::string::npos);
    EXPECT_NE(all_bytes().find(digest_of(secret)), std::string::npos);
  }
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  const KeyRing ring{*open().list()};
  const auto found = ring.check(secret);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "laptop");
  EXPECT_EQ(found->role, Role::kAdmin);
  EXPECT_GT(found->created_at_us, 0);
}

TEST_F(KeyStoreTest, NoTwoKeysAreAlike) {
  KeyStore store = open();
  const auto a = store.add("a", Role::kAdmin);
  const auto b = store.add("b", Role::kUse);
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->secret, b->secret);
  EXPECT_NE(a->info.id, b->info.id);
}

struct NameCase {
  const char* label;
  std::string name;
  bool taken;
};
class KeyName : public testing::TestWithParam<NameCase> {};
TEST_P(KeyName, IsTakenOrRefused) {
  auto store = KeyStore::open(":memory:", Clock::real());
  ASSERT_TRUE(store);
  const auto key = store->add(GetParam().name, Role::kAdmin);
  ASSERT_EQ(key.has_value(), GetParam().taken);
  if (key) return;
  EXPECT_EQ(key.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(key.error().field(), "name");
}
std::string repeated(std::string_view text, int times) {
  std::string out;
  while (times-- > 0) out += text;
  return out;
}
INSTANTIATE_TEST_SUITE_P(
    Names, KeyName,
    testing::Values(NameCase{"Plain", "laptop", true}, NameCase{"Inner", "Ann's phone/2", true},
                    NameCase{"Umlauts",
                             "K\xC3\xBC"
                             "che",
                             true},
                    NameCase{"Longest", repeated("\xC3\xA9", 64), true},
                    NameCase{"TooLong", repeated("\xC3\xA9", 65), false},
                    NameCase{"Empty", "", false}, NameCase{"Blank", " ", false},
                    NameCase{"SpaceBefore", " a", false}, NameCase{"SpaceAfter", "a ", false},
                    NameCase{"Newline", "a\nb", false}, NameCase{"Escape", "a\x1b[31m", false},
                    NameCase{"C1",
                             "a\xC2\x9B"
                             "31m",
                             false},
                    NameCase{"Nul", std::string(1, '\0'), false},
                    NameCase{"NoUtf8", "a\xFF", false}),
    [](const auto& test) { return test.param.label; });

TEST_F(KeyStoreTest, NamesAreUnique) {
  KeyStore store = open();
  ASSERT_TRUE(store.add("a", Role::kAdmin));
  const auto again = store.add("a", Role::kUse);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::kConflict);
}

TEST_F(KeyStoreTest, TheFirstKeyIsAnAdmins) {
  KeyStore store = open();
  for (const Role role : {Role::kUse, Role::kReadOnly}) {
    const auto key = store.add("a", role);
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().code(), ErrorCode::kConflict);
  }
  EXPECT_TRUE(store.add("a", Role::kAdmin));
  EXPECT_TRUE(store.add("b", Role::kUse));
}

TEST_F(KeyStoreTest, TheLastAdminStaysWhileOthersDo) {
  KeyStore store = open();
  const auto admin = store.add("admin", Role::kAdmin);
  const auto user = store.add("user", Role::kUse);
  ASSERT_TRUE(admin && user);
  const auto refused = store.remove("admin");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kConflict);
  ASSERT_TRUE(store.add("second", Role::kAdmin));
  EXPECT_TRUE(store.remove(admin->info.id));
  EXPECT_TRUE(store.remove("user"));
  EXPECT_TRUE(store.remove("second"));
  EXPECT_TRUE(store.list()->empty());
}

TEST_F(KeyStoreTest, AnIdComesBeforeANameLikeIt) {
  KeyStore store = open();
  const auto first = store.add("first", Role::kAdmin);
  ASSERT_TRUE(first);
  ASSERT_TRUE(store.add(first->info.id, Role::kAdmin));
  ASSERT_TRUE(store.remove(first->info.id));
  const auto left = store.list();
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().info.name, first->info.id);
}

TEST_F(KeyStoreTest, WhatIsNotThereIsNotRemoved) {
  const auto removed = open().remove("nobody");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code(), ErrorCode::kNotFound);
}

TEST_F(KeyStoreTest, WithoutEntropyThereIsNoKey) {
  const NoRandom none;
  auto store = KeyStore::open(":memory:", Clock::real(), none);
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->add("a", Role::kAdmin));
  EXPECT_TRUE(store->list()->empty());
}

TEST_F(KeyStoreTest, EveryBitOfTheSecretIsUsed) {
  const FixedRandom fixed;
  auto store = KeyStore::open(":memory:", Clock::real(), fixed);
  const auto key = store->add("a", Role::kAdmin);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->secret, "hearth--_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s");
}

TEST_F(KeyStoreTest, ADamagedFileIsNotReplaced) {
  std::ofstream{path_} << std::string(4096, 'g');
  const auto store = KeyStore::open(path_, Clock::real());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(all_bytes(), std::string(4096, 'g'));
}

}  // namespace
}  // namespace hearth::front
