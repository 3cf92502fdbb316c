// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace hearth::wire {

// What a frame is about. Numbers are stable only within one build: front and worker always are of
// one.
enum class FrameType : std::uint16_t {
  // front -> worker
  kOpen = 1,  // OpenMessage, with the model file's descriptors: parse the vocabulary, become hollow
  kLoad,      // LoadMessage, with the stored repack's descriptor if there is one; answered by
              // kProgress*, then kLoaded or kFailed. Requests may be tokenized meanwhile, but none
              // starts before kLoaded
  kUnload,    // {}                 free weights and contexts; answered by kUnloaded
  kGenerate,  // GenerateMessage    answered by kTokenized, kStarted, kDelta*, kDone; or kFailed; or
              // by kTokenized and kDone, when only tokens are counted
  kEmbed,     // EmbedMessage       answered by kTokenized, kEmbedded; or kFailed
  kCancel,    // {}                 for the request in the header; answered by its kDone, unless it
              // ended before. Request 0: the load under way is given up, and kFailed says so
  kStore,     // StoreMessage, with the descriptor of an empty file: write the repacked weights
              // there, with time to spare; answered by kStored
  kArena,  // {}, with the descriptor of the memory where blocks are kept beyond live cells; once,
           // before any plan
  kPrefixPlan,   // PrefixPlanMessage, with descriptors of stored blocks
  kForgetCells,  // {}: what cells hold of requests is not used again; those in hand go on
  kGiveWay,      // GiveWayMessage: may come at any time

  // front -> keeper; a request is one model's pages
  kKeep = 32,  // KeepMessage, with the files' descriptors; answered by kKept or kFailed
  kForget,     // {}

  // front -> fetcher
  kFetchRules = 48,  // FetchRules; once, first
  kFetchText,        // FetchText     answered by kFetchedText or kFailed
  kFetchFile,        // FetchFile, with the descriptors of the data and of its journal; answered by
                     // kFetching*, then kFetched or kFailed

  // worker -> front
  kReady = 64,  // ReadyMessage: hollow now
  kProgress,    // ProgressMessage
  kLoaded,      // LoadedMessage
  kUnloaded,    // {}
  kTokenized,   // TokenizedMessage
  kStarted,     // StartedMessage: the first token is there; what it took, just before its kDelta
  kDelta,       // DeltaMessage
  kDone,        // DoneMessage
  kEmbedded,    // EmbeddedMessage
  kFailed,      // FailedMessage: for a request, or for kOpen and kLoad; never for the whole worker
  kStored,      // StoredMessage
  kBlocks,      // BlocksMessage: after its request's kDone, with time to spare
  kHeartbeat,   // HeartbeatMessage, twice a second from a thread of its own

  // keeper -> front
  kKept = 96,  // {}: they are locked

  // fetcher -> front
  kFetchedText = 112,  // FetchedText
  kFetching,           // Fetching
  kFetched,            // Fetched
};

// One message between front and worker: a type, the request it belongs to (0: the worker itself), a
// JSON payload and, from the front only, file descriptors.
struct Frame {
  FrameType type = FrameType::kHeartbeat;
  std::uint64_t request = 0;
  std::string payload;
  std::vector<Fd> descriptors;
};

inline Frame make_frame(FrameType type, std::uint64_t request, std::string payload) {
  Frame frame;
  frame.type = type;
  frame.request = request;
  frame.payload = std::move(payload);
  return frame;
}

// On the socket a frame is 16 bytes of header, little-endian, then the payload:
//   u32 payload length · u16 type · u16 number of descriptors · u64 request
// Descriptors travel by SCM_RIGHTS with the header's bytes.
constexpr std::size_t kHeaderSize = 16;

// A peer that announces more than this is broken, and its socket is closed. Large enough for a
// prompt of megabytes with its escapes.
constexpr std::size_t kMaxPayload = std::size_t{64} << 20;
constexpr std::size_t kMaxDescriptors = 128;

}  // namespace hearth::wire
