// The content of a manifest: store files, families, tables, the whole state of a store, and an edit of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "cellar/options.h"
#include "cellar/second_table.h"
#include "cellar/status.h"
#include "engine/log/directory.h"
#include "engine/log/wal_format.h"
#include "engine/log/wal_reader.h"
#include "engine/manifest/family_totals.h"
#include "engine/manifest/feed_book.h"
#include "engine/manifest/file_record.h"

namespace cellar {

// As option_list() gives and set_option() takes.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

struct FamilyRecord {
  uint32_t id = 0;  // unique in the engine, never used again
  std::string name = {};
  OptionTexts options = {};
  uint64_t flushed_sequence = 0;       // everything up to it is in the files
  std::vector<FileRecord> files = {};  // in the order of file_order.h
  FamilyTotals totals = {};

  bool operator==(const FamilyRecord&) const = default;
};

struct TableRecord {
  uint32_t id = 0;  // never used again
  std::string name = {};
  TableOptions options = {};  // its families are not used
  std::vector<FamilyRecord> families = {};
  std::optional<SecondTable> second = {};  // of which table this is a second one

  bool operator==(const TableRecord&) const = default;
};

struct ManifestState {
  Identity identity = {};
  std::string snapshot = {};  // the named snapshot that this is, and stays: nothing may write to it
  uint64_t edit = 0;          // number of the last edit
  uint32_t next_table_id = 1;
  uint32_t next_family_id = 1;
  uint64_t next_file_number = 1;
  std::vector<TableRecord> tables = {};
  std::vector<uint32_t> dropped_families = {};  // their ids may still stand in the log
  uint64_t last_sequence = 0;
  int64_t wall_ms = 0;         // the time of the store's last use: see ExpiryClock::Memory
  int64_t doubted_ms = 0;      // since when that is not the wall clock; 0: it is
  int64_t unique_time_us = 0;  // all unique times up to it may have been given out: see UniqueTime
  uint64_t log_start = 1;      // first segment to read
  LogPosition log_synced = {};
  LogPosition clean_close = {};  // nowhere while the store is open, and after a crash
  std::vector<SealedEnd> sealed = {};
  std::vector<StoredFile> obsolete = {};  // no longer used, perhaps not yet removed
  FeedBook feeds = {};

  const TableRecord* table(uint32_t id) const;
  const TableRecord* table_named(std::string_view name) const;
  // The family and its table, or nulls.
  std::pair<const TableRecord*, const FamilyRecord*> family(uint32_t id) const;
  bool is_dropped(uint32_t family_id) const;
  // For read_log(); `boot` is FileSystem::boot_identity(). The log must have been created before the second
  // edit was made.
  LogFacts log_facts(std::string_view boot = {}) const;

  bool operator==(const ManifestState&) const = default;
};

// ManifestEdit: changes that happen together. Applied in the order of the members. Numbers that only grow
// (ids, last_sequence, flushed) keep the greater value.
struct ManifestEdit {
  struct NewFamily {
    uint32_t table_id = 0;
    uint32_t id = 0;  // new: added; known: its options change
    std::string name = {};
    OptionTexts options = {};
  };
  struct Second {
    uint32_t table_id = 0;
    SecondTable second = {};
  };
  struct FileChange {
    uint32_t family_id = 0;
    FileRecord file = {};
  };
  struct FileName {
    uint32_t family_id = 0;
    std::string name = {};
  };
  // A file changes its run. It keeps its content.
  struct FileMove {
    uint32_t family_id = 0;
    std::string name = {};
    uint64_t run = 0;  // not 0
    uint32_t level = 0;
  };
  struct Flushed {
    uint32_t family_id = 0;
    uint64_t sequence = 0;
  };
  struct Work {
    uint32_t family_id = 0;
    FamilyTotals totals = {};
  };

  std::vector<uint32_t> drop_families = {};  // files become obsolete; the id is kept as dropped
  std::vector<uint32_t> drop_tables = {};    // with all their families
  std::vector<TableRecord> set_tables = {};  // added or changed; families and `second` are ignored
  std::vector<Second> set_seconds = {};      // tables that become second ones, or change as such
  std::vector<NewFamily> set_families = {};
  std::vector<FileName> remove_files = {};  // they become obsolete
  // Each comes into its run, if the family has it. Else it takes the place of the oldest removed file's run,
  // or is the youngest.
  std::vector<FileChange> add_files = {};
  // Each comes into the new run, if the family has it. Else it is just older than the run that it leaves.
  std::vector<FileMove> move_files = {};
  std::vector<Flushed> flushed = {};
  std::vector<Work> work = {};                   // is added to the totals
  std::vector<uint32_t> forget_dropped = {};     // family ids that no segment mentions any more
  std::vector<StoredFile> forget_obsolete = {};  // they were removed
  uint32_t next_table_id = 0;
  uint32_t next_family_id = 0;
  uint64_t next_file_number = 0;  // commit() raises it to what was handed out
  uint64_t last_sequence = 0;
  std::optional<int64_t> wall_ms = {};
  int64_t doubted_ms = 0;                      // counts if wall_ms is given
  std::optional<int64_t> unique_time_us = {};  // only grows
  std::optional<uint64_t> log_start = {};
  std::optional<LogPosition> log_synced = {};
  std::optional<LogPosition> clean_close = {};  // nowhere: the store is open again
  std::vector<SealedEnd> seal = {};
  FeedEdit feeds = {};
};

// Applies an edit. Error: kInvalidArgument if it does not fit the state (unknown ids, a name twice, a missing
// file). The state is then half changed and must be thrown away. Takes time in proportion to state and edit.
// Adds to `steps`, if not null, how many tables and families were looked at.
Status apply(ManifestState& state, const ManifestEdit& edit, uint64_t* steps = nullptr);

}  // namespace cellar
