// SPDX-License-Identifier: Apache-2.0
#include "layers/pages/device_book.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/testing/faulty_files.h"
#include "layers/testing/mutated_text.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using namespace literals;
using testing::TempDir;

DeviceBook some_book() {
  ReadStyle backward;
  backward.direction = ReadDirection::kBackward;
  backward.readers = 8;
  backward.block = 1_MiB;
  ReadStyle direct;
  direct.way = ReadWay::kDirect;
  return {{"disk:a \"quoted\"", {{backward, 1.5e9, 3}, {direct, 2e9, 1}}}, {"net:nas", {}}};
}

void expect_same(const DeviceBook& a, const DeviceBook& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [key, rates] : a) {
    ASSERT_TRUE(b.contains(key));
    const DeviceRates& others = b.at(key);
    ASSERT_EQ(rates.size(), others.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
      EXPECT_EQ(rates[i].style, others[i].style);
      EXPECT_EQ(rates[i].bytes_per_s, others[i].bytes_per_s);
      EXPECT_EQ(rates[i].reads, others[i].reads);
    }
  }
}

TEST(DeviceBook, ComesBackAsItWas) {
  const auto back = decode_device_book(encode(some_book()));
  ASSERT_TRUE(back) << back.error().message();
  expect_same(*back, some_book());
}

TEST(DeviceBook, IsKeptInAFile) {
  const TempDir dir;
  const std::string path = dir / "devices.json";
  EXPECT_TRUE(load_device_book(Files::real(), path).empty());
  ASSERT_TRUE(save_device_book(Files::real(), path, some_book()));
  ASSERT_TRUE(save_device_book(Files::real(), path, some_book()));
  expect_same(load_device_book(Files::real(), path), some_book());
  EXPECT_EQ(Files::real().list(dir.path())->size(), 1U);
}

TEST(DeviceBook, ABrokenOneIsSetAside) {
  const TempDir dir;
  const std::string path = dir.write("devices.json", "{\"version\":1,\"devices\":[{}]}");
  EXPECT_TRUE(load_device_book(Files::real(), path).empty());
  EXPECT_TRUE(Files::real().info(path + ".bad"));
  EXPECT_FALSE(Files::real().info(path));
}

TEST(DeviceBook, AWriteThatFailsLeavesTheOldOne) {
  for (int call = 1; call <= 6; ++call) {
    const TempDir dir;
    const std::string path = dir / "devices.json";
    ASSERT_TRUE(save_device_book(Files::real(), path, some_book()));
    testing::FaultyFiles files{1, dir.path()};
    files.fail_change(call, ErrorCode::kNoSpace);
    const Result<> saved = save_device_book(files, path, {});
    const DeviceBook now = load_device_book(Files::real(), path);
    if (saved || now.empty()) continue;  // the failing call was not reached, or came last
    expect_same(now, some_book());
  }
}

struct BadCase {
  const char* name;
  const char* text;
};
void PrintTo(const BadCase& c, std::ostream* out) { *out << c.name; }
class BadBooks : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadBooks, AreRefused) {
  const auto book = decode_device_book(GetParam().text);
  ASSERT_FALSE(book);
  EXPECT_EQ(book.error().code(), ErrorCode::kCorrupt);
}
#define RATE(way, readers, rate)                                                         \
  R"({"version":1,"devices":[{"key":"a","styles":[{"way":)" way R"(,"readers":)" readers \
  R"(,"direction":"forward","block":4096,"bytes_per_s":)" rate R"(,"reads":1}]}]})"
INSTANTIATE_TEST_SUITE_P(
    Pages, BadBooks,
    ::testing::Values(BadCase{"NoJson", "["}, BadCase{"Empty", ""},
                      BadCase{"OtherVersion", R"({"version":2,"devices":[]})"},
                      BadCase{"NoList", R"({"version":1,"devices":{}})"},
                      BadCase{"NoKey", R"({"version":1,"devices":[{"styles":[]}]})"},
                      BadCase{"UnknownWay", RATE("\"magic\"", "1", "1.0")},
                      BadCase{"NoReaders", RATE("\"direct\"", "0", "1.0")},
                      BadCase{"ManyReaders", RATE("\"direct\"", "100000", "1.0")},
                      BadCase{"NegativeRate", RATE("\"direct\"", "1", "-1.0")},
                      BadCase{"HugeRate", RATE("\"direct\"", "1", "1e300")},
                      BadCase{"RateIsText", RATE("\"direct\"", "1", "\"fast\"")}),
    [](const auto& test) { return test.param.name; });
#undef RATE

TEST(DeviceBook, NoTextOfAnyKindIsTakenBadly) {
  Random random{11};
  const std::string good = encode(some_book());
  for (int i = 0; i < 2000; ++i) (void)decode_device_book(testing::mutated(good, random));
}

}  // namespace
}  // namespace hearth
