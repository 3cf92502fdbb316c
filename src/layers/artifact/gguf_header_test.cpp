// SPDX-License-Identifier: Apache-2.0
#include "layers/artifact/gguf_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>

#include "layers/testing/gguf_builder.h"
#include "layers/testing/temp_dir.h"

namespace hearth {
namespace {

using testing::GgufBuilder;
using ::testing::HasSubstr;
using testing::TempDir;

Result<GgufHeader> read_bytes(std::string_view bytes) {
  const TempDir dir;
  return read_gguf_header(Files::real(), dir.write("x.gguf", bytes));
}

TEST(GgufHeader, TellsWhatASmallModelSays) {
  const Result<GgufHeader> header = read_bytes(GgufBuilder::small_model().bytes());
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_EQ(header->version, 3U);
  EXPECT_EQ(header->facts.architecture, "llama");
  EXPECT_EQ(header->facts.name, "Tiny");
  EXPECT_EQ(header->facts.license, "apache-2.0");
  EXPECT_EQ(header->facts.quantisation, "Q4_K_M");
  EXPECT_EQ(header->facts.parameters, 64U * 32 + 256 * 16 + 64);
  EXPECT_EQ(header->facts.context_length, 2048U);
  EXPECT_EQ(header->facts.embedding_length, 64U);
  EXPECT_EQ(header->facts.block_count, 1U);
  EXPECT_TRUE(header->facts.has_chat_template);
  EXPECT_TRUE(header->facts.has_tokenizer);
  EXPECT_FALSE(header->facts.pools);
  EXPECT_EQ(header->digest.size(), 64U);
}

TEST(GgufHeader, PlacesTheTensorsInFileOrder) {
  const std::string bytes = GgufBuilder::small_model().bytes();
  const Result<GgufHeader> header = read_bytes(bytes);
  ASSERT_TRUE(header);
  ASSERT_EQ(header->tensors.size(), 3U);
  EXPECT_EQ(header->tensors[0].name, "token_embd.weight");
  EXPECT_EQ(header->tensors[0].range.offset, header->data_begin);
  EXPECT_EQ(header->tensors[1].range.size, Bytes{16 * 144});
  EXPECT_EQ(header->data_end, bytes.size());
  const std::vector<Range> whole{Range{0, Bytes{bytes.size()}}};
  EXPECT_EQ(header->load_ranges(), whole);
}

TEST(GgufHeader, LeavesLargeGapsOutOfTheLoad) {
  GgufBuilder file;
  file.text("general.architecture", "llama").tensor("pad", {1 << 16}, 24, 1 << 16);
  std::string bytes = file.bytes();
  GgufBuilder sparse;
  sparse.text("general.architecture", "llama").info("far", {32}, 24, 1 << 15);
  const std::string head = sparse.bytes();
  bytes.replace(0, head.size(), head);
  const Result<GgufHeader> header = read_bytes(bytes);
  ASSERT_TRUE(header) << header.error().message();
  ASSERT_EQ(header->load_ranges().size(), 2U);
  EXPECT_EQ(header->load_ranges()[1].size, Bytes{32});
}

TEST(GgufHeader, DigestFollowsTheHeaderOnly) {
  std::string bytes = GgufBuilder::small_model().bytes();
  const std::string first = read_bytes(bytes)->digest;
  bytes.back() ^= 1;
  EXPECT_EQ(read_bytes(bytes)->digest, first);
  bytes[bytes.find("Tiny")] = 'W';
  EXPECT_NE(read_bytes(bytes)->digest, first);
}

TEST(GgufHeader, GuessesTheQuantisationFromTheTensors) {
  GgufBuilder file;
  file.text("general.architecture", "llama")
      .tensor("a", {256, 64}, 12, 64 * 144)
      .tensor("b", {32}, 0, 128);
  EXPECT_EQ(read_bytes(file.bytes())->facts.quantisation, "Q4_K");
}

TEST(GgufHeader, MakesTextsPrintable) {
  GgufBuilder file;
  file.text("general.architecture", "llama")
      .text("general.name",
            "a\x1b[2J\xff"
            "b");
  EXPECT_EQ(read_bytes(file.bytes())->facts.name,
            "a [2J\xef\xbf\xbd"
            "b");
}

struct HostileCase {
  const char* name;
  std::string bytes;
  const char* reason;
};
void PrintTo(const HostileCase& c, std::ostream* out) { *out << c.name; }

GgufBuilder llama() {
  GgufBuilder file;
  file.text("general.architecture", "llama");
  return file;
}
std::string cut(int percent) {
  const std::string whole = GgufBuilder::small_model().bytes();
  return whole.substr(0, whole.size() * static_cast<std::size_t>(percent) / 100);
}
std::string number(std::uint64_t value) {
  return std::string{reinterpret_cast<const char*>(&value), sizeof(value)};
}

class HostileGguf : public ::testing::TestWithParam<HostileCase> {};

TEST_P(HostileGguf, IsRefusedWithItsReasonAndLittleMemory) {
  struct rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  const Result<GgufHeader> header = read_bytes(GetParam().bytes);
  ::getrusage(RUSAGE_SELF, &after);
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(header.error().message(), HasSubstr(GetParam().reason));
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024) << "KiB";
}

constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;

INSTANTIATE_TEST_SUITE_P(
    Files, HostileGguf,
    ::testing::Values(
        HostileCase{"Empty", "", "the file is empty"},
        HostileCase{"ThreeBytes", "GGU", "the file ends inside the first four bytes"},
        HostileCase{"CutAt1", cut(1), "only 90 bytes follow"},
        HostileCase{"CutInAKey", GgufBuilder::small_model().bytes().substr(0, 400),
                    "the file ends"},
        HostileCase{"CutAt10", cut(10), "but the file has"},
        HostileCase{"CutAt50", cut(50), "but the file has"},
        HostileCase{"CutAt99", cut(99), "but the file has"},
        HostileCase{"BadMagic", "rubbish", "not a GGUF file: the first bytes are 72 75 62 62"},
        HostileCase{"VersionFour", GgufBuilder{}.version(4).bytes(), "version 4"},
        HostileCase{"TensorCount", llama().claim_tensors(kHuge).bytes(), "tensors"},
        HostileCase{"KeyCount", llama().claim_keys(kHuge).bytes(), "metadata keys"},
        HostileCase{"KeyCountOneTooMany", GgufBuilder{}.claim_keys(2).bytes(), "metadata"},
        HostileCase{"TextLength", llama().raw("general.name", 8, number(kHuge << 3)).bytes(),
                    "the file ends inside metadata key \"general.name\""},
        HostileCase{"SkippedTextLength", llama().raw("x", 8, number(~std::uint64_t{0})).bytes(),
                    "the file ends inside metadata key \"x\""},
        HostileCase{"ArrayLength", llama().array("x", 4, kHuge << 2).bytes(), "values in metadata"},
        HostileCase{"TextArrayLength", llama().array("x", 8, kHuge).bytes(), "values in metadata"},
        HostileCase{"NestedArray", llama().array("x", 9, 1).bytes(), "array of arrays"},
        HostileCase{"UnknownKeyType", llama().raw("x", 13, "").bytes(), "unknown type 13"},
        HostileCase{"UnknownArrayType", llama().array("x", 99, 0).bytes(), "unknown type 99"},
        HostileCase{"DuplicateKey", llama().u32("x", 1).u32("x", 2).bytes(), "twice"},
        HostileCase{"EmptyKey", llama().u32("", 1).bytes(), "key is empty"},
        HostileCase{"NoArchitecture", GgufBuilder{}.u32("x", 1).bytes(), "general.architecture"},
        HostileCase{"Alignment", llama().u32("general.alignment", 3).bytes(), "alignment is 3"},
        HostileCase{"AlignmentZero", llama().u32("general.alignment", 0).bytes(),
                    "alignment is 0"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Tensors, HostileGguf,
    ::testing::Values(
        HostileCase{"ZeroDimension", llama().info("t", {32, 0}, 0, 0).bytes(), "dimension of zero"},
        HostileCase{"ElementsOverflow", llama().info("t", {kHuge, kHuge}, 0, 0).bytes(),
                    "more elements than can be counted"},
        HostileCase{"BytesOverflow", llama().info("t", {kHuge, 4}, 0, 0).bytes(),
                    "more elements than can be counted"},
        HostileCase{"FiveDimensions", llama().info("t", {1, 1, 1, 1, 1}, 0, 0).bytes(),
                    "5 dimensions"},
        HostileCase{"UnknownTensorType", llama().info("t", {32}, 4, 0).bytes(), "unknown type 4"},
        HostileCase{"TypeOutOfRange", llama().info("t", {32}, 1 << 30, 0).bytes(), "unknown type"},
        HostileCase{"OddRow", llama().info("t", {33}, 2, 0).bytes(), "rows of 33 values"},
        HostileCase{"OffsetPastTheEnd", llama().info("t", {32}, 0, 1 << 20).bytes(),
                    "tensor t ends at byte"},
        HostileCase{"OffsetWraps", llama().info("t", {32}, 0, ~std::uint64_t{31}).bytes(),
                    "beyond any file's end"},
        HostileCase{"OffsetOdd", llama().info("t", {32}, 0, 7).bytes(), "not a multiple of 32"},
        HostileCase{"SameName", llama().tensor("a", {32}, 0, 128).tensor("a", {8}, 0, 32).bytes(),
                    "tensor a stands there twice"},
        HostileCase{"Overlap", llama().tensor("a", {32}, 0, 128).info("b", {8}, 0, 32).bytes(),
                    "overlaps"}),
    [](const auto& test) { return test.param.name; });

TEST(GgufHeader, RefusesADirectoryAndAFifo) {
  const TempDir dir;
  ASSERT_EQ(::mkdir((dir / "d.gguf").c_str(), 0700), 0);
  ASSERT_EQ(::mkfifo((dir / "f.gguf").c_str(), 0600), 0);
  const Result<GgufHeader> directory = read_gguf_header(Files::real(), dir / "d.gguf");
  const Result<GgufHeader> fifo = read_gguf_header(Files::real(), dir / "f.gguf");
  const Result<GgufHeader> nothing = read_gguf_header(Files::real(), dir / "n.gguf");
  EXPECT_THAT(directory.error().message(), HasSubstr("directory"));
  EXPECT_THAT(fifo.error().message(), HasSubstr("pipe"));
  EXPECT_EQ(nothing.error().code(), ErrorCode::kNotFound);
}

// Whatever single byte of the header is wrong, reading ends with an answer.
TEST(GgufHeader, SurvivesEveryFlippedByte) {
  const TempDir dir;
  const std::string sound = GgufBuilder::small_model().bytes();
  const std::uint64_t header_size = read_bytes(sound)->data_begin;
  for (std::uint64_t at = 0; at < header_size; ++at) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
    const Result<GgufHeader> header = read_gguf_header(Files::real(), dir.write("x.gguf", bytes));
    if (header) {
      EXPECT_LE(header->data_end, bytes.size()) << at;
    }
  }
}

struct RealCase {
  const char* file;
  const char* architecture;
  const char* quantisation;
};

class RealModel : public ::testing::TestWithParam<RealCase> {};

TEST_P(RealModel, IsRead) {
  const char* models = std::getenv("HEARTH_MODELS");
  const std::string path = std::string{models ? models : "build/models"} + "/" + GetParam().file;
  const Result<GgufHeader> header = read_gguf_header(Files::real(), path);
  if (!header && header.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << path;
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_EQ(header->facts.architecture, GetParam().architecture);
  EXPECT_EQ(header->facts.quantisation, GetParam().quantisation);
  EXPECT_GT(header->facts.parameters, 100'000'000U);
  EXPECT_EQ(header->data_end, header->file.size.count());
  EXPECT_TRUE(header->facts.has_tokenizer);
}

INSTANTIATE_TEST_SUITE_P(Models, RealModel,
                         ::testing::Values(RealCase{"gemma-3-270m-Q4_K_M.gguf", "gemma3", "Q4_K_M"},
                                           RealCase{"SmolLM2-135M-Instruct-Q4_1.gguf", "llama",
                                                    "Q4_1"}));

struct TemplateCase {
  const char* name;
  const char* text;
  bool tools;
  bool thinks;
};
class Templates : public ::testing::TestWithParam<TemplateCase> {};

TEST_P(Templates, AreToldByTheirWords) {
  GgufBuilder file;
  file.text("general.architecture", "llama").text("tokenizer.chat_template", GetParam().text);
  TempDir dir;
  const auto header = read_gguf_header(Files::real(), dir.write("m.gguf", file.bytes()));
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_TRUE(header->facts.has_chat_template);
  EXPECT_EQ(header->facts.template_tools, GetParam().tools);
  EXPECT_EQ(header->facts.template_thinks, GetParam().thinks);
}

INSTANTIATE_TEST_SUITE_P(
    Gguf, Templates,
    ::testing::Values(
        TemplateCase{"Plain", "{{ messages }}", false, false},
        TemplateCase{"Tools", "{% if tools %}{{ tools | tojson }}{% endif %}", true, false},
        TemplateCase{"Thinks", "{% if enable_thinking %}<think>{% endif %}", false, true}),
    [](const auto& test) { return std::string{test.param.name}; });

}  // namespace
}  // namespace hearth
