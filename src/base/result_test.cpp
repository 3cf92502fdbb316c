// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace hearth {
namespace {

TEST(Result, MessageReadsAsAPath) {
  Result<int> result = fail(ErrorCode::kNotFound, "no such file");
  result = Failed{std::move(result).error().during("open q.gguf")};
  result = Failed{std::move(result).error().during("load qwen")};
  EXPECT_EQ(result.error().message(), "load qwen: open q.gguf: no such file");
  EXPECT_EQ(result.error().code(), ErrorCode::kNotFound);
}

TEST(Result, FieldAndCountsSurviveDuring) {
  const Error error = Error{ErrorCode::kTooLong, "too long"}
                          .at("messages[2].content")
                          .with_counts({9000, 8192})
                          .during("chat");
  EXPECT_EQ(error.field(), "messages[2].content");
  EXPECT_EQ(error.counts().prompt_tokens, 9000);
  EXPECT_EQ(error.counts().context_tokens, 8192);
  EXPECT_EQ(error.message(), "chat: too long");
}

TEST(Result, ErrnoChoosesTheCode) {
  EXPECT_EQ(fail_errno("a", ENOENT).value().code(), ErrorCode::kNotFound);
  EXPECT_EQ(fail_errno("a", ENOSPC).value().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(fail_errno("a", EIO).value().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(fail_errno("a", EIO, ErrorCode::kInternal).value().code(), ErrorCode::kInternal);
  EXPECT_EQ(fail_errno("open x", ENOENT).value().message(), "open x: No such file or directory");
}

TEST(Result, EveryCodeHasANameThatLeadsBack) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_EQ(error_code_named(name_of(code)), code) << name_of(code);
  }
  EXPECT_EQ(error_code_named("no_such_code"), ErrorCode::kInternal);
}

}  // namespace
}  // namespace hearth
