// The replay of the log, and the judgement over its end.
#include "engine/log/wal_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "engine/log/directory.h"
#include "engine/log/log_files.h"
#include "engine/log/record_file.h"

namespace cellar {

namespace {

// A reader that follows the log does not read all of what the writer has preallocated, each time.
constexpr uint64_t kAheadOfTail = 16 << 10;

bool before(uint64_t segment, uint64_t offset, const LogPosition& position) {
  return segment < position.segment || (segment == position.segment && offset < position.offset);
}

// Replay: one reading of one log. `tail_` is the place after the last good record; the next segment with
// records must continue exactly there.
class Replay {
 public:
  Replay(LogFiles& files, const LogFacts& facts, const std::function<Status(const LogRecord&)>& visit)
      : files_(files), facts_(facts), visit_(visit) {}
  Replay(LogFiles& files, const LogFacts& facts, const LogEnd& from,
         const std::function<Status(const LogRecord&)>& visit)
      : files_(files),
        facts_(facts),
        visit_(visit),
        tail_(from.position),
        any_record_(from.position.offset > kFileHeaderBytes),
        last_sequence_(from.last_sequence),
        goes_on_(true) {
    CELLAR_ASSERT(tail_.segment >= facts.first_segment && tail_.offset >= kFileHeaderBytes);
  }

  Result<LogSummary> run();

 private:
  enum class Next : uint8_t { kSegment, kEnd };

  Status list();
  Status first_segment();
  Result<Next> read_segment(size_t index);
  Result<Next> go_on();
  Result<Next> records(RecordFile& file, size_t index, uint64_t offset, uint32_t chain);
  Status take_record(const RecordFile& file, uint64_t offset, const Found& found);
  Result<Next> after_close(RecordFile& file, size_t index, uint64_t next_segment);
  Result<Next> bad_header(RecordFile& file, size_t index);
  Result<Next> judge(RecordFile& file, size_t index, uint64_t offset, Look look);
  Result<bool> written_meanwhile(const Status& judged, RecordFile& file, uint64_t offset, uint32_t chain,
                                 Found& found);
  Result<bool> continues_here(size_t index);
  Result<bool> written_later(size_t index);
  Result<bool> is_hole(RecordFile& file, size_t index, uint64_t offset);
  Result<bool> durable_by_witness(RecordFile& file, size_t index, uint64_t offset);
  Result<Next> torn(RecordFile& file, size_t index, uint64_t offset);
  Result<RecordFile> open(uint64_t id) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<ReadableFile> opened, files_.open(id));
    Result<RecordFile> file =
        RecordFile::open(std::move(opened), segment_name(id), FileKind::kLog, facts_.identity, id);
    if (goes_on_ && file.ok()) file->look_ahead_only(kAheadOfTail);
    return file;
  }
  Result<LogSummary> finish();
  Status damage(uint64_t segment, uint64_t offset, std::string_view what) const;

  LogFiles& files_;
  const LogFacts& facts_;
  const std::function<Status(const LogRecord&)>& visit_;
  std::vector<uint64_t> ids_;
  LogPosition tail_;
  bool any_record_ = false;     // tail_ stands after a record
  uint64_t promised_ = 0;       // the segment that the last CLOSE named
  uint64_t last_sequence_ = 0;  // of all records, those of PREV and CLOSE included
  bool goes_on_ = false;        // at tail_, where an earlier reading ended
  LogSummary summary_;
};

Status Replay::damage(uint64_t segment, uint64_t offset, std::string_view what) const {
  const std::string last = any_record_
                               ? fmt::format("the last whole record before it is number {}, sequence {}",
                                             tail_.lsn - 1, last_sequence_)
                               : std::string("no whole record precedes it");
  return Status::corruption(
             fmt::format("the log is damaged: {}; {}; what was written after it is lost", what, last))
      .at(fmt::format("{}/{}: offset {}", kWalDirectoryName, segment_name(segment), offset))
      .hinting(
          "restore the segment from a copy, or open with tolerate_torn_log to lose the writes after the "
          "damage");
}

Status Replay::list() {
  CELLAR_TRY_ASSIGN(ids_, files_.list());
  summary_.next_segment = std::max(ids_.empty() ? 1 : ids_.back() + 1, facts_.first_segment);
  std::erase_if(ids_, [&](uint64_t id) { return id < facts_.first_segment; });
  CELLAR_ASSERT(ids_.empty() ||
                (ids_.front() >= facts_.first_segment && ids_.back() < summary_.next_segment));
  // The manifest knows of durable segments: those must be there. Others came into being one after the other.
  const uint64_t known = std::max(facts_.synced.segment, facts_.clean_close.segment);
  if (known != 0 && (ids_.empty() || ids_.front() != facts_.first_segment)) {
    return damage(facts_.first_segment, 0, "its first segment is missing");
  }
  for (size_t i = 1; i < ids_.size(); ++i) {
    if (ids_[i] != ids_[i - 1] + 1)
      return damage(ids_[i - 1] + 1, 0, "a segment between two others is missing");
  }
  if (known != 0 && ids_.back() < known) return damage(known, 0, "its newest segment is missing");
  return Status();
}

Result<LogSummary> Replay::run() {
  CELLAR_TRY(list());
  if (goes_on_) {
    std::erase_if(ids_, [&](uint64_t id) { return id < tail_.segment; });
    if (ids_.empty() || ids_.front() != tail_.segment)
      return damage(tail_.segment, tail_.offset, "the segment that was read last is missing");
  }
  for (size_t i = 0; i < ids_.size(); ++i) {
    const bool in_the_middle = goes_on_ && i == 0;
    CELLAR_TRY_ASSIGN(const Next next, in_the_middle ? go_on() : read_segment(i));
    const uint64_t bytes = tail_.segment == ids_[i] ? tail_.offset : kFileHeaderBytes;
    summary_.segments.push_back({ids_[i], bytes, last_sequence_});
    if (next == Next::kEnd) break;
  }
  return finish();
}

Result<Replay::Next> Replay::read_segment(size_t index) {
  CELLAR_TRY_ASSIGN(RecordFile file, open(ids_[index]));
  CELLAR_ASSERT(index == 0 || tail_.segment <= ids_[index]);
  if (!file.header_status().ok()) return bad_header(file, index);
  const FileHeader& header = file.header();
  if (index == 0) {
    tail_ = {ids_[0], kFileHeaderBytes, header.first_lsn, file.header_crc()};
    last_sequence_ = header.first_sequence;
  } else if (header.first_lsn != 0) {
    // Made by a recovery that did not finish: nothing was appended to it.
    CELLAR_TRY_ASSIGN(const uint64_t end, file.written_end(kFileHeaderBytes));
    if (end != kFileHeaderBytes) {
      return damage(ids_[index], kFileHeaderBytes, "the segment does not continue the one before");
    }
  }
  return records(file, index, kFileHeaderBytes, file.header_crc());
}

// The first segment, from the end of the earlier reading on.
Result<Replay::Next> Replay::go_on() {
  CELLAR_ASSERT(goes_on_ && tail_.segment == ids_.front());
  CELLAR_TRY_ASSIGN(RecordFile file, open(tail_.segment));
  if (!file.header_status().ok() || file.size() < tail_.offset)
    return damage(tail_.segment, tail_.offset, "the segment is not the one that was read before");
  return records(file, 0, tail_.offset, tail_.chain);
}

// A header is durable before anything relies on the segment. So a bad one is the trace of a crash only where
// nothing does.
Result<Replay::Next> Replay::bad_header(RecordFile& file, size_t index) {
  const Status& bad = file.header_status();
  CELLAR_ASSERT(!bad.ok() && file.id() == ids_[index]);
  const uint64_t id = ids_[index];
  if (bad.is(Code::kNotSupported)) return bad.at(fmt::format("{}/{}", kWalDirectoryName, file.name()));
  const bool needed = promised_ == id || before(id, 0, facts_.synced) || before(id, 0, facts_.clean_close);
  CELLAR_TRY_ASSIGN(const uint64_t end, file.written_end(std::min<uint64_t>(kFileHeaderBytes, file.size())));
  CELLAR_TRY_ASSIGN(const bool later, written_later(index));
  if (needed || end > kFileHeaderBytes || later) return damage(id, 0, bad.message());
  if (index == 0) tail_ = {};
  return Next::kEnd;
}

// Reads the records from `offset` on. `chain` is that of the record before, or of the header.
Result<Replay::Next> Replay::records(RecordFile& file, size_t index, uint64_t offset, uint32_t chain) {
  const uint64_t id = file.id();
  for (;;) {
    const bool first = offset == kFileHeaderBytes;
    CELLAR_TRY_ASSIGN(Found found, file.look(offset, chain, tail_.lsn));
    if (found.look != Look::kRecord) {
      const Result<Next> judged = judge(file, index, offset, found.look);
      CELLAR_TRY_ASSIGN(const bool written, written_meanwhile(judged.status(), file, offset, chain, found));
      if (!written) return judged;
    }
    PrevFacts prev;
    const bool is_prev = found.header.type == RecordType::kPrev;
    const bool must_be_prev = first && file.header().first_lsn == 0;
    if (is_prev != must_be_prev) return damage(id, offset, "a record is in the wrong place");
    if (is_prev) {
      if (!decode_prev(found.payload, prev) || prev.lsn != found.header.lsn || prev.segment >= id) {
        return damage(id, offset, "the first record of the segment is invalid");
      }
      if (index > 0 && LogPosition{prev.segment, prev.bytes, prev.lsn, prev.chain} != tail_) {
        return damage(id, offset, "the segment does not continue the one before");
      }
    }
    CELLAR_ASSERT(found.end > offset && found.end <= file.size());
    if (facts_.manifest_edit < UINT32_MAX && found.header.edit > facts_.manifest_edit) {
      summary_.later_edit = found.header.edit;
      if (files_.is_held()) return Next::kEnd;
      return manifest_is_short(facts_.manifest_edit, found.header.edit, id, offset);
    }
    CELLAR_TRY(take_record(file, offset, found));
    offset = found.end;
    chain = found.header.bcrc;
    if (found.header.type == RecordType::kClose)
      return after_close(file, index, load_le64(found.payload.data()));
  }
}

// The log may be read while it is written. Bytes that were read before the writer came to them contradict
// those that were read later. Returns true, with the record in `found`, if a second look finds one where the
// first look led to damage.
Result<bool> Replay::written_meanwhile(const Status& judged, RecordFile& file, uint64_t offset,
                                       uint32_t chain, Found& found) {
  if (!judged.is(Code::kCorruption)) return false;
  file.look_anew();
  CELLAR_TRY_ASSIGN(found, file.look(offset, chain, tail_.lsn));
  return found.look == Look::kRecord;
}

Status Replay::take_record(const RecordFile& file, uint64_t offset, const Found& found) {
  CELLAR_ASSERT(found.look == Look::kRecord);
  const RecordHeader& header = found.header;
  const bool is_data = header.type == RecordType::kData;
  if (is_data ? header.sequence <= last_sequence_ : header.sequence < last_sequence_) {
    return damage(file.id(), offset, "its sequence is not above that of the record before it");
  }
  if (is_data) {
    CELLAR_TRY(visit_({file.id(), offset, header.lsn, header.sequence, header.count, found.payload}));
    ++summary_.records;
    summary_.last_sequence = header.sequence;
  }
  summary_.manifest_edit = std::max(summary_.manifest_edit, header.edit);
  last_sequence_ = header.sequence;
  tail_ = {file.id(), found.end, header.lsn + 1, header.bcrc};
  any_record_ = true;
  CELLAR_ASSERT(summary_.last_sequence <=
                last_sequence_);  // that of PREV and CLOSE is included in the latter
  return Status();
}

Result<Replay::Next> Replay::after_close(RecordFile& file, size_t index, uint64_t next_segment) {
  CELLAR_ASSERT(any_record_ && tail_.segment == file.id());
  CELLAR_TRY_ASSIGN(const uint64_t end, file.written_end(tail_.offset));
  if (end != tail_.offset)
    return damage(file.id(), tail_.offset, "a closed segment has trailing bytes after its end");
  promised_ = next_segment;
  // The next segment's name was durable before the CLOSE was written.
  const bool is_last = index + 1 == ids_.size();
  if (next_segment == 0 || (!is_last && ids_[index + 1] == next_segment)) return Next::kSegment;
  CELLAR_TRY_ASSIGN(const bool written_since, files_.has_grown_to(next_segment));
  if (!is_last || !written_since) return damage(next_segment, 0, "its newest segment is missing");
  return Next::kEnd;  // the log is read as it was when it was listed
}

// The rules of wal_reader.h, for what stands at `offset` instead of a record.
Result<Replay::Next> Replay::judge(RecordFile& file, size_t index, uint64_t offset, Look look) {
  CELLAR_ASSERT(look != Look::kRecord);
  for (const SealedEnd& sealed : facts_.sealed) {
    if (sealed.segment == file.id() && sealed.bytes == offset) return Next::kSegment;
  }
  CELLAR_TRY_ASSIGN(const bool continued, continues_here(index));
  if (continued) return Next::kSegment;
  const std::string_view what = look == Look::kDamaged ? "a record does not match its checksum"
                                : look == Look::kTorn  ? "a record is incomplete"
                                                       : "records are missing";
  if (before(file.id(), offset, facts_.clean_close) || before(file.id(), offset, facts_.synced)) {
    return damage(file.id(), offset, fmt::format("{}, but the manifest knows that it was durable", what));
  }
  CELLAR_TRY_ASSIGN(const bool later, written_later(index));
  if (look == Look::kNothing && !later) return Next::kEnd;
  CELLAR_TRY_ASSIGN(const bool hole, is_hole(file, index, offset));
  if (hole) {
    return damage(file.id(), offset,
                  fmt::format("{}, but whole records follow it, and the machine has not been restarted "
                              "since they were written",
                              what));
  }
  CELLAR_TRY_ASSIGN(const bool was_durable, durable_by_witness(file, index, offset));
  if (was_durable) {
    return damage(file.id(), offset, fmt::format("{}, but a later record says that it was durable", what));
  }
  if (look == Look::kDamaged && !facts_.tolerate_torn) return damage(file.id(), offset, what);
  return torn(file, index, offset);
}

// Returns true if a later segment begins with a PREV that names exactly the tail: then nothing lies between.
Result<bool> Replay::continues_here(size_t index) {
  for (size_t i = index + 1; i < ids_.size(); ++i) {
    CELLAR_TRY_ASSIGN(RecordFile later, open(ids_[i]));
    if (!later.header_status().ok()) return false;
    if (later.header().first_lsn != 0) continue;
    CELLAR_TRY_ASSIGN(const Found found, later.look(kFileHeaderBytes, later.header_crc(), tail_.lsn));
    if (found.look == Look::kNothing) continue;
    PrevFacts prev;
    return found.look == Look::kRecord && found.header.type == RecordType::kPrev &&
           decode_prev(found.payload, prev) &&
           LogPosition{prev.segment, prev.bytes, prev.lsn, prev.chain} == tail_;
  }
  return false;
}

Result<bool> Replay::written_later(size_t index) {
  for (size_t i = index + 1; i < ids_.size(); ++i) {
    CELLAR_TRY_ASSIGN(RecordFile later, open(ids_[i]));
    if (later.size() <= kFileHeaderBytes) continue;
    CELLAR_TRY_ASSIGN(const uint64_t end, later.written_end(kFileHeaderBytes));
    if (end != kFileHeaderBytes) return true;
  }
  return false;
}

// Returns true if there is a hole although the machine has run since the segment was made. The end of a
// process tears the last record at most: all before it is in the page cache. Only the end of the machine may
// leave a hole.
Result<bool> Replay::is_hole(RecordFile& file, size_t index, uint64_t offset) {
  if (facts_.tolerate_torn || !facts_.boot.is_set() || file.header().boot != facts_.boot) return false;
  bool hole = false;
  const auto any_record = [&](const RecordHeader&) { return !(hole = true); };
  CELLAR_TRY(file.scan(offset + 8, any_record));
  for (size_t i = index + 1; i < ids_.size() && !hole; ++i) {
    CELLAR_TRY_ASSIGN(RecordFile later, open(ids_[i]));
    CELLAR_TRY(later.scan(kFileHeaderBytes, any_record));
  }
  return hole;
}

Result<bool> Replay::durable_by_witness(RecordFile& file, size_t index, uint64_t offset) {
  bool witness = false;
  CELLAR_TRY(
      file.scan(offset, [&](const RecordHeader& header) { return !(witness = header.synced > offset); }));
  for (size_t i = index + 1; i < ids_.size() && !witness; ++i) {
    CELLAR_TRY_ASSIGN(RecordFile later, open(ids_[i]));
    CELLAR_TRY(later.scan(kFileHeaderBytes, [&](const RecordHeader& header) {
      return !(witness = (header.flags & kFlagEarlierDurable) != 0);
    }));
  }
  return witness;
}

Result<Replay::Next> Replay::torn(RecordFile& file, size_t index, uint64_t offset) {
  CELLAR_TRY_ASSIGN(const uint64_t end, file.written_end(offset));
  CELLAR_ASSERT(end >= offset);
  summary_.torn_bytes += end - offset;
  for (size_t i = index + 1; i < ids_.size(); ++i) {
    CELLAR_TRY_ASSIGN(RecordFile later, open(ids_[i]));
    const uint64_t from = std::min<uint64_t>(kFileHeaderBytes, later.size());
    CELLAR_TRY_ASSIGN(const uint64_t later_end, later.written_end(from));
    summary_.torn_bytes += later_end - from;
  }
  return Next::kEnd;
}

Result<LogSummary> Replay::finish() {
  const LogPosition& closed = facts_.clean_close;
  for (size_t i = summary_.segments.size(); i < ids_.size(); ++i) {
    summary_.segments.push_back({ids_[i], kFileHeaderBytes, last_sequence_});
  }
  CELLAR_ASSERT(summary_.segments.size() == ids_.size());
  summary_.end = tail_;
  summary_.last_sequence = last_sequence_;
  summary_.read_to = {tail_, last_sequence_};
  // A log whose first segment lost even its PREV record does not know its numbers; any number begins a new
  // log.
  summary_.end.lsn = std::max<uint64_t>(1, tail_.lsn);
  summary_.clean = closed.segment != 0 && tail_ == closed && summary_.torn_bytes == 0;
  const bool behind_close =
      closed.segment == 0 || closed == tail_ || before(closed.segment, closed.offset, tail_);
  if (!behind_close || before(tail_.segment, tail_.offset, facts_.synced)) {
    // An empty segment may be the durable end that the manifest knows: its header is all there is to it.
    const bool empty_end = behind_close && facts_.synced.offset <= kFileHeaderBytes &&
                           std::binary_search(ids_.begin(), ids_.end(), facts_.synced.segment);
    if (!empty_end)
      return damage(tail_.segment, tail_.offset, "it ends before the end that the manifest records");
  }
  return summary_;
}

}  // namespace

Status manifest_is_short(uint64_t edit, uint64_t later_edit, uint64_t segment, uint64_t offset) {
  CELLAR_ASSERT(later_edit > edit);
  return Status::corruption(
             fmt::format("the manifest has lost its end: it stops at edit {}, but the log says "
                         "that edit {} was durable",
                         edit, later_edit))
      .at(fmt::format("{}/{}: offset {}", kWalDirectoryName, segment_name(segment), offset))
      .hinting("restore the manifest from a copy");
}

Result<LogSummary> read_log(Directory& wal, const LogFacts& facts,
                            const std::function<Status(const LogRecord&)>& visit) {
  LogFiles files(wal);
  return read_log(files, facts, visit);
}

Result<LogSummary> read_log(LogFiles& files, const LogFacts& facts,
                            const std::function<Status(const LogRecord&)>& visit) {
  return Replay(files, facts, visit).run();
}

Result<LogSummary> read_log_from(LogFiles& files, const LogFacts& facts, const LogEnd& from,
                                 const std::function<Status(const LogRecord&)>& visit) {
  return Replay(files, facts, from, visit).run();
}

Status remove_segments_before(Directory& wal, uint64_t segment, std::span<const LogSegment> keep,
                              EventListener* events) {
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, wal.list());  // sorted: oldest first
  for (const DirectoryEntry& entry : entries) {
    uint64_t id = 0;
    if (is_segment_copy_name(entry.name)) CELLAR_TRY(wal.unlink(entry.name));  // of a crash
    if (!parse_segment_name(entry.name, id) || id >= segment) continue;
    if (std::ranges::find(keep, id, &LogSegment::id) != keep.end()) continue;
    CELLAR_TRY(wal.unlink(entry.name));
    if (events != nullptr) events->on_log_removed(id, entry.bytes);
  }
  return Status();
}

}  // namespace cellar
