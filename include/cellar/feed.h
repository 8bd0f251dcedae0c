// Feeds: every write to chosen tables, in the order of the commits, for a consumer that keeps its place.
//
//   engine.create_feed("index", {.tables = {{"users"}}});
//   auto snapshot = engine.snapshot().value();             // what was there before: scanned once
//   …
//   auto feed = engine.read_feed("index", snapshot->sequence()).value();
//   while (running) {
//     const FeedEntry* entry = feed->next(1'000'000).value();
//     if (entry != nullptr) consume(*entry);
//     else feed->acknowledge(feed->position());           // lets go of the log up to there
//   }
//
// A feed has a name, and lives in the store until it is dropped. The log is its source: what it needs of the
// log is kept until it is acknowledged, or until that is more than FeedOptions::retained_bytes_max. Not in
// the log, hence not in a feed: writes with Durability::kSkipWal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// A table, or some families of it. By name: a table that is dropped and made again is in the feed again.
struct FeedTable {
  std::string table;
  std::vector<std::string> families = {};  // none: all of them, later ones too

  bool operator==(const FeedTable&) const = default;
};

struct FeedOptions {
  std::vector<FeedTable> tables = {};  // none: all tables, later ones too
  // Of log that only feeds need any more. A feed that holds back more is cut off: it is lost, holds nothing,
  // and must start anew. At least EngineOptions::log_segment_bytes.
  uint64_t retained_bytes_max = uint64_t{1} << 30;
};

struct FeedInfo {
  std::string name;
  std::vector<FeedTable> tables;
  uint64_t acknowledged = 0;    // a reader begins with the write behind this sequence
  uint64_t retained_bytes = 0;  // of log that would be gone but for this feed
  uint64_t retained_bytes_max = 0;
  bool lost = false;  // cut off: writes are missing behind `acknowledged`
};

struct FeedCell {
  std::string_view table;
  CellView cell;  // as it was written, with its timestamp
};

// A foreign file that was taken in. Its cells are not in the feed, and later compactions replace the file:
// read the table to have them.
struct FeedFile {
  std::string table;
  std::string family;
  std::string name;  // below tables/<table id>/<family>/
  uint64_t bytes = 0;
  uint64_t cells = 0;
};

enum class FeedEntryKind : uint8_t {
  kWrite,    // `cells`: what one put, delete, batch, transaction, … has written
  kIngest,   // `files`: what Table::ingest has taken in
  kReplace,  // `tables`: restored, cloned from a snapshot, or truncated. All of it changed at once, and none
             // of it is in the feed: what a consumer has of them is void, a scan begins anew
};

// One write, without what is not of the feed's tables.
struct FeedEntry {
  FeedEntryKind kind = FeedEntryKind::kWrite;
  uint64_t sequence = 0;
  std::vector<FeedCell> cells = {};
  std::vector<FeedFile> files = {};
  std::vector<std::string> tables = {};
};

// What a reader could not give.
struct FeedPassed {
  uint64_t unlogged_writes = 0;  // sequences, of any table, that the log knows nothing of: kSkipWal
  uint64_t unnamed_cells = 0;    // of tables that were dropped and forgotten
};

// FeedReader: goes through a feed from a place. Several readers of one feed do not know of each other. One
// thread at a time; must be destroyed before its engine is closed.
class FeedReader {
 public:
  virtual ~FeedReader() = default;

  // The next write that is visible, in the order of sequences; null when there is none yet. Valid until the
  // next call. Waits up to wait_us for one (negative: without limit). Failures: kNotFound when the feed was
  // dropped, kLimit when it was cut off, kConflict when it was acknowledged beyond this reader and what the
  // reader needs has gone; kCorruption with the place.
  virtual Result<const FeedEntry*> next(int64_t wait_us = 0) = 0;

  // Everything of the feed up to this sequence was given. Grows also by what is not of the feed: acknowledge
  // it when next() gives null, or a quiet table's feed holds the log for the sake of the others.
  virtual uint64_t position() const = 0;

  // The consumer needs nothing up to this sequence any more, also after a crash: the log is synced, then the
  // manifest remembers it. Durable when it returns. Not beyond what is visible; less than before is ok and
  // does nothing.
  virtual Status acknowledge(uint64_t sequence) = 0;

  virtual FeedPassed passed() const = 0;
};

}  // namespace cellar
