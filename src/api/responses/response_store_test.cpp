// SPDX-License-Identifier: Apache-2.0
#include "api/responses/response_store.h"

#include <gtest/gtest.h>

#include "base/sim_event_loop.h"

namespace hearth::api::responses {
namespace {

class ResponseStoreTest : public testing::Test {
 protected:
  ResponseStore open(StoreLimits limits = {}) {
    auto store = ResponseStore::open(":memory:", loop.clock(), limits);
    EXPECT_TRUE(store);
    return std::move(*store);
  }
  static StoredResponse response(std::string id, std::string previous = "") {
    return {std::move(id), "k", std::move(previous), R"({"output":[]})", "[]"};
  }
  void put(ResponseStore& store, const StoredResponse& response) {
    EXPECT_TRUE(store.put(response));
    loop.run_for(std::chrono::seconds{1});
  }

  SimEventLoop loop;
};

TEST_F(ResponseStoreTest, GivesBackWhatWasPut) {
  ResponseStore store = open();
  put(store, {"a", "k", "z", R"({"x":1})", "[2]"});
  const auto found = store.get("k", "a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->previous, "z");
  EXPECT_EQ(found->body, R"({"x":1})");
  EXPECT_EQ(found->input, "[2]");
}

TEST_F(ResponseStoreTest, ShowsAKeyOnlyItsOwn) {
  ResponseStore store = open();
  put(store, response("a"));
  for (const char* key : {"", "other"}) {
    EXPECT_EQ(store.get(key, "a").error().code(), ErrorCode::kNotFound);
    EXPECT_EQ(store.conversation(key, "a").error().code(), ErrorCode::kNotFound);
    EXPECT_EQ(store.remove(key, "a").error().code(), ErrorCode::kNotFound);
  }
  EXPECT_TRUE(store.get("k", "a"));
}

TEST_F(ResponseStoreTest, FollowsAConversation) {
  ResponseStore store = open();
  put(store, response("a"));
  put(store, response("b", "a"));
  put(store, response("c", "b"));
  const auto turns = store.conversation("k", "c");
  ASSERT_TRUE(turns);
  ASSERT_EQ(turns->size(), 3U);
  EXPECT_EQ(turns->front().id, "a");
  EXPECT_TRUE(store.remove("k", "b"));
  EXPECT_EQ(store.conversation("k", "c").error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(store.get("k", "c"));
}

TEST_F(ResponseStoreTest, OneThatFollowsItselfEnds) {
  ResponseStore store = open();
  put(store, response("a", "a"));
  EXPECT_FALSE(store.conversation("k", "a"));
}

TEST_F(ResponseStoreTest, ForgetsWhatWasUsedLeastLately) {
  ResponseStore store = open({.rows = 3});
  put(store, response("a"));
  put(store, response("b", "a"));
  put(store, response("c"));
  EXPECT_TRUE(store.conversation("k", "b"));
  loop.run_for(std::chrono::seconds{1});
  put(store, response("d"));
  EXPECT_FALSE(store.get("k", "c"));
  for (const char* id : {"a", "b", "d"}) EXPECT_TRUE(store.get("k", id)) << id;
}

TEST_F(ResponseStoreTest, KeepsWithinItsBytes) {
  ResponseStore store = open({.bytes = Bytes{1000}});
  for (int i = 0; i < 20; ++i) {
    StoredResponse one = response("r" + std::to_string(i));
    one.input = std::string(200, ' ') + "[]";
    put(store, one);
  }
  EXPECT_FALSE(store.get("k", "r15"));
  EXPECT_TRUE(store.get("k", "r16"));
  StoredResponse large = response("large");
  large.input = std::string(2000, ' ') + "[]";
  put(store, large);
  EXPECT_FALSE(store.get("k", "large"));
}

TEST_F(ResponseStoreTest, ForgetsWhatNobodyUses) {
  ResponseStore store = open({.unused = std::chrono::hours{2}});
  put(store, response("a"));
  put(store, response("b"));
  loop.run_for(std::chrono::hours{1});
  EXPECT_TRUE(store.conversation("k", "b"));
  loop.run_for(std::chrono::minutes{90});
  put(store, response("c"));
  EXPECT_FALSE(store.get("k", "a"));
  EXPECT_TRUE(store.get("k", "b"));
}

}  // namespace
}  // namespace hearth::api::responses
