// SPDX-License-Identifier: Apache-2.0
// LoRA files beside a model.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>

#include "base/temporary_directory.h"
#include "engine/test_models.h"
#include "worker/test_front.h"

namespace hearth::worker {
namespace {

using test::greedy;
using test::TestFront;

constexpr const char* kKing = "Once upon a time there was a king who lived in";

// A LoRA of rank 1 over the first block's queries.
struct Lora {
  const char* type = "adapter";
  const char* architecture = "llama";
  std::uint64_t inputs = 576;
  std::uint64_t outputs = 576;
  float strength = 0;
};

template <class T>
void put(std::string& out, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  out.append(raw, sizeof(T));
}

void put_text(std::string& out, const std::string& text) {
  put(out, std::uint64_t{text.size()});
  out += text;
}

void put_pair(std::string& out, const std::string& key, const std::string& value) {
  put_text(out, key);
  put(out, std::uint32_t{8});
  put_text(out, value);
}

void put_tensor(std::string& out, const std::string& name,
                const std::array<std::uint64_t, 2>& dimensions, std::uint64_t offset) {
  put_text(out, name);
  put(out, std::uint32_t{2});
  for (const std::uint64_t dimension : dimensions) put(out, dimension);
  put(out, std::uint32_t{0});
  put(out, offset);
}

std::string gguf_of(const Lora& lora) {
  std::string out = "GGUF";
  put(out, std::uint32_t{3});
  put(out, std::uint64_t{2});  // tensors
  put(out, std::uint64_t{4});  // pairs
  put_pair(out, "general.type", lora.type);
  put_pair(out, "general.architecture", lora.architecture);
  put_pair(out, "adapter.type", "lora");
  put_text(out, "adapter.lora.alpha");
  put(out, std::uint32_t{6});
  put(out, 1.0F);
  const std::string name = "blk.0.attn_q.weight";
  const std::uint64_t second = (lora.inputs * sizeof(float) + 31) / 32 * 32;
  put_tensor(out, name + ".lora_a", {lora.inputs, 1}, 0);
  put_tensor(out, name + ".lora_b", {1, lora.outputs}, second);
  out.resize((out.size() + 31) / 32 * 32);
  const std::size_t begin = out.size();
  for (std::uint64_t i = 0; i < lora.inputs; ++i) put(out, i % 2 == 0 ? 1.0F : -0.5F);
  out.resize(begin + second);
  for (std::uint64_t i = 0; i < lora.outputs; ++i) {
    put(out, lora.strength * static_cast<float>(static_cast<int>(i * 7919 % 13) - 6));
  }
  return out;
}

class Adapters : public testing::Test {
 protected:
  std::string write(const Lora& lora) {
    const std::string path = directory_.path() + "/" + std::to_string(++files_) + ".gguf";
    std::ofstream{path, std::ios::binary} << gguf_of(lora);
    return path;
  }
  // What the model writes with these.
  static std::string text_with(const std::string& model, const std::vector<std::string>& adapters) {
    TestFront front;
    front.open(model, {}, adapters);
    front.load();
    return front.generate(greedy(kKing, 12)).text;
  }

  TemporaryDirectory directory_;
  int files_ = 0;
};

TEST_F(Adapters, ChangeWhatIsWrittenByTheirWeight) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  const std::string plain = text_with(path, {});
  Lora strong;
  strong.strength = 3;
  EXPECT_EQ(text_with(path, {write({})}), plain);
  const std::string changed = text_with(path, {write(strong)});
  EXPECT_NE(changed, plain);
  EXPECT_EQ(text_with(path, {write({}), write(strong)}), changed);
}

TEST_F(Adapters, ChangeEmbeddingsToo) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  const auto vector_with = [&path](const std::vector<std::string>& adapters) {
    TestFront front;
    front.open(path, {}, adapters);
    front.load();
    front.send(wire::FrameType::kEmbed, 1, wire::encode(wire::EmbedMessage{{"a king"}, false}));
    return front.collect(1)[1].embedded.vectors.at(0);
  };
  Lora strong;
  strong.strength = 3;
  const std::vector<float> plain = vector_with({});
  EXPECT_EQ(vector_with({write({})}), plain);
  EXPECT_NE(vector_with({write(strong)}), plain);
}

struct Wrong {
  const char* name;
  Lora lora;
  const char* said;
};
class WrongAdapter : public Adapters, public testing::WithParamInterface<Wrong> {};

TEST_P(WrongAdapter, IsAClearError) {
  HEARTH_MODEL_OR_SKIP(path, engine::test::kSmol);
  TestFront front;
  front.open(path, {}, {write({}), write(GetParam().lora)});
  front.send(wire::FrameType::kLoad, 0);
  const wire::Frame frame = front.next(wire::FrameType::kLoaded);
  ASSERT_EQ(frame.type, wire::FrameType::kFailed);
  const auto failed = wire::decode_failed(frame.payload);
  EXPECT_EQ(failed->code, "corrupt");
  EXPECT_NE(failed->message.find("adapter 2 of 2"), std::string::npos) << failed->message;
  EXPECT_NE(failed->message.find(GetParam().said), std::string::npos) << failed->message;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongAdapter,
    testing::Values(Wrong{"AModel", {"model", "llama", 576, 576, 0}, "general.type"},
                    Wrong{"ForAnotherArchitecture", {"adapter", "gemma3", 576, 576, 0}, "mismatch"},
                    Wrong{"ForAnotherSize", {"adapter", "llama", 64, 576, 0}, "shape"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::worker
