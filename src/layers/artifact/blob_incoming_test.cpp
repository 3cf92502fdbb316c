// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "base/sha256.h"
#include "base/testing/forwarding_files.h"
#include "layers/artifact/blob_store.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using namespace literals;

// Others fill it: of each 16 MiB that somebody asks about, it has that much less.
class FillingDisk : public testing::ForwardingFiles {
 public:
  Result<Space> space(const std::string& path) const override {
    if (!info(path)) return fail(ErrorCode::kNotFound, "no such file");
    free_ = free_ - 16_MiB;
    return Space{free_, 1024_MiB};
  }

 private:
  mutable Bytes free_ = 64_MiB;
};

TEST(IncomingBlob, OfUnknownLengthEndsBeforeTheDiskIsFull) {
  const testing::TempDir dir;
  const FillingDisk disk;
  const BlobStore store{disk, dir / "models"};
  auto incoming = store.receive(hex_of(Sha256{}.finish()), Bytes{});
  ASSERT_TRUE(incoming) << incoming.error().message();
  const std::string piece(std::size_t{4} << 20, 'x');
  int taken = 0;
  Result<> written;
  while (taken < 16 && (written = incoming->write(piece))) ++taken;
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(taken, 3) << "12 MiB, of which there was known to be room";
  incoming = fail(ErrorCode::kCancelled, "");
  EXPECT_TRUE(std::filesystem::is_empty(dir / "models/incoming"));
}

TEST(IncomingBlob, OfKnownLengthIsAskedAboutOnce) {
  const testing::TempDir dir;
  const FillingDisk disk;
  const BlobStore store{disk, dir / "models"};
  const std::string bytes(std::size_t{24} << 20, 'x');
  const std::string sha256 = hex_of(Sha256{}.add(bytes).finish());
  auto incoming = store.receive(sha256, Bytes{bytes.size()});
  ASSERT_TRUE(incoming) << incoming.error().message();
  for (std::size_t at = 0; at < bytes.size(); at += std::size_t{4} << 20) {
    ASSERT_TRUE(incoming->write(std::string_view{bytes}.substr(at, std::size_t{4} << 20)));
  }
  EXPECT_TRUE(incoming->finish());
}

}  // namespace
}  // namespace hearth
