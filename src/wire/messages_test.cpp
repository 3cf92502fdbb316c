// SPDX-License-Identifier: Apache-2.0
#include "wire/messages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json.h"

namespace hearth::wire {
namespace {

using namespace hearth::literals;

Stage stage(StageKind kind, std::int64_t start_ns, std::int64_t end_ns, Bytes bytes = {}) {
  return Stage{kind, time_point_of(start_ns), time_point_of(end_ns), bytes};
}

void expect_same(const std::vector<Stage>& a, const std::vector<Stage>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].kind, b[i].kind);
    EXPECT_EQ(a[i].start, b[i].start);
    EXPECT_EQ(a[i].end, b[i].end);
    EXPECT_EQ(a[i].bytes, b[i].bytes);
  }
}

// Decoded and encoded again gives the same text: nothing was lost or invented on the way.
template <class Message>
void expect_round_trip(const Message& message, Result<Message> (*decode)(const std::string&)) {
  const std::string sent = encode(message);
  const Result<Message> received = decode(sent);
  ASSERT_TRUE(received) << sent << ": " << received.error().message();
  EXPECT_EQ(encode(*received), sent);
}

TEST(Messages, OpenComesBack) {
  OpenMessage m;
  m.model = "qwen \"9b\"\n";
  m.options = {4096, 8, 6, false, false};
  m.adapters = 2;
  expect_round_trip(m, decode_open);
  EXPECT_EQ(decode_open(encode(m))->adapters, 2);
  const auto back = decode_open(encode(m));
  EXPECT_EQ(back->model, m.model);
  EXPECT_EQ(back->options, m.options);
}

TEST(Messages, ReadyComesBack) {
  ReadyMessage m;
  m.engine = "llama.cpp";
  m.backend = "zen4";
  m.devices = {"gpu 0", "gpu 1"};
  m.architecture = "llama";
  m.vocabulary = 49152;
  m.trained_context = 2048;
  m.context_limit = 1024;
  m.chat_template = "chatml";
  m.embeds = false;
  m.generates = false;
  m.calls_tools = true;
  m.thinks = true;
  m.stages = {stage(StageKind::kSpawn, 5, 9)};
  expect_round_trip(m, decode_ready);
  const auto back = decode_ready(encode(m));
  EXPECT_EQ(back->devices, m.devices);
  EXPECT_EQ(back->context_limit, 1024);
  EXPECT_FALSE(back->embeds);
  EXPECT_FALSE(back->generates);
  EXPECT_TRUE(back->calls_tools);
  EXPECT_TRUE(back->thinks);
  expect_same(back->stages, m.stages);
}

TEST(Messages, ReadyTellsOfTheLoad) {
  ReadyMessage m;
  m.estimate = {1_GiB, 2_GiB, 3_GiB, 4_GiB, 5_GiB, 6_GiB};
  m.compile_key = {"e", "d", "h", "l"};
  m.streams = true;
  expect_round_trip(m, decode_ready);
  const auto back = decode_ready(encode(m));
  EXPECT_EQ(back->estimate.repacked, 3_GiB);
  EXPECT_EQ(back->compile_key, m.compile_key);
  EXPECT_TRUE(back->streams);
}

TEST(Messages, LoadComesBack) {
  const LoadMessage m{ReadMode::kDirect, 3, 8_MiB, 7, true, false, "c0ffee"};
  expect_round_trip(m, decode_load);
  const auto back = decode_load(encode(m));
  EXPECT_EQ(back->read, ReadMode::kDirect);
  EXPECT_EQ(back->readers, 3);
  EXPECT_EQ(back->block, 8_MiB);
  EXPECT_EQ(back->stall_seconds, 7);
  EXPECT_TRUE(back->stored);
  EXPECT_FALSE(back->check_stored);
  EXPECT_EQ(back->content, "c0ffee");
}

TEST(Messages, StoreComesBack) {
  expect_round_trip(StoreMessage{"c0ffee"}, decode_store);
  EXPECT_EQ(decode_store(encode(StoreMessage{"c0ffee"}))->content, "c0ffee");
}

TEST(Messages, StoredComesBack) {
  expect_round_trip((StoredMessage{"no space", 3_MiB, Duration{77}}), decode_stored);
}

TEST(Messages, ProgressComesBack) {
  const ProgressMessage m{"read", 0.125, 1_GiB, Bytes{std::numeric_limits<std::uint64_t>::max()}};
  expect_round_trip(m, decode_progress);
  const auto back = decode_progress(encode(m));
  EXPECT_EQ(back->fraction, 0.125);
  EXPECT_EQ(back->total, m.total);
}

TEST(Messages, LoadedComesBack) {
  LoadedMessage m;
  m.stages = {stage(StageKind::kRead, 1, 2, 3_MiB), stage(StageKind::kLoad, 2, 7)};
  m.memory = {1_GiB, 2_GiB, 3_GiB, 4_GiB, 5_GiB, 6_GiB};
  m.repack = "stored";
  m.stored_refused = "engine";
  m.missing = 9_MiB;
  m.bytes_read = 3_MiB;
  m.major_faults = std::int64_t{1} << 40;
  m.context = 8192;
  expect_round_trip(m, decode_loaded);
  const auto back = decode_loaded(encode(m));
  expect_same(back->stages, m.stages);
  EXPECT_EQ(back->memory.device, 6_GiB);
  EXPECT_EQ(back->repack, "stored");
  EXPECT_EQ(back->stored_refused, "engine");
  EXPECT_EQ(back->missing, 9_MiB);
  EXPECT_EQ(back->major_faults, m.major_faults);
}

TEST(Messages, GenerateComesBack) {
  GenerateMessage m;
  m.messages = R"([{"role":"user","content":"\u0000 é \"x\""}])";
  m.tools = "[]";
  m.tool_choice = "required";
  m.response_schema = "{}";
  m.template_kwargs = R"({"a":1})";
  m.add_special = false;
  m.sampling.seed = 4294967295U;
  m.sampling.temperature = 0.0;
  m.sampling.top_p = 0.3;
  m.sampling.top_k = -1;
  m.sampling.logit_bias = {{5, -1e9}, {70000, 2.5}};
  m.sampling.text_bias = {{" fox", 3.5}, {"\u00e9", Sampling::kBan}};
  m.sampling.min_tokens = 3;
  m.grammar = "root ::= \"x\"";
  m.suffix = " the end";
  m.logprobs = 0;
  m.stop = {"\n\n", ""};
  m.max_tokens = 0;
  m.ignore_eos = true;
  m.cache_prompt = false;
  m.echo = true;
  m.thinking = "off";
  m.chat_template = "{{ messages }}";
  m.context_limit = 2048;
  m.truncate = true;
  m.keep = 5;
  m.return_tokens = true;
  m.count_only = true;
  expect_round_trip(m, decode_generate);
  const auto back = decode_generate(encode(m));
  EXPECT_EQ(back->messages, m.messages);
  EXPECT_EQ(back->sampling.seed, m.sampling.seed);
  EXPECT_EQ(back->sampling.logit_bias, m.sampling.logit_bias);
  EXPECT_DOUBLE_EQ(back->sampling.top_p, 0.3);
  EXPECT_EQ(back->stop, m.stop);
  EXPECT_EQ(back->max_tokens, 0);
  EXPECT_EQ(back->thinking, "off");
  EXPECT_EQ(back->context_limit, 2048);
  EXPECT_TRUE(back->truncate);
  EXPECT_EQ(back->keep, 5);
  EXPECT_TRUE(back->return_tokens);
  EXPECT_TRUE(back->count_only);
}

TEST(Messages, GenerateTakesDefaultsForWhatIsMissing) {
  const auto m = decode_generate(R"({"prompt":"a","of_a_later_version":[{}]})");
  ASSERT_TRUE(m) << m.error().message();
  EXPECT_EQ(m->sampling.seed, std::nullopt);
  EXPECT_EQ(m->sampling.temperature, Sampling{}.temperature);
  EXPECT_EQ(m->max_tokens, -1);
  EXPECT_TRUE(m->add_special);
  EXPECT_TRUE(m->cache_prompt);
  EXPECT_EQ(m->thinking, "");
  EXPECT_EQ(m->context_limit, 0);
  EXPECT_FALSE(m->truncate);
  EXPECT_FALSE(m->return_tokens);
  EXPECT_FALSE(m->count_only);
}

TEST(Messages, PromptOfTokensComesBack) {
  GenerateMessage m;
  m.prompt_tokens = {0, 1, std::numeric_limits<int>::max()};
  EXPECT_EQ(decode_generate(encode(m))->prompt_tokens, m.prompt_tokens);
}

TEST(Messages, SmallOnesComeBack) {
  expect_round_trip((EmbedMessage{{"one", "", "three"}, true}), decode_embed);
  EXPECT_TRUE(decode_embed(encode(EmbedMessage{{"one"}, true}))->truncate);
  expect_round_trip((TokenizedMessage{{1, 2, 3}, {stage(StageKind::kTokenize, 1, 2)}, 4, 500}),
                    decode_tokenized);
  const auto cut = decode_tokenized(encode(TokenizedMessage{{1}, {}, 4, 500}));
  EXPECT_EQ(cut->dropped_messages, 4);
  EXPECT_EQ(cut->dropped_tokens, 500);
  expect_round_trip((StartedMessage{10, 4, {stage(StageKind::kPrefill, 1, 2)}}), decode_started);
  expect_round_trip((FailedMessage{"too_long", "the prompt", "messages", 9000, 8192}),
                    decode_failed);
  expect_round_trip((HeartbeatMessage{~std::uint64_t{0}, 3, 77, 1_GiB, 2_MiB, 5_MiB, 2, 7_MiB}),
                    decode_heartbeat);
  expect_round_trip((GiveWayMessage{1, 25, true}), decode_give_way);
}

TEST(Messages, DeltaComesBack) {
  DeltaMessage m;
  m.text = "héllo \xF0\x9F\x94\xA5 \"\\\x01\n\t";
  m.reasoning = "hm";
  m.tool_calls = {{1, "call_1", "weather", "{\"city\""}, {1, "", "", ":\"Bern\"}"}};
  m.generated = 17;
  m.logprobs = {{{5, "h\u00e9", -0.25}, {{5, "h\u00e9", -0.25}, {9, "\xF0\x9F", -9999}}},
                {{0, "", -3.5}, {}}};
  expect_round_trip(m, decode_delta);
  const auto back = decode_delta(encode(m));
  EXPECT_EQ(back->text, m.text);
  EXPECT_EQ(back->tool_calls[1].arguments, ":\"Bern\"}");
  EXPECT_EQ(back->tool_calls[0].name, "weather");
  ASSERT_EQ(back->logprobs.size(), 2U);
  EXPECT_EQ(back->logprobs[0].chosen.bytes, "h\u00e9");
  EXPECT_EQ(back->logprobs[0].top[1].bytes, "\xF0\x9F") << "half a character";
  EXPECT_EQ(back->logprobs[0].top[1].logprob, -9999);
}

TEST(Messages, EveryByteOfATextComesBack) {
  DeltaMessage m;
  for (int c = 0; c < 128; ++c) m.text += static_cast<char>(c);
  EXPECT_EQ(decode_delta(encode(m))->text, m.text);
}

TEST(Messages, DoneComesBack) {
  DoneMessage m;
  m.reason = "stop";
  m.stopped_by = "\n";
  m.prompt_tokens = 12;
  m.cached_tokens = 12;
  m.generated = 9;
  m.prompt_ms = 12.375;
  m.generated_ms = 1e-7;
  m.stages = {stage(StageKind::kDecode, 100, 1'000'000'000'000)};
  m.live_tokens = 21;
  m.context = 4096;
  expect_round_trip(m, decode_done);
  m.tokens = {5, 0, 49151};
  expect_round_trip(m, decode_done);
  EXPECT_EQ(decode_done(encode(m))->tokens, m.tokens);
}

TEST(Messages, EmbeddingsComeBackToTheLastBit) {
  EmbeddedMessage m;
  m.vectors = {{0.1F, -1.0F / 3.0F, std::numeric_limits<float>::max()},
               {std::numeric_limits<float>::min(), 1e-20F, 16777217.0F},
               {}};
  m.prompt_tokens = 4;
  const auto back = decode_embedded(encode(m));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->vectors, m.vectors);
}

TEST(Messages, MalformedTextIsRepaired) {
  DeltaMessage m;
  m.text = "a\xFF\xC3";
  const auto back = decode_delta(encode(m));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->text, repair_utf8(m.text));
  EXPECT_TRUE(decode_failed(encode(FailedMessage{"internal", "\xFE", "\xFE", 0, 0})));
}

TEST(Messages, NumbersThatAreNotFiniteStillParse) {
  GenerateMessage m;
  m.sampling.temperature = std::numeric_limits<double>::infinity();
  m.sampling.top_p = std::numeric_limits<double>::quiet_NaN();
  m.sampling.logit_bias[3] = -std::numeric_limits<double>::infinity();
  const auto back = decode_generate(encode(m));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->sampling.temperature, 1e9);
  EXPECT_EQ(back->sampling.top_p, 0.0);
  EXPECT_EQ(back->sampling.logit_bias.at(3), -1e9);
}

TEST(Messages, EmbeddingThatIsNotFiniteIsRefused) {
  EmbeddedMessage m;
  m.vectors = {{1.0F}, {1.0F, std::numeric_limits<float>::infinity()}};
  const auto back = decode_embedded(encode(m));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(back.error().message(), "vectors[1][1]: a finite number was expected");
}

TEST(Messages, StageThatEndsBeforeItsStartIsSentAsEmpty) {
  TokenizedMessage m;
  m.stages = {stage(StageKind::kTokenize, 10, 5)};
  const auto back = decode_tokenized(encode(m));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->stages[0].length(), Duration{0});
}

TEST(Messages, StageOnTheWireIsShort) {
  EXPECT_EQ(encode(StartedMessage{3, 1, {stage(StageKind::kPrefill, 1, 2)}}),
            R"({"prompt_tokens":3,"cached_tokens":1,"stages":[{"n":"prefill","s":1,"e":2}]})");
}

// Every decoder, so that each payload below meets all of them.
using Decode = std::optional<Error> (*)(const std::string&);
template <auto kDecode>
std::optional<Error> error_of(const std::string& payload) {
  const auto result = kDecode(payload);
  if (result) return std::nullopt;
  return result.error();
}
constexpr Decode kDecoders[] = {
    error_of<decode_open>,      error_of<decode_ready>,    error_of<decode_progress>,
    error_of<decode_loaded>,    error_of<decode_generate>, error_of<decode_embed>,
    error_of<decode_tokenized>, error_of<decode_started>,  error_of<decode_delta>,
    error_of<decode_done>,      error_of<decode_embedded>, error_of<decode_failed>,
    error_of<decode_heartbeat>};

struct GarbageCase {
  const char* name;
  std::string payload;
};
class Garbage : public testing::TestWithParam<GarbageCase> {};
TEST_P(Garbage, IsCorruptForEveryMessage) {
  for (const Decode decode : kDecoders) {
    const std::optional<Error> error = decode(GetParam().payload);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kCorrupt);
    EXPECT_FALSE(error->message().empty());
  }
}
INSTANTIATE_TEST_SUITE_P(Payloads, Garbage,
                         testing::Values(GarbageCase{"Empty", ""}, GarbageCase{"NoJson", "hello"},
                                         GarbageCase{"Null", "null"}, GarbageCase{"List", "[]"},
                                         GarbageCase{"Number", "7"},
                                         GarbageCase{"CutShort", R"({"text":"a)"},
                                         GarbageCase{"Deep", std::string(100000, '[')},
                                         GarbageCase{"NoUtf8", "{\"text\":\"\xFF\"}"},
                                         GarbageCase{"LoneSurrogate", R"({"text":"\ud800"})"},
                                         GarbageCase{"Trailing", "{} {}"},
                                         GarbageCase{"Nul", std::string(1, '\0')}),
                         [](const auto& test) { return test.param.name; });

struct WrongCase {
  const char* name;
  Decode decode;
  const char* payload;
  const char* message;  // how the error begins: the member's path
};
class WrongMember : public testing::TestWithParam<WrongCase> {};
TEST_P(WrongMember, IsNamed) {
  const std::optional<Error> error = GetParam().decode(GetParam().payload);
  ASSERT_TRUE(error) << "was accepted";
  EXPECT_EQ(error->code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error->message().find(GetParam().message), 0U) << error->message();
}
constexpr Decode kOpenDecode = error_of<decode_open>;
constexpr Decode kGenerateDecode = error_of<decode_generate>;
constexpr Decode kTokenizedDecode = error_of<decode_tokenized>;
constexpr Decode kDeltaDecode = error_of<decode_delta>;
constexpr Decode kStartedDecode = error_of<decode_started>;
constexpr Decode kLoadedDecode = error_of<decode_loaded>;
constexpr Decode kProgressDecode = error_of<decode_progress>;
INSTANTIATE_TEST_SUITE_P(
    Messages, WrongMember,
    testing::Values(
        WrongCase{"Missing", kDeltaDecode, R"({"text":"a"})", "generated: is missing"},
        WrongCase{"TextIsNumber", kDeltaDecode, R"({"generated":1,"text":1})", "text:"},
        WrongCase{"CountIsText", kDeltaDecode, R"({"generated":"1"})", "generated:"},
        WrongCase{"CountIsFraction", kDeltaDecode, R"({"generated":1.5})", "generated:"},
        WrongCase{"CountIsNegative", kDeltaDecode, R"({"generated":-1})", "generated:"},
        WrongCase{"CountTooLarge", kDeltaDecode, R"({"generated":2147483648})", "generated:"},
        WrongCase{"CountHuge", kDeltaDecode, R"({"generated":18446744073709551615})", "generated:"},
        WrongCase{"CallsAreObject", kDeltaDecode, R"({"generated":1,"tool_calls":{}})",
                  "tool_calls:"},
        WrongCase{"CallIsText", kDeltaDecode, R"({"generated":1,"tool_calls":[{},"x"]})",
                  "tool_calls[1]:"},
        WrongCase{"CallIndex", kDeltaDecode, R"({"generated":1,"tool_calls":[{"index":-1}]})",
                  "tool_calls[0].index:"},
        WrongCase{"CachedOverPrompt", kStartedDecode, R"({"prompt_tokens":3,"cached_tokens":4})",
                  "cached_tokens:"},
        WrongCase{"StageUnknown", kTokenizedDecode, R"({"stages":[{"n":"nap","s":1,"e":2}]})",
                  "stages[0].n:"},
        WrongCase{"StageBackwards", kTokenizedDecode, R"({"stages":[{"n":"read","s":3,"e":2}]})",
                  "stages[0].e:"},
        WrongCase{"StageNoEnd", kTokenizedDecode, R"({"stages":[{"n":"read","s":3}]})",
                  "stages[0].e: is missing"},
        WrongCase{"StageNegative", kTokenizedDecode, R"({"stages":[{"n":"read","s":-3,"e":2}]})",
                  "stages[0].s:"},
        WrongCase{"TokenNegative", kTokenizedDecode, R"({"tokens":[1,2,-3]})", "tokens[2]:"},
        WrongCase{"TokensAreText", kTokenizedDecode, R"({"tokens":"1"})", "tokens:"},
        WrongCase{"FlagIsNumber", kGenerateDecode, R"({"echo":1})", "echo:"},
        WrongCase{"SeedTooLarge", kGenerateDecode, R"({"sampling":{"seed":4294967296}})",
                  "sampling.seed:"},
        WrongCase{"Infinite", kGenerateDecode, R"({"sampling":{"temperature":1e400}})", ""},
        WrongCase{"BiasNoPair", kGenerateDecode, R"({"sampling":{"logit_bias":[[1]]}})",
                  "sampling.logit_bias[0]:"},
        WrongCase{"BiasToken", kGenerateDecode, R"({"sampling":{"logit_bias":[[1,2],[-1,2]]}})",
                  "sampling.logit_bias[1]:"},
        WrongCase{"SamplingIsList", kGenerateDecode, R"({"sampling":[]})", "sampling:"},
        WrongCase{"LimitNegative", kGenerateDecode, R"({"context_limit":-1})", "context_limit:"},
        WrongCase{"KeepNegative", kGenerateDecode, R"({"keep":-1})", "keep:"},
        WrongCase{"ThinkingIsTruth", kGenerateDecode, R"({"thinking":true})", "thinking:"},
        WrongCase{"StopIsText", kGenerateDecode, R"({"stop":"x"})", "stop:"},
        WrongCase{"NoSequences", kOpenDecode, R"({"options":{"parallel":0}})", "options.parallel:"},
        WrongCase{"BytesNegative", kLoadedDecode, R"({"context":1,"memory":{"weights":-1}})",
                  "memory.weights:"},
        WrongCase{"FractionOverOne", kProgressDecode, R"({"stage":"read","fraction":1.01})",
                  "fraction:"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::wire
