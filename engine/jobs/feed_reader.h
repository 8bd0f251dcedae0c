// FeedReaderImpl: reads the log while writers extend it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/log/record_file.h"
#include "engine/store/catalog.h"
#include "engine/store/disk.h"
#include "engine/store/engine_life.h"
#include "engine/store/mvcc.h"
#include "engine/store/world.h"

namespace cellar {

class Background;

// The parts that a reader of a feed follows: the log, the manifest, the read point and the tables. Borrows.
struct FeedSource {
  const EngineLife& life;
  const World& world;
  Disk& disk;
  Mvcc& mvcc;
  const Catalog& catalog;
  Background& background;
};

// Opens a reader of the feed. It begins after `from`, or after what was acknowledged.
Result<std::unique_ptr<FeedReader>> open_feed(std::shared_ptr<const FeedSource> source,
                                              const std::string& name, std::optional<uint64_t> from);

class FeedReaderImpl final : public FeedReader {
 public:
  FeedReaderImpl(std::shared_ptr<const FeedSource> source, std::unique_ptr<Directory> wal, FeedRecord feed,
                 uint64_t from);
  ~FeedReaderImpl() override;

  Result<const FeedEntry*> next(int64_t wait_us) override;
  uint64_t position() const override { return position_; }
  Status acknowledge(uint64_t sequence) override;
  uint64_t unlogged_writes() const override { return unlogged_writes_; }
  uint64_t unnamed_cells() const override { return unnamed_cells_; }

 private:
  // The table and family that a family's id in the log stands for.
  struct Family {
    std::string table;
    std::string family;
    bool wanted = false;
  };

  Result<bool> advance();
  Result<bool> find_record();
  Result<bool> more_log();
  Status open_segment(const LogSegment& segment, uint64_t first_lsn);
  Status check_feed(const ManifestState& state) const;
  Status damage(std::string_view what) const;
  bool log_began_anew();
  bool take_noted(uint64_t until, const ManifestState& state);
  Result<bool> take_record();
  const Family* family(uint32_t id);
  bool wants(const std::string& table, const std::string& family) const;

  const std::shared_ptr<const FeedSource> source_;
  const std::unique_ptr<Directory> wal_;
  const FeedRecord feed_;  // as it was when the reader was made
  std::map<uint32_t, Family> families_;
  uint64_t position_;
  uint64_t visible_ = 0;  // the feed gives no later write
  uint64_t unlogged_writes_ = 0;
  uint64_t unnamed_cells_ = 0;
  FeedEntry entry_;

  // A place in a segment, before a record.
  struct Place {
    uint64_t offset = 0;
    uint64_t lsn = 0;  // of the record; 0: not known
    uint32_t chain = 0;
  };
  std::optional<RecordFile> file_;
  uint64_t segment_ = 0;
  Place place_;                 // after the last record that was examined
  Place before_found_;          // before it
  uint64_t restarts_seen_ = 0;  // of the log
  const uint64_t logs_read_anew_;
  // The next record with cells, found but not given; its payload lies in file_.
  bool found_ = false;
  uint64_t sequence_ = 0;
  uint32_t count_ = 0;
  std::string_view payload_;
};

}  // namespace cellar
