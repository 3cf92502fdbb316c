// SPDX-License-Identifier: Apache-2.0
// What needs a GPU, or a driver that plays one: scripts/vulkan.sh test runs these on Mesa's.
#include "engine/device_upload.h"

#include <fcntl.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <gtest/gtest.h>
#include <llama.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "engine/backends.h"
#include "engine/context.h"
#include "engine/engine_log.h"
#include "engine/metadata.h"
#include "engine/model.h"
#include "engine/placement.h"
#include "engine/test_logits.h"
#include "engine/test_models.h"
#include "engine/vocabulary.h"
#include "engine/weight_set.h"

namespace hearth::engine {
namespace {

ggml_backend_dev_t first_gpu() {
  ggml_backend_dev_t gpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU);
  return gpu != nullptr ? gpu : ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU);
}

class Device : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    route_engine_log();
    ASSERT_TRUE(load_backends());
  }
  void SetUp() override {
    gpu_ = first_gpu();
    if (gpu_ == nullptr) GTEST_SKIP() << "no GPU, nor a driver that plays one";
  }
  ggml_backend_dev_t gpu_ = nullptr;
};

std::vector<std::byte> noise(std::size_t size, unsigned seed) {
  std::mt19937 random{seed};
  std::vector<std::byte> bytes(size);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

DeviceUpload::Fill from(const std::vector<std::byte>& bytes) {
  return [&bytes](std::uint64_t offset, std::span<std::byte> into) -> Result<> {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
    return {};
  };
}

// Tensors of bytes in a buffer of their own.
class Tensors {
 public:
  Tensors(ggml_backend_buffer_type_t memory, const std::vector<std::size_t>& sizes)
      : context_{ggml_init({ggml_tensor_overhead() * sizes.size(), nullptr, true})} {
    for (const std::size_t size : sizes) {
      all_.push_back(ggml_new_tensor_1d(context_, GGML_TYPE_I8, static_cast<std::int64_t>(size)));
    }
    buffer_ = ggml_backend_alloc_ctx_tensors_from_buft(context_, memory);
  }
  ~Tensors() {
    ggml_backend_buffer_free(buffer_);
    ggml_free(context_);
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ggml_tensor* operator[](std::size_t i) const { return all_[i]; }

  std::vector<std::byte> bytes(std::size_t i) const {
    std::vector<std::byte> bytes(ggml_nbytes(all_[i]));
    ggml_backend_tensor_get(all_[i], bytes.data(), 0, bytes.size());
    return bytes;
  }

 private:
  ggml_context* context_;
  ggml_backend_buffer_t buffer_ = nullptr;
  std::vector<ggml_tensor*> all_;
};

// Many more pieces than the ring has, of more and of less than a piece.
const std::vector<std::size_t> kSizes{
    7,        std::size_t{4} << 20, (std::size_t{9} << 20) + 13, 1, 4096, std::size_t{21} << 20,
    5'000'001};

void check_uploads(ggml_backend_buffer_type_t memory) {
  const Tensors tensors{memory, kSizes};
  std::vector<std::vector<std::byte>> contents;
  std::vector<std::size_t> arrived;
  DeviceUpload upload{[&](std::size_t tag) {
    arrived.push_back(tag);
    EXPECT_TRUE(tensors.bytes(tag) == contents[tag]) << "tensor " << tag;
  }};
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    contents.push_back(noise(kSizes[i], static_cast<unsigned>(i)));
  }
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    ASSERT_TRUE(upload.upload(i, tensors[i], from(contents[i])));
  }
  upload.flush();
  EXPECT_EQ(arrived, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST_F(Device, TakesWhatItIsSentInOrder) { check_uploads(ggml_backend_dev_buffer_type(gpu_)); }

TEST(DeviceUpload, CopiesWhereThereIsNoWayBesideComputing) {
  route_engine_log();
  ASSERT_TRUE(load_backends());
  check_uploads(ggml_backend_cpu_buffer_type());
}

TEST_F(Device, NeverArrivesAfterAFailedRead) {
  const Tensors tensors{ggml_backend_dev_buffer_type(gpu_), {std::size_t{40} << 20, 4096}};
  const auto content = noise(4096, 1);
  std::vector<std::size_t> arrived;
  DeviceUpload upload{[&](std::size_t tag) { arrived.push_back(tag); }};
  const auto failed = upload.upload(0, tensors[0], [](std::uint64_t offset, auto) -> Result<> {
    if (offset < (std::uint64_t{24} << 20)) return {};
    return fail(ErrorCode::kCorrupt, "the file ends");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kCorrupt);
  ASSERT_TRUE(upload.upload(1, tensors[1], from(content)));
  upload.flush();
  EXPECT_EQ(arrived, std::vector<std::size_t>{1});
  EXPECT_TRUE(tensors.bytes(1) == content);
}

// A prompt, and an evaluation of it.
class DeviceModel : public Device {
 protected:
  static constexpr int kCells = 512;

  void SetUp() override {
    Device::SetUp();
    if (IsSkipped()) return;
    path_ = test::model_path(test::kSmol).value_or("");
    if (path_.empty()) GTEST_SKIP() << "no model";
    vocabulary_ = std::move(*Vocabulary::open({path_}));
    prompt_ = vocabulary_->tokenize("The old clock had stopped years ago,", AddSpecial::kYes);
    metadata_ = std::make_unique<Metadata>(std::move(*Metadata::read({path_})));
    auto placed = place(*metadata_, Repack::kYes, kCells, 2);
    ASSERT_TRUE(placed) << placed.error().message();
    placement_ = std::move(*placed);
    file_ = Fd{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
  }
  Result<Model> stream() {
    WeightSet::Sources sources;
    sources.files = {file_.get()};
    auto weights = WeightSet::open(*metadata_, placement_, std::move(sources));
    if (!weights) return Failed{weights.error()};
    return Model::stream(*metadata_, std::move(*weights));
  }
  // As one of `readers` threads does, each taking the next weight.
  static void read(WeightSet& weights, std::atomic<std::size_t>& next) {
    DeviceUpload upload{[&](std::size_t tag) { weights.gate().open(tag); }};
    for (std::size_t i = next++; i < weights.weights().size(); i = next++) {
      const Weight& weight = weights.weights()[i];
      const auto source = weights.source(weight);
      if (weight.home != Home::kDevice) {
        weights.gate().open(i);  // mapped
        continue;
      }
      const auto filled = upload.upload(i, weight.tensor, [&](std::uint64_t offset, auto into) {
        std::ranges::copy(source.subspan(offset, into.size()), into.begin());
        return Result<>{};
      });
      EXPECT_TRUE(filled);
    }
    upload.flush();
  }
  std::vector<float> logits(const Model& model) {
    CpuThreads threads{1};
    return test::last_logits(model, prompt_, kCells, threads, abort_);
  }

  std::string path_;
  Fd file_;
  AbortFlags abort_;
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<Metadata> metadata_;
  Placement placement_;
  std::vector<Token> prompt_;
};

TEST_F(DeviceModel, StreamedGivesTheSameBitsAsAPlainLoad) {
  const auto plain = Model::load({path_}, *vocabulary_, Repack::kYes, {});
  ASSERT_TRUE(plain);
  const std::vector<float> wanted = logits(*plain);
  const auto model = stream();
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_GT(model->weights()->bytes_in(Home::kDevice), Bytes{});
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back([&] { read(*model->weights(), next); });
  EXPECT_EQ(logits(*model), wanted);  // while they read
  for (std::thread& reader : readers) reader.join();
  model->weights()->gate().open_all();
  EXPECT_EQ(logits(*model), wanted);
}

// The model's embedding is its output too: on the device that comes last, and of the mapped one
// rows are looked up.
TEST_F(DeviceModel, ReadsATiedEmbeddingLast) {
  const auto model = stream();
  ASSERT_TRUE(model) << model.error().message();
  const auto weights = model->weights()->weights();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].name != "token_embd.weight") continue;
    places.push_back(i);
    EXPECT_EQ(weights[i].home == Home::kDevice, !weights[i].lazy);
  }
  ASSERT_EQ(places.size(), 2U);
  EXPECT_GT(places.front(), weights.size() - 5);
}

TEST_F(DeviceModel, IsToldBeforehandWhatADeviceTakes) {
  EXPECT_GT(placement_.estimate.device, Bytes{});
  EXPECT_TRUE(placement_.repacked.empty());
}

}  // namespace
}  // namespace hearth::engine
