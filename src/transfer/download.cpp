// SPDX-License-Identifier: Apache-2.0
#include "transfer/download.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/size_text.h"
#include "transfer/transit.h"

namespace hearth::transfer {
namespace {

// A file that changes more often than this while it is fetched is not going to hold still.
constexpr int kMostVersions = 4;

std::string known(std::string validator) {
  return validator.size() <= kLongestValidator ? std::move(validator) : std::string{};
}

Failed too_large() {
  return fail(ErrorCode::kInvalid,
              "the file is larger than the most that is fetched, " + size_text(kLargestFile));
}

// Nothing would tell whether what comes next belongs to what is here.
bool nameless(const ContentIdentity& identity) {
  return !identity.promised && identity.validator.empty();
}

bool same_content(const Journal& journal, const Wanted& wanted) {
  const ContentIdentity& had = journal.header.identity;
  if (journal.header.part_size != wanted.geometry.part || had.promised != wanted.promised) {
    return false;
  }
  return !nameless(had) && (!had.size || !wanted.size || had.size == wanted.size);
}

enum class Boot { kSame, kAnother };

// What may be believed of a part after a look at nothing but the journal and the data's length.
PartRecord worth_keeping(const PartRecord& part, Bytes length, Bytes on_disk, Boot boot) {
  const bool hashed = part.digest && Bytes{part.filled} == length;
  const Bytes there = std::min(Bytes{part.filled}, on_disk);
  if (hashed ? there == length : boot == Boot::kSame) {
    return {static_cast<std::uint32_t>(there.count()), part.digest};
  }
  return {0, part.digest};
}

}  // namespace

Download::Download(const Files& files, Fd data, Fd journal, Wanted wanted)
    : files_{files},
      data_{std::move(data)},
      journal_{std::move(journal)},
      wanted_{std::move(wanted)},
      table_{wanted_.geometry} {}

Download::~Download() = default;

Result<std::unique_ptr<Download>> Download::open(const Files& files, Fd data, Fd journal,
                                                 Wanted wanted) {
  if (wanted.size > kLargestFile) return too_large();
  std::unique_ptr<Download> download{
      new Download{files, std::move(data), std::move(journal), std::move(wanted)}};
  Result<Journal> had = read_journal(files, download->journal_);
  if (!had && had.error().code() != ErrorCode::kCorrupt) return Failed{std::move(had).error()};
  const Wanted& asked = download->wanted_;
  Result<> opened = had && same_content(*had, asked)
                        ? download->adopt(std::move(*had))
                        : download->begin({asked.size, asked.promised, {}});
  if (!opened) return Failed{std::move(opened).error()};
  return download;
}

Result<> Download::adopt(Journal journal) {
  const Result<FileInfo> data = files_.info(data_);
  if (!data) return Failed{data.error()};
  identity_ = journal.header.identity;
  if (!identity_.size) identity_.size = wanted_.size;
  salt_ = journal.header.salt;
  table_.reset(identity_.size, journal.parts);

  // Records first: were it the other way round and a kill between them, what another boot left
  // would be taken for this one's.
  const Boot boot = journal.header.boot == wanted_.boot ? Boot::kSame : Boot::kAnother;
  for (std::size_t i = 0; i < journal.parts.size(); ++i) {
    PartRecord& part = journal.parts[i];
    const Bytes on_disk = data->size - Bytes{table_.begin_of(i)};
    const PartRecord kept = worth_keeping(part, Bytes{table_.length_of(i)}, on_disk, boot);
    if (kept == part) continue;
    part = kept;
    Result<> written = write_record(files_, journal_, salt_, i, part);
    if (!written) return written;
  }
  table_.reset(identity_.size, journal.parts);
  Result<> done = write_header_of_identity();
  if (done && identity_.size) done = take_room(*identity_.size);
  return done;
}

// The table first: the hash must not take what is cut off for what was lost.
Result<> Download::begin(ContentIdentity identity) {
  transits_.clear();
  reset_table();
  const std::optional<Bytes> size = std::exchange(identity.size, std::nullopt);
  identity_ = std::move(identity);
  const Result<FileInfo> data = files_.info(data_);
  if (!data) return Failed{data.error()};
  // Not for a new file: some file systems flush at close what was ever cut to nothing.
  Result<> done;
  if (data->size > Bytes{}) done = files_.resize(data_, Bytes{});
  if (!done) return done;
  const Result<JournalHeader> header =
      begin_journal(files_, journal_, {identity_, wanted_.geometry.part, wanted_.boot, 0});
  if (!header) return Failed{header.error()};
  {
    const std::lock_guard lock{mutex_};
    salt_ = header->salt;
  }
  if (size) done = learn_size(*size);
  return done;
}

void Download::reset_table() {
  {
    const std::lock_guard lock{mutex_};
    ++epoch_;
    ++moves_;
    table_.reset(std::nullopt, {});
  }
  changed_.notify_all();
}

Result<> Download::learn_size(Bytes size) {
  if (size > kLargestFile) return too_large();
  Result<> done = take_room(size);
  if (!done) return done;
  identity_.size = size;
  done = write_header_of_identity();
  if (!done) return done;
  for (auto& [id, transit] : transits_) {
    transit.end = std::min(transit.end.value_or(size.count()), size.count());
  }
  {
    const std::lock_guard lock{mutex_};
    table_.set_size(size);
    ++moves_;
  }
  changed_.notify_all();
  return {};
}

// Both files', so that nothing later runs out of it.
Result<> Download::take_room(Bytes size) const {
  const std::uint64_t part = wanted_.geometry.part.count();
  Result<> taken = files_.allocate(journal_, journal_size((size.count() + part - 1) / part));
  if (taken) taken = files_.allocate(data_, size);
  if (taken || taken.error().code() != ErrorCode::kNoSpace) return taken;
  const Bytes here = state().arrived;
  const Result<Space> space = files_.space(fmt::format("/proc/self/fd/{}", data_.get()));
  std::string free = space ? size_text(space->free) + " are free" : "that much is not free";
  return fail(ErrorCode::kNoSpace, fmt::format("needs {}, of which {} are here; {}",
                                               size_text(size), size_text(here), free));
}

Result<> Download::write_header_of_identity() {
  return write_header(files_, journal_, {identity_, wanted_.geometry.part, wanted_.boot, salt_});
}

std::optional<Range> Download::next() {
  std::optional<PartTable::Run> run;
  std::optional<Bytes> size;
  {
    const std::lock_guard lock{mutex_};
    size = table_.size();
    const bool alone = streams_ || !size;
    if (alone && !transits_.empty()) return std::nullopt;
    if (streams_ && !table_.wants_stream()) return std::nullopt;
    if (!streams_) run = table_.take();
    if (!streams_ && !run) return std::nullopt;
  }
  const std::uint64_t id = ++last_id_;
  Transit transit;
  transit.stream = streams_;
  if (run) transit.position = run->begin;
  if (run) transit.end = run->end;
  if (streams_ && size) transit.end = size->count();
  transits_[id] = transit;
  return Range{id, transit.position, transit.end};
}

Result<Answered> Download::answered(const Answer& answer) {
  if (wanted_.size && answer.size && *answer.size != *wanted_.size) {
    return fail(ErrorCode::kCorrupt, fmt::format("the server has {} bytes, promised were {}",
                                                 answer.size->count(), wanted_.size->count()));
  }
  const std::string validator = known(answer.validator);
  const bool other_size = identity_.size && answer.size && *identity_.size != *answer.size;
  const bool other_word =
      !validator.empty() && !identity_.validator.empty() && validator != identity_.validator;
  // With a promise another word says little: the hash decides.
  if (other_size || (other_word && !identity_.promised)) {
    if (++times_begun_ >= kMostVersions) {
      return fail(ErrorCode::kUnavailable, "the file changes again and again while it is fetched");
    }
    Result<> begun = begin({answer.size, identity_.promised, validator});
    if (!begun) return Failed{std::move(begun).error()};
    return Answered::kBegunAnew;
  }
  const bool news = !validator.empty() && validator != identity_.validator;
  if (news) identity_.validator = validator;
  Result<> done;
  if (!identity_.size && answer.size) {
    done = learn_size(*answer.size);
  } else if (news) {
    done = write_header_of_identity();
  }
  if (!done) return Failed{std::move(done).error()};
  return Answered::kGoOn;
}

Range Download::stream_instead(std::uint64_t id) {
  {
    const std::lock_guard lock{mutex_};
    table_.give_back_all();
  }
  streams_ = true;
  Transit transit;
  transit.stream = true;
  if (identity_.size) transit.end = identity_.size->count();
  transits_.clear();
  transits_[id] = transit;
  return Range{id, 0, transit.end};
}

Result<Taken> Download::arrived(std::uint64_t id, std::span<const std::byte> bytes) {
  received_ += bytes.size();
  const auto found = transits_.find(id);
  if (found == transits_.end()) return Taken::kEnough;
  Transit& transit = found->second;
  while (!bytes.empty() && !transit.over()) {
    Result<> stored = store(transit, bytes);
    if (!stored) return Failed{std::move(stored).error()};
  }
  return transit.over() ? Taken::kEnough : Taken::kMore;
}

// As much as goes into one part; what is here already is passed over.
Result<> Download::store(Transit& transit, std::span<const std::byte>& bytes) {
  std::size_t part = 0;
  std::uint64_t salt = 0;
  std::uint64_t filled_to = 0;
  std::uint64_t part_end = 0;
  PartRecord record;
  {
    const std::lock_guard lock{mutex_};
    part = table_.part_at(transit.position);
    if (transit.stream) table_.enter(part);
    record = table_.record(part);
    salt = salt_;
    filled_to = table_.begin_of(part) + record.filled;
    part_end = table_.begin_of(part) + table_.length_of(part);
  }
  if (part_end > kLargestFile.count()) return too_large();
  const bool fits = transit.position == filled_to && filled_to < part_end;
  const std::uint64_t until = transit.position < filled_to ? filled_to : part_end;
  const std::size_t count = std::min<std::uint64_t>(bytes.size(), until - transit.position);
  if (fits) {
    record.filled += static_cast<std::uint32_t>(count);
    Result<> written = files_.write_at(data_, transit.position, bytes.first(count));
    if (written) written = write_record(files_, journal_, salt, part, record);
    if (!written) return written;
    const std::lock_guard lock{mutex_};
    table_.fill(part, count);
    if (table_.full(part)) ++moves_;
  }
  if (fits && transit.position + count == part_end) changed_.notify_all();
  transit.position += count;
  bytes = bytes.subspan(count);
  return {};
}

Result<> Download::ended(std::uint64_t id, HowEnded how) {
  const auto found = transits_.find(id);
  if (found == transits_.end()) return {};
  const Transit transit = found->second;
  transits_.erase(found);
  if (!transit.stream && transit.end) {
    const std::lock_guard lock{mutex_};
    table_.give_back(transit.position, *transit.end);
  }
  if (transit.stream && !identity_.size && how == HowEnded::kWhole) {
    return learn_size(Bytes{transit.position});
  }
  return {};
}

Flow Download::flow(std::uint64_t id) const {
  const auto found = transits_.find(id);
  if (found == transits_.end()) return Flow::kEnd;
  const Transit& transit = found->second;
  if (!transit.stream) return Flow::kGo;
  const std::lock_guard lock{mutex_};
  if (table_.mode() == PartTable::Mode::kDone) return Flow::kEnd;
  const std::size_t part = table_.part_at(transit.position);
  if (table_.too_early_for(part)) {
    return table_.blocked_before(part) ? Flow::kEnd : Flow::kHold;
  }
  if (!table_.wants_stream()) return Flow::kEnd;
  return table_.too_far_at(part) ? Flow::kHold : Flow::kGo;
}

void Download::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  changed_.notify_all();
}

DownloadState Download::state() const {
  DownloadState state;
  state.received = Bytes{received_.load()};
  const std::lock_guard lock{mutex_};
  state.arrived = table_.arrived();
  state.hashed = table_.hashed();
  state.total = table_.size();
  state.looks = table_.look();
  if (table_.nothing_missing()) state.stage = DownloadState::Stage::kVerify;
  return state;
}

}  // namespace hearth::transfer
