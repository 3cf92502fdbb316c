// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layers/artifact/artifact.h"
#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using testing::GgufBuilder;
using ::testing::HasSubstr;
using testing::TempDir;

struct KindCase {
  const char* name;
  std::string bytes;
  ErrorCode code;
  const char* what;    // it is
  const char* remedy;  // to do
};
void PrintTo(const KindCase& c, std::ostream* out) { *out << c.name; }

std::string raw(std::string_view text, std::size_t size = 600) {
  std::string bytes{text};
  bytes.resize(std::max(size, bytes.size()), 'x');
  return bytes;
}
std::string safetensors() {
  std::string bytes{"\x40\0\0\0\0\0\0\0", 8};
  return raw(bytes + R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F16"}})");
}

class Kinds : public ::testing::TestWithParam<KindCase> {};

TEST_P(Kinds, AreNamedWithWhatToDo) {
  const TempDir dir;
  const KindCase& c = GetParam();
  const auto artifact = inspect_artifact(Files::real(), dir.write("m.gguf", c.bytes));
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code(), c.code);
  EXPECT_THAT(artifact.error().message(), HasSubstr(c.what));
  EXPECT_THAT(artifact.error().message(), HasSubstr(c.remedy));
  EXPECT_THAT(artifact.error().message(), HasSubstr("m.gguf"));
}

constexpr ErrorCode kOther = ErrorCode::kUnsupported;
constexpr ErrorCode kBad = ErrorCode::kCorrupt;

INSTANTIATE_TEST_SUITE_P(
    Files, Kinds,
    ::testing::Values(
        KindCase{"Safetensors", safetensors(), kOther, "safetensors", "convert_hf_to_gguf.py"},
        KindCase{"Ggml", raw("lmgg"), kOther, "before GGUF", "pull a GGUF version"},
        KindCase{"Ggmf", raw("fmgg"), kOther, "before GGUF", "pull a GGUF version"},
        KindCase{"Ggjt", raw("tjgg"), kOther, "before GGUF", "pull a GGUF version"},
        KindCase{"Ggla", raw("algg"), kOther, "before GGUF", "pull a GGUF version"},
        KindCase{"TorchZip", raw("PK\x03\x04..............archive/data.pkl"), kOther, "PyTorch",
                 "convert_hf_to_gguf.py"},
        KindCase{"Zip", raw("PK\x03\x04..............model.gguf"), kOther, "zip archive",
                 "unpack it"},
        KindCase{"Gzip", raw("\x1f\x8b\x08"), kOther, "compressed", "unpack it"},
        KindCase{"Pickle", raw("\x80\x02}q"), kOther, "pickle", "pull a GGUF version"},
        KindCase{"Onnx", raw("\x08\x07\x12\x07pytorch"), kOther, "ONNX", "pull a GGUF version"},
        KindCase{"GgufOne", GgufBuilder{}.version(1).bytes(), kOther, "version 1", "pull a newer"},
        KindCase{"BigEndian", GgufBuilder{}.version(0x03000000).bytes(), kOther, "big-endian",
                 "gguf_convert_endian.py"},
        KindCase{"WebPage", raw("\n <!DOCTYPE html><html>"), kBad, "web page", "fetch the file"},
        KindCase{"LfsPointer", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n",
                 kBad, "Git LFS pointer", "git lfs pull"},
        KindCase{"Json", raw("{\"error\":\"gated\"}"), kBad, "JSON", "fetch the file"},
        KindCase{"Empty", "", kBad, "empty", "fetch it again"},
        KindCase{"Zeros", std::string(4096, '\0'), kBad, "zeros", "fetch it again"},
        KindCase{"Projector", GgufBuilder{}.text("general.architecture", "clip").bytes(), kOther,
                 "mmproj", "text model it belongs to"},
        KindCase{"Adapter",
                 GgufBuilder{}
                     .text("general.architecture", "llama")
                     .text("general.type", "adapter")
                     .bytes(),
                 kOther, "LoRA adapter", "ADAPTER this file"}),
    [](const auto& test) { return test.param.name; });

TEST(FileKind, LetsModelsPass) {
  EXPECT_FALSE(refusal_of(GgufBuilder::small_model().bytes()));
  EXPECT_FALSE(refusal_of(GgufBuilder{}.version(2).bytes()));
}

}  // namespace
}  // namespace hearth
