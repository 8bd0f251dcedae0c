// FeedReader and Feeds: every write to chosen tables, in the order of the commits, for a consumer that
// remembers its position. Also called change data capture.
//
//   engine.feeds().create("index", {.tables = {{"users", {}}}});
//   auto snapshot = engine.snapshot().value();             // for one scan of what was written before
//
//   auto feed = engine.feeds().read("index", snapshot->sequence()).value();
//   while (running) {
//     const FeedEntry* entry = feed->next(1'000'000).value();
//     if (entry != nullptr) consume(*entry);
//     else feed->acknowledge(feed->position());           // releases the log up to there
//   }
//
// A feed has a name, and stays in the store until it is dropped. Its source is the log: the engine keeps the
// log that a feed needs until it is acknowledged, up to FeedOptions::retained_bytes_max. Writes with
// Durability::kSkipWal are not in the log, and therefore not in a feed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/cell.h"
#include "cellar/ingest.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

struct FeedOptions {
  // Tables by name, each with families. No tables: all, also those created later. No families: all of the
  // table, also those added later. A table that is dropped and created again is in the feed again.
  std::map<std::string, std::vector<std::string>> tables = {};
  // The most bytes of log that are kept for this feed alone. A feed that needs more is cut off: it is lost,
  // keeps nothing, and must start again. At least EngineOptions::log_segment_bytes.
  uint64_t retained_bytes_max = uint64_t{1} << 30;
};

struct FeedInfo {
  std::string name;
  std::map<std::string, std::vector<std::string>> tables;  // as in FeedOptions
  uint64_t acknowledged = 0;                               // a reader begins after this sequence
  uint64_t retained_bytes = 0;                             // of log that is kept for this feed alone
  uint64_t retained_bytes_max = 0;
  bool lost = false;  // cut off: writes after `acknowledged` are missing
};

// FeedEntry: one write, as far as it is in the feed's tables. Exactly one of the three lists is not empty.
struct FeedEntry {
  uint64_t sequence = 0;
  // The cells of one put, delete, batch or transaction, each with the name of its table. A cell has the
  // timestamp with which it was written.
  std::vector<std::pair<std::string_view, CellView>> cells = {};
  // The files that Table::ingest adopted. The cells of these files are not in the feed, and later compactions
  // replace the files: read the table to get the cells.
  std::vector<IngestFile> files = {};
  // Tables that were restored, cloned from a snapshot, or truncated. Their cells are not in the feed: a
  // consumer must discard what it has of these tables, and scan them again.
  std::vector<std::string> replaced = {};
};

// FeedReader: reads a feed from a position on. Several readers of one feed are independent of each other. One
// thread at a time. It must be destroyed before its engine is closed.
class FeedReader {
 public:
  virtual ~FeedReader() = default;

  // Returns the next visible write in the order of sequences, valid until the next call. Returns null if none
  // came within wait_us microseconds; negative: waits without a limit. Errors: kNotFound if the feed was
  // dropped, kLimit if it was cut off, kCorruption with the place. Also kConflict if the feed was
  // acknowledged beyond this reader and the log it needs is gone.
  virtual Result<const FeedEntry*> next(int64_t wait_us = 0) = 0;

  // Returns the sequence up to which everything in the feed was delivered. It also grows by writes to other
  // tables. Acknowledge it whenever next() returns null: otherwise the feed of a quiet table keeps the log of
  // all others.
  virtual uint64_t position() const = 0;

  // Declares that the consumer needs nothing up to this sequence any more, also after a crash. Durable on
  // return. kInvalidArgument if the sequence is not visible yet. A smaller sequence than before is ok and
  // does nothing.
  virtual Status acknowledge(uint64_t sequence) = 0;

  // Return how much the reader could not deliver so far. Unlogged writes, of any table, are not in the log
  // because of Durability::kSkipWal. Unnamed cells belong to tables that were dropped and forgotten.
  virtual uint64_t unlogged_writes() const = 0;
  virtual uint64_t unnamed_cells() const = 0;
};

// Feeds: the feeds of one engine (Engine::feeds). Any thread may call any function. Changes are durable on
// return.
class Feeds {
 public:
  virtual ~Feeds() = default;
  // Creates a feed of all later writes. Errors: kInvalidArgument if the name is in use or the options are
  // invalid; kNotFound if a table or family does not exist.
  virtual Status create(const std::string& name, const FeedOptions& options = {}) = 0;
  // Returns all feeds in the order of their creation.
  virtual std::vector<FeedInfo> list() = 0;
  // Drops a feed, and lets go of the log that only it needed. kNotFound.
  virtual Status drop(const std::string& name) = 0;
  // Opens a reader of the writes after sequence `from`. Default: after the acknowledged ones. Errors:
  // kInvalidArgument if `from` is before the acknowledged sequence, or after the last write; kLimit if the
  // feed was cut off; kNotFound.
  virtual Result<std::unique_ptr<FeedReader>> read(const std::string& name,
                                                   std::optional<uint64_t> from = {}) = 0;
};

}  // namespace cellar
