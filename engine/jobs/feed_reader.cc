// FeedReaderImpl: the order in which it looks at things is the argument that it misses nothing.
//
// The newest visible sequence is read before the ends of the log's segments. Therefore every visible record
// lies before those ends. The ends are read before the manifest. Therefore the reader notices if a missing
// segment was acknowledged. Bytes after an end are never read. In the segment that is being written, they may
// be incomplete. In a segment that a crash tore, they never counted.
#include "engine/jobs/feed_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engine/jobs/background.h"
#include "engine/jobs/feeds.h"
#include "engine/store/table_state.h"

namespace cellar {

Result<std::unique_ptr<FeedReader>> open_feed(std::shared_ptr<const FeedSource> source,
                                              const std::string& name, std::optional<uint64_t> from) {
  const std::shared_ptr<const ManifestState> state = source->disk.manifest->current();
  const FeedRecord* feed = state->feeds.named(name);
  if (feed == nullptr) return no_such_feed(state->feeds, name);
  if (feed->lost) return feed_was_lost(*feed);
  const uint64_t begin = from.value_or(feed->acknowledged);
  if (begin < feed->acknowledged)
    return Status::invalid_argument(
               fmt::format("feed {} was acknowledged up to {}; the log after {} may have been removed", name,
                           feed->acknowledged, begin))
        .hinting("start at the acknowledged sequence");
  if (const uint64_t visible = source->mvcc.read_point(); begin > visible)
    return Status::invalid_argument(
               fmt::format("sequence {} is not written yet, the newest is {}", begin, visible))
        .hinting("after a power loss, only acknowledged sequences are valid");
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> wal, open_wal_directory(*source->disk.root, false));
  return std::unique_ptr<FeedReader>(
      std::make_unique<FeedReaderImpl>(std::move(source), std::move(wal), *feed, begin));
}

FeedReaderImpl::FeedReaderImpl(std::shared_ptr<const FeedSource> source, std::unique_ptr<Directory> wal,
                               FeedRecord feed, uint64_t from)
    : source_(std::move(source)),
      wal_(std::move(wal)),
      feed_(std::move(feed)),
      position_(from),
      logs_read_anew_(source_->disk.logs_read_anew.load(std::memory_order_acquire)) {
  CELLAR_ASSERT(wal_ != nullptr && position_ >= feed_.acknowledged);
}

FeedReaderImpl::~FeedReaderImpl() = default;

Result<const FeedEntry*> FeedReaderImpl::next(int64_t wait_us) {
  const int64_t until_us = wait_us > 0 ? source_->world.clock.steady_us() + wait_us : 0;
  for (;;) {
    const uint64_t seen = source_->mvcc.published().count();
    if (wait_us != 0) source_->mvcc.add_waiter();
    Result<bool> advanced =
        source_->life.check_open().ok() ? advance() : Result<bool>(source_->life.check_open());
    const int64_t left_us = wait_us > 0 ? until_us - source_->world.clock.steady_us() : wait_us;
    const bool waits = advanced.ok() && !*advanced && (wait_us < 0 || left_us > 0);
    if (waits) source_->mvcc.published().wait(seen, left_us);
    if (wait_us != 0) source_->mvcc.remove_waiter();
    CELLAR_TRY(advanced.status());
    if (*advanced) return &std::as_const(entry_);
    if (!waits) return static_cast<const FeedEntry*>(nullptr);
  }
}

// To the next entry, if there is one that is visible.
Result<bool> FeedReaderImpl::advance() {
  for (;;) {
    if (!found_ || sequence_ > visible_) visible_ = source_->mvcc.read_point();
    CELLAR_ASSERT(position_ <= visible_);
    if (!found_) {
      CELLAR_TRY_ASSIGN(found_, find_record());
    }
    if (source_->disk.logs_read_anew.load(std::memory_order_acquire) != logs_read_anew_)
      return Status::conflict("a refresh has read the log anew; entries of the feed may have been given up")
          .at(feed_.name)
          .hinting("read the feed again from the acknowledged sequence");
    if (log_began_anew()) continue;
    const bool ready = found_ && sequence_ <= visible_;
    const uint64_t until = ready ? sequence_ - 1 : visible_;
    if (until > position_) {
      // Notes that another reader acknowledged may have left the manifest, so this reader cannot pass them.
      const std::shared_ptr<const ManifestState> state = source_->disk.manifest->current();
      CELLAR_TRY(check_feed(*state));
      if (take_noted(until, *state)) return true;
    }
    if (!ready) return false;
    found_ = false;
    position_ = sequence_;
    CELLAR_TRY_ASSIGN(const bool any, take_record());
    if (any) return true;
  }
}

// Records that were found, or are in the open file, may be of writes that failed. No later write is visible
// before the log begins anew, and visible_ was read before.
bool FeedReaderImpl::log_began_anew() {
  const uint64_t restarts = source_->disk.wal != nullptr ? source_->disk.wal->restarts() : 0;
  CELLAR_ASSERT(restarts >= restarts_seen_);
  if (std::exchange(restarts_seen_, restarts) == restarts) return false;
  file_.reset();
  if (!std::exchange(found_, false)) return false;
  place_ = before_found_;
  return true;
}

// Passes sequences that have no record in the log. Stops at the first of them that took in files of the feed
// or replaced its tables. Without such a sequence it passes all of them.
bool FeedReaderImpl::take_noted(uint64_t until, const ManifestState& state) {
  CELLAR_ASSERT(until > position_ && until <= visible_);
  entry_ = {};
  uint64_t known = 0;
  for (const UnloggedNote& note : state.feeds.unlogged) {
    if (note.sequence <= position_ || note.sequence > until) continue;
    if (!(entry_.files.empty() && entry_.replaced.empty()) && note.sequence != entry_.sequence) break;
    known += note.sequence != entry_.sequence ? 1 : 0;
    entry_.sequence = note.sequence;
    const Family* of = family(note.family_id);
    if (of == nullptr || !of->wanted) continue;
    if (!note.file.empty()) {
      entry_.files.push_back({.family = of->family,
                              .path = {},
                              .table = of->table,
                              .name = note.file,
                              .bytes = note.bytes,
                              .cells = note.cells});
    } else if (std::ranges::find(entry_.replaced, of->table) == entry_.replaced.end()) {
      entry_.replaced.push_back(of->table);
    }
  }
  const bool any = !(entry_.files.empty() && entry_.replaced.empty());
  const uint64_t to = any ? entry_.sequence : until;
  unlogged_writes_ += to - position_ - known;
  CELLAR_ASSERT(to > position_ && to <= until);
  position_ = to;
  return any;
}

Result<bool> FeedReaderImpl::take_record() {
  CELLAR_ASSERT(!found_ && sequence_ == position_);
  entry_.sequence = sequence_;
  entry_.cells.clear();
  entry_.files.clear();
  entry_.replaced.clear();
  LogCells cells(payload_, count_, sequence_);
  LogCell each;
  while (cells.next(each)) {
    const Family* of = family(each.family_id);
    if (of == nullptr) {
      ++unnamed_cells_;
    } else if (of->wanted) {
      entry_.cells.emplace_back(of->table, each.cell);
    }
  }
  if (!cells.status().ok()) return damage(cells.status().message());
  return !entry_.cells.empty();
}

// Finds the next record with cells after position_, visible or not.
Result<bool> FeedReaderImpl::find_record() {
  CELLAR_ASSERT(!found_);
  for (;;) {
    while (file_ && place_.offset < file_->size()) {
      CELLAR_TRY_ASSIGN(const Found found, file_->look(place_.offset, place_.chain, place_.lsn));
      if (found.look != Look::kRecord) return damage("a record differs from what was written");
      before_found_ = std::exchange(place_, {found.end, found.header.lsn + 1, found.header.bcrc});
      if (found.header.type != RecordType::kData || found.header.sequence <= position_) continue;
      sequence_ = found.header.sequence;
      count_ = found.header.count;
      payload_ = found.payload;
      CELLAR_ASSERT(sequence_ > position_);
      return true;
    }
    CELLAR_TRY_ASSIGN(const bool more, more_log());
    if (!more) return false;
  }
}

// Goes on in the same segment when it has grown, else in the next one.
Result<bool> FeedReaderImpl::more_log() {
  const std::vector<LogSegment> segments = source_->disk.log_segments();
  CELLAR_TRY(check_feed(*source_->disk.manifest->current()));
  uint64_t next_lsn = 0;
  for (const LogSegment& segment : segments) {
    if (segment.id < segment_) continue;
    if (segment.id == segment_) {
      if (segment.bytes > place_.offset) {
        CELLAR_TRY(open_segment(segment, 0));
        return true;
      }
      next_lsn = place_.lsn;
    } else if (segment.last_sequence > position_ && segment.bytes > kFileHeaderBytes) {
      CELLAR_TRY(open_segment(segment, segment.id == segment_ + 1 ? next_lsn : 0));
      return true;
    }
  }
  return false;
}

// `first_lsn`: what its first record is numbered, if that is known.
Status FeedReaderImpl::open_segment(const LogSegment& segment, uint64_t first_lsn) {
  CELLAR_ASSERT(segment.id >= segment_);
  Result<RecordFile> opened = RecordFile::open(*wal_, segment_name(segment.id), FileKind::kLog,
                                               source_->disk.identity, segment.id, segment.bytes);
  if (opened.status().is(Code::kNotFound)) {
    CELLAR_TRY(check_feed(*source_->disk.manifest->current()));  // it may have gone this very moment
    if (source_->world.options.read_only)
      return Status::conflict(fmt::format("the writer of the store has released the log of feed {} that "
                                          "follows sequence {}",
                                          feed_.name, position_))
          .hinting("open the store again");
    return Status::corruption("a log segment that is kept for feeds is missing")
        .at(fmt::format("{}/{}", kWalDirectoryName, segment_name(segment.id)));
  }
  CELLAR_TRY(opened.status());
  file_.emplace(std::move(opened).value());
  if (segment.id != std::exchange(segment_, segment.id)) {
    place_.offset = kFileHeaderBytes;
    if (!file_->header_status().ok()) return damage(file_->header_status().message());
    place_.chain = file_->header_crc();
    place_.lsn = file_->header().first_lsn != 0 ? file_->header().first_lsn : first_lsn;
  } else if (!file_->header_status().ok()) {
    return damage(file_->header_status().message());
  }
  return {};
}

// A segment goes when its every record is acknowledged, or the feed has gone or was cut off.
Status FeedReaderImpl::check_feed(const ManifestState& state) const {
  const FeedRecord* feed = state.feeds.feed(feed_.id);
  if (feed == nullptr) return Status::not_found("feed " + feed_.name + " was dropped");
  if (feed->lost) return feed_was_lost(*feed);
  if (feed->acknowledged <= position_) return {};
  return Status::conflict(fmt::format("feed {} was acknowledged up to {}, but this reader is at {}",
                                      feed_.name, feed->acknowledged, position_))
      .hinting("an acknowledgement counts for all readers of a feed: give each consumer its own feed");
}

Status FeedReaderImpl::damage(std::string_view what) const {
  return Status::corruption(
             fmt::format("feed {} cannot continue after sequence {}: {}", feed_.name, position_, what))
      .at(fmt::format("{}/{}: offset {}", kWalDirectoryName, segment_name(segment_), place_.offset))
      .hinting("drop the feed, create it again, and start from a snapshot");
}

const FeedReaderImpl::Family* FeedReaderImpl::family(uint32_t id) {
  if (const auto known = families_.find(id); known != families_.end()) return &known->second;
  Family found;
  for (const auto& store : source_->catalog.stores())
    if (store->ids().family == id) found = {store->table_name(), store->family(), false};
  if (found.table.empty()) {
    // Dropped: before it left the list of tables, the manifest knew.
    const std::shared_ptr<const ManifestState> state = source_->disk.manifest->current();
    for (const DroppedFamily& each : state->feeds.dropped)
      if (each.id == id) found = {each.table, each.family, false};
  }
  if (found.table.empty()) return nullptr;
  CELLAR_ASSERT(!found.family.empty());
  found.wanted = wants(found.table, found.family);
  return &families_.emplace(id, std::move(found)).first->second;
}

bool FeedReaderImpl::wants(const std::string& table, const std::string& family) const {
  if (feed_.tables.empty()) return true;
  const auto named = feed_.tables.find(table);
  if (named == feed_.tables.end()) return false;
  const std::vector<std::string>& families = named->second;
  return families.empty() || std::ranges::find(families, family) != families.end();
}

// Durable first what it says was consumed, so that no power loss takes that back; and no crash gives out its
// sequences again.
Status FeedReaderImpl::acknowledge(uint64_t sequence) {
  CELLAR_TRY(source_->life.check_open());
  if (source_->world.options.read_only) return Status::read_only("the store was opened read-only");
  CELLAR_TRY(source_->disk.health.check());
  if (const uint64_t visible = source_->mvcc.read_point(); sequence > visible)
    return Status::invalid_argument(
        fmt::format("sequence {} is not written yet, the newest is {}", sequence, visible));
  const std::shared_ptr<const ManifestState> state = source_->disk.manifest->current();
  const FeedRecord* feed = state->feeds.feed(feed_.id);
  if (feed == nullptr) return Status::not_found("feed " + feed_.name + " was dropped");
  if (feed->lost) return feed_was_lost(*feed);
  if (sequence <= feed->acknowledged) return {};
  CELLAR_TRY(source_->disk.sync_log());
  ManifestEdit edit;
  edit.feeds.acknowledge.push_back({feed_.id, sequence});
  edit.last_sequence = sequence;
  CELLAR_TRY(source_->disk.commit(edit));
  source_->background.log_release().run();
  return {};
}

}  // namespace cellar
