// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu_threads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "engine/backends.h"
#include "engine/context.h"
#include "engine/engine_log.h"
#include "engine/model.h"
#include "engine/sampler.h"
#include "engine/test_models.h"
#include "engine/vocabulary.h"

namespace hearth::engine {
namespace {

class Threads : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    route_engine_log();
    ASSERT_TRUE(load_backends());
  }
};

TEST_F(Threads, BeginsWithAllAndStaysWithinBounds) {
  CpuThreads threads{3};
  EXPECT_EQ(threads.count(), 3);
  threads.use(0);
  EXPECT_EQ(threads.count(), 1);
  threads.use(9);
  EXPECT_EQ(threads.count(), 3);
  EXPECT_GE(CpuThreads{}.most(), 1);
}

TEST_F(Threads, KnowsTheKernelsIdsOfThoseInUse) {
  CpuThreads threads{3};
  const std::vector<pid_t> three = threads.ids();
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three.front(), ::gettid());
  for (const pid_t id : three) {
    EXPECT_FALSE(read_small_file("/proc/self/task/" + std::to_string(id) + "/stat").empty());
  }
  threads.use(1);
  EXPECT_EQ(threads.ids(), std::vector<pid_t>{::gettid()});
  threads.use(3);
  EXPECT_EQ(threads.ids(), three) << "a pool is kept";
}

TEST_F(Threads, CountChangesBetweenStepsAndEveryContextFollows) {
  HEARTH_MODEL_OR_SKIP(path, test::kSmol);
  const auto vocabulary = *Vocabulary::open({path});
  Model model = *Model::load({path}, *vocabulary, Repack::kYes, {});
  CpuThreads threads{2};
  AbortFlags abort;
  SamplingOptions greedy;
  greedy.temperature = 0.0;
  const auto prompt = vocabulary->tokenize("The three primary colours are", AddSpecial::kYes);
  const auto write = [&](const std::vector<int>& counts) {
    const auto context = *Context::create(model, {512, 2}, threads, abort);
    Sampler sampler = *Sampler::create(*vocabulary, greedy, {});
    std::vector<Token> next = prompt, written;
    int position = 0;
    for (const int count : counts) {
      threads.use(count);
      context->clear();
      for (std::size_t i = 0; i < next.size(); ++i) {
        const auto logits = i + 1 == next.size() ? Logits::kYes : Logits::kNo;
        context->add(next[i], position++, 0, logits);
      }
      EXPECT_EQ(context->decode(), Decoded::kDone);
      next = {*sampler.sample(context->handle(), context->size() - 1)};
      written.push_back(next.front());
    }
    return written;
  };
  // What is likeliest does not change with the order in which so few cells are added up.
  EXPECT_EQ(write({1, 2, 1, 2}), write({1, 1, 1, 1}));
}

}  // namespace
}  // namespace hearth::engine
