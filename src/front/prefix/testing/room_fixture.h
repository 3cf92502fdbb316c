// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/sim_event_loop.h"
#include "blocks/block_chain.h"
#include "blocks/block_record.h"
#include "front/prefix/digests.h"
#include "front/prefix/prefix_room.h"
#include "layers/testing/run_task.h"
#include "layers/testing/temp_dir.h"

namespace hearth::front::testing {

// Bytes that only this block has.
inline std::string record_of(const Digest& root, const Digest& parent, std::span<const int> tokens,
                             std::size_t first) {
  blocks::Header header;
  header.root = root;
  header.parent = parent;
  header.digest = blocks::digest_of(parent, tokens);
  header.first = static_cast<std::uint32_t>(first);
  header.tokens.assign(tokens.begin(), tokens.end());
  std::string base;
  while (base.size() < 9'000) base += hex_of(header.digest);
  header.base = Bytes{base.size()};
  header.base_checksum = blocks::checksum_of(std::as_bytes(std::span{base}));
  header.window_checksum = blocks::checksum_of({});
  return blocks::encode(header) + base;
}
inline const Bytes kRecord{blocks::kHeaderSize + 9'024};
inline constexpr Bytes kInMemory{12 << 10};  // what a record takes there

// `count` tokens of one prompt; prompts with the same numbers begin alike.
inline std::vector<int> prompt(int number, std::size_t count) {
  std::vector<int> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = number * 100'000 + static_cast<int>(i);
  return tokens;
}

// A room with a worker that keeps its side of the protocol: it checks what it is offered as a real
// one does, and writes what it is asked to keep.
class RoomFixture {
 public:
  struct Served {
    int arena = 0;  // blocks that were offered and right
    int disk = 0;
    int tokens = 0;  // of the prompt, that these blocks have
    int kept = 0;
    int slots = 0;  // for new blocks
    Bytes limit;    // of them
    bool both_ways = false;
    std::size_t frames = 0;
    std::vector<wire::PrefixOutcome::Refused> refused;
  };

  ~RoomFixture() { stop(); }

  void open(const Files& files = Files::real()) {
    stop();
    make(files);
  }
  // As after kill -9.
  void crash() {
    loop_.run_ready();
    room_.reset();
  }
  void make(const Files& files = Files::real()) {
    room_ = std::make_unique<PrefixRoom>(PrefixRoom::World{
        loop_, pool_, files, loop_.clock(), directory_.path() + "/prefix",
        [this] { return limits_; },
        [this](const std::string& artifact) {
          const auto found = content_.find(artifact);
          return found == content_.end() ? std::nullopt : std::optional{found->second};
        },
        [this](const std::string&) { return prefill_rate_; }});
    run(room_->open());
    arenas_.clear();
  }
  void stop() {
    if (!room_) return;
    run(room_->stop());
    room_.reset();
  }
  void run(Task<void> task) {
    loop_.spawn(std::move(task));
    loop_.run_ready();
  }
  template <class T>
  T wait(Task<T> task) {
    std::optional<T> value;
    loop_.spawn(hearth::testing::keep_value(std::move(task), &value));
    loop_.run_ready();
    return std::move(value).value();
  }
  void pass(Duration time) { loop_.run_for(time); }
  // Begins to; the answer is there once it is known.
  void plan(PrefixRoom::Ask ask, std::optional<std::vector<wire::Frame>>& answer) {
    loop_.spawn(hearth::testing::keep_value(room_->plan(std::move(ask)), &answer));
    loop_.run_ready();
  }
  void be_quiet() { loop_.run_for(std::chrono::seconds{limits_.quiet_s + 1}); }

  PrefixRoom::Use use(const std::string& artifact, const std::string& group = "") const {
    PrefixRoom::Use use;
    use.artifact = artifact;
    use.group = group;
    use.ready.engine = "engine 1";
    use.ready.compile_key = {"libraries", "", "cpu", "layout"};
    use.options = options_;
    use.ready.not_restorable = not_restorable_;
    return use;
  }
  const Fd* arena(const std::string& artifact) {
    if (!arenas_.contains(artifact)) {
      if (auto memory = room_->arena(artifact)) arenas_.emplace(artifact, std::move(*memory));
    }
    const auto found = arenas_.find(artifact);
    return found == arenas_.end() ? nullptr : &found->second;
  }
  void lose_worker(const std::string& artifact) {
    arenas_.erase(artifact);
    room_->worker_lost(artifact);
    loop_.run_ready();
  }

  struct Request {
    std::string artifact = "a";
    std::string group = {};
    std::vector<int> tokens;
    std::size_t generated = 0;
    std::string module = {};
    std::vector<std::vector<int>> texts = {};
  };
  // A plan as the worker has it: what is still open of a request.
  struct Open {
    std::uint64_t id = 0;
    Request request;
    Digest root{};
    Served served;
    std::size_t keep_from = 0;
    std::vector<int> keep;
    wire::StartedMessage started;
    std::vector<wire::PrefixPlanMessage::Module> texts;  // that it was offered
    std::size_t descriptors = 0;                         // of the last frame
  };
  Open begin(Request request) {
    Open open;
    PrefixRoom::Ask ask = ask_of(open, std::move(request));
    read(open, wait(room_->plan(std::move(ask))));
    return open;
  }
  PrefixRoom::Ask ask_of(Open& open, Request request) {
    open.id = ++last_request_;
    arena(request.artifact);
    PrefixRoom::Ask ask;
    ask.request = open.id;
    ask.use = use(request.artifact, request.group);
    ask.domain = room_->domain(ask.use);
    ask.tokens = request.tokens;
    ask.max_generated = static_cast<int>(request.generated);
    ask.module = request.module;
    ask.texts = request.texts;
    open.root = *digest_of_hex(ask.domain);
    open.request = std::move(request);
    return ask;
  }
  void read(Open& open, const std::vector<wire::Frame>& frames) {
    open.served.frames = frames.size();
    for (const wire::Frame& frame : frames) read(open, frame);
  }
  void start(Open& open) {
    open.started.prompt_tokens = static_cast<int>(open.request.tokens.size());
    open.started.prefix.refused = open.served.refused;
    room_->note_started(open.id, open.started);
    loop_.run_ready();
  }
  // Writes and reports up to `most` blocks.
  Served finish(Open open, std::size_t most = 1000) {
    std::vector<int> tokens = open.request.tokens;
    for (std::size_t i = 0; i < open.request.generated; ++i) {
      tokens.push_back(7'000'000 + static_cast<int>(i));
    }
    const std::vector<Digest> chain = blocks::chain_of(open.root, tokens);
    wire::BlocksMessage message;
    Bytes sum;
    for (std::size_t i = 0; i < open.keep.size() && i < most; ++i) {
      const std::size_t at = open.keep_from + i;
      const std::size_t left = tokens.size() - std::min(tokens.size(), at * 64);
      if (left < 64 && (!keeps_parts_ || left < blocks::kLeastPart)) break;
      const auto own = std::span{tokens}.subspan(at * 64, std::min<std::size_t>(left, 64));
      if (left < 64) message.part = static_cast<int>(left);
      const std::string record =
          record_of(open.root, at == 0 ? open.root : chain[at - 1], own, at * 64);
      sum += Bytes{record.size()};
      if (sum > open.served.limit) break;
      write(open.request.artifact, open.keep[i], record);
      message.sizes.push_back(Bytes{record.size()});
    }
    open.served.kept = static_cast<int>(message.sizes.size());
    message.generated.assign(
        tokens.begin() + static_cast<std::ptrdiff_t>(open.request.tokens.size()), tokens.end());
    room_->note_blocks(open.id, message);
    loop_.run_ready();
    return open.served;
  }
  Served serve(Request request) {
    Open open = begin(std::move(request));
    start(open);
    return finish(std::move(open));
  }

  void write(const std::string& artifact, int slot, std::string_view bytes) {
    const auto at = static_cast<off_t>(slot) * static_cast<off_t>(wire::kArenaPitch.count());
    ASSERT_EQ(::pwrite(arena(artifact)->get(), bytes.data(), bytes.size(), at),
              static_cast<ssize_t>(bytes.size()));
  }
  // What all arenas take, by the kernel's account.
  Bytes resident() {
    Bytes sum;
    for (const auto& [artifact, memory] : arenas_) {
      struct stat status{};
      EXPECT_EQ(::fstat(memory.get(), &status), 0);
      sum += Bytes{static_cast<std::uint64_t>(status.st_blocks) * 512};
    }
    return sum;
  }
  std::vector<std::string> files(std::string_view ending = ".kv") const {
    std::vector<std::string> paths;
    std::error_code ignored;
    for (const auto& each :
         std::filesystem::recursive_directory_iterator{directory_.path() + "/prefix", ignored}) {
      if (each.path().string().ends_with(ending)) paths.push_back(each.path().string());
    }
    std::ranges::sort(paths);
    return paths;
  }
  Bytes on_disk() const {
    Bytes sum;
    for (const std::string& path : files()) sum += Files::real().info(path)->size;
    return sum;
  }
  PrefixRoom& room() { return *room_; }
  SimEventLoop& loop() { return loop_; }
  const std::string& directory() const { return directory_.path(); }

  PrefixRoom::Limits limits_{Bytes{64 << 20}, Bytes{64 << 20}, Bytes{64 << 20}, 10, 30};
  std::map<std::string, std::string> content_{{"a", "aaaa"}, {"b", "bbbb"}};
  double prefill_rate_ = 0;
  wire::LoadOptions options_;
  std::string not_restorable_;
  bool keeps_parts_ = false;  // the worker does

 private:
  void read(Open& open, const wire::Frame& frame) {
    const auto message = wire::decode_prefix_plan(frame.payload);
    ASSERT_TRUE(message);
    for (const auto& stored : message->stored) check(open, frame, stored);
    if (message->more) return;
    open.texts = message->modules;
    open.descriptors = frame.descriptors.size();
    open.served.both_ways = message->both_ways;
    open.served.limit = message->keep_limit;
    open.served.slots = static_cast<int>(message->keep.size());
    open.keep_from = static_cast<std::size_t>(message->keep_from);
    open.keep = message->keep;
  }
  void check(Open& open, const wire::Frame& frame, const wire::PrefixPlanMessage::Stored& stored) {
    Served& served = open.served;
    const auto block = static_cast<std::size_t>(served.arena + served.disk) + served.refused.size();
    const bool in_arena = stored.tier == wire::BlockTier::kArena;
    const auto place = static_cast<std::size_t>(stored.place);
    const int file =
        in_arena ? arena(open.request.artifact)->get() : frame.descriptors.at(place).get();
    const std::uint64_t at = in_arena ? place * wire::kArenaPitch.count() : 0;
    std::string bytes(stored.size.count(), '\0');
    const ssize_t size = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    ASSERT_EQ(size, static_cast<ssize_t>(bytes.size()));
    const std::vector<int>& tokens = open.request.tokens;
    const std::size_t count = stored.tokens > 0 ? static_cast<std::size_t>(stored.tokens) : 64;
    const Digest parent =
        block == 0 ? open.root : blocks::chain_of(open.root, tokens).at(block - 1);
    const auto header = blocks::decode(std::as_bytes(std::span{bytes}).first(blocks::kHeaderSize));
    const bool right = header && count <= header->tokens.size() &&
                       block * 64 + count <= tokens.size() &&
                       std::equal(header->tokens.begin(),
                                  header->tokens.begin() + static_cast<std::ptrdiff_t>(count),
                                  tokens.begin() + static_cast<std::ptrdiff_t>(block * 64)) &&
                       bytes == record_of(open.root, parent, header->tokens, block * 64);
    if (!right || !served.refused.empty()) {
      served.refused.push_back({static_cast<int>(block), "checksum"});
    } else {
      ++(in_arena ? served.arena : served.disk);
      served.tokens += static_cast<int>(count);
    }
  }

  SimEventLoop loop_;
  Pool pool_ = Pool::inline_for_tests();
  hearth::testing::TempDir directory_;
  std::unique_ptr<PrefixRoom> room_;
  std::map<std::string, Fd> arenas_;
  std::uint64_t last_request_ = 0;
};

}  // namespace hearth::front::testing
