// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"
#include "base/sha256.h"
#include "transfer/part_journal.h"
#include "transfer/part_table.h"

namespace hearth::transfer {

struct Wanted {
  std::optional<Digest> promised;
  std::optional<Bytes> size;  // promised, too: a server with another one is wrong
  std::string boot;           // id of this run of the system, at most 64 bytes
  Geometry geometry;
};

// Bytes to ask a server for. `end` is exclusive; nothing: as far as the server goes.
struct Range {
  std::uint64_t id = 0;
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> end;
};

// What the headers of a good answer (200 or 206) say of the file as a whole.
struct Answer {
  std::optional<Bytes> size;
  std::string validator;  // see ContentIdentity
};

enum class Answered {
  kGoOn,
  kBegunAnew,  // another version: every range given so far is void, the one answered included
};
enum class Taken {
  kMore,    // and more may come
  kEnough,  // the range is full or void: end this transfer
};
enum class Flow {
  kGo,
  kHold,  // the hash is too far behind: read no more of it for now
  kEnd,   // void, or of no use any more: end this transfer and ask next()
};
enum class HowEnded {
  kCut,    // or given up, for whatever reason
  kWhole,  // the server's answer was complete
};
enum class HashStep { kProgress, kWait, kComplete };

struct DownloadState {
  enum class Stage { kDownload, kVerify };
  Stage stage = Stage::kDownload;  // kVerify: nothing is missing, as far as is known
  Bytes arrived;                   // in the file, and right as far as is known
  Bytes hashed;
  std::optional<Bytes> total;
  Bytes received;  // since open()
  int looks = 1;   // 2 and more: all came, and it was not what was promised
};

struct Finished {
  Digest sha256{};
  Bytes size;
  std::string validator;
};

// The download of one file into two others: the data and its journal of parts. It knows what to ask
// for, keeps what comes, and hashes it in order; who talks to the server, and over what, is not its
// business. All that arrived before a kill -9 counts, and so does all that the device has after a
// power cut.
//
// What is promised: kComplete is said only of a file whose every byte went through the hash after
// it was last written, and whose hash is the promised one where one was promised. A part that is
// not what it was on an earlier run is asked for again, alone. When all of it came and the whole is
// wrong, parts are asked for again in order until it is right; when looking again changes nothing,
// it fails.
//
// Two sides, each with one thread at a time: the network's and the hash's. They may run at once.
// Parts that are full belong to the hash, all others to the network, and a mutex that is never held
// during I/O hands them over. What has arrived is read back from the page cache, so no content is
// held in memory but the one part being hashed.
class Download {
 public:
  // Goes on with what is in the two files, or begins anew where that is of something else, is torn,
  // or could be of another version and nothing would tell. Reads the journal only. A file that was
  // complete already, and was promised to be nothing in particular, stays the version that it is.
  // Errors: kNoSpace at once, with need and free; kInvalid, larger than kLargestFile; kUnavailable.
  static Result<std::unique_ptr<Download>> open(const Files& files, Fd data, Fd journal,
                                                Wanted wanted);
  ~Download();
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  // ---- the network's side ----

  // What to ask for next; nothing when enough is on its way for now. Ask again after any arrived()
  // that returned kEnough, any ended(), and whenever the hash has moved. While the size is unknown
  // there is one range at a time.
  std::optional<Range> next();

  // To be said of each answer before its bytes.
  // Errors: kCorrupt, another size than was promised; kUnavailable, when the file changes again and
  // again; those of open().
  Result<Answered> answered(const Answer& answer);

  // The server sent the whole file in place of `id` (200 for 206): that answer is now a stream from
  // the beginning, all other ranges are void. From now on next() gives such streams only. What is
  // here is not written again as a stream passes it.
  Range stream_instead(std::uint64_t id);

  // The next bytes of a range, at once in the file. More than the range has are left alone.
  // Errors: kNoSpace, kUnavailable; all that came before is kept.
  Result<Taken> arrived(std::uint64_t id, std::span<const std::byte> bytes);

  // Gives back what did not come. Fine for a void range, too. To be said of every range; kWhole is
  // how a file without a length ends.
  // Errors: those of answered(), where the end tells the size.
  Result<> ended(std::uint64_t id, HowEnded how);

  // Of a transfer under way; to be looked at after the hash has moved. kHold is for streams only.
  Flow flow(std::uint64_t id) const;

  // For If-Range; empty: none.
  const std::string& validator() const { return identity_.validator; }

  // ---- the hash's side ----

  // Hashes the next part, if it is there. After kComplete nothing is asked for any more.
  // Errors: kCorrupt, with both digests, when looking again did not help; kNoSpace, kUnavailable.
  Result<HashStep> hash_some();

  // Returns when the network's side has done something since hash_some() said kWait, or at stop().
  void wait_for_bytes();

  // ---- either side ----

  // Ends wait_for_bytes(), now and in the future.
  void stop();
  DownloadState state() const;

  // After kComplete, with no other call under way: returns when data and journal are on the device.
  // Errors: kNoSpace, kUnavailable. Then what the page cache has is forgotten, for it may be all
  // there is; a new open() finds out.
  Result<Finished> finish();

 private:
  struct Transit;
  struct Job;
  Download(const Files& files, Fd data, Fd journal, Wanted wanted);

  // Network's side.
  Result<> adopt(Journal journal);
  Result<> begin(ContentIdentity identity);
  Result<> learn_size(Bytes size);
  Result<> take_room(Bytes size) const;
  Result<> write_header_of_identity();
  Result<> store(Transit& transit, std::span<const std::byte>& bytes);
  void reset_table();

  // Hash's side.
  Result<HashStep> hash(const Job& job);
  bool void_now(const Job& job) const;
  Result<HashStep> lose(const Job& job);
  Result<HashStep> keep(const Job& job, const Digest& digest);
  Result<HashStep> end_of_pass(const Job& job);

  const Files& files_;
  const Fd data_;
  const Fd journal_;
  const Wanted wanted_;

  // The network's.
  ContentIdentity identity_;
  std::map<std::uint64_t, Transit> transits_;
  std::uint64_t last_id_ = 0;
  int times_begun_ = 0;
  bool streams_ = false;

  // The hash's.
  std::unique_ptr<Sha256> whole_;
  std::vector<std::byte> buffer_;
  Digest digest_{};
  std::optional<Error> failed_;

  // Both sides'.
  std::atomic<std::uint64_t> received_{0};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PartTable table_;          // under mutex_
  std::uint64_t salt_ = 0;   // under mutex_; of the journal
  std::uint64_t epoch_ = 0;  // under mutex_; another number: all content is another
  std::uint64_t moves_ = 0;  // under mutex_; of the network's side
  std::uint64_t seen_ = 0;   // under mutex_; moves_ when hash_some() last looked
  bool stopped_ = false;     // under mutex_
};

}  // namespace hearth::transfer
