// SecondTables: which tables are second ones of which, and what may not happen to either.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cellar/options.h"
#include "cellar/second_table.h"
#include "engine/manifest/manifest_state.h"
#include "engine/second/second_definition.h"
#include "engine/store/catalog.h"
#include "engine/store/disk.h"
#include "engine/store/observers.h"
#include "engine/write/write_path.h"

namespace cellar {

// Borrows. Its functions run where no schema changes: inside WritePath::alone(), or while the engine opens.
class SecondTables {
 public:
  struct Parts {
    const World& world;
    Disk& disk;
    Catalog& catalog;
    Observers& observers;
    WritePath& write_path;
  };
  explicit SecondTables(const Parts& parts) : parts_(parts) {}

  // Tells each table what the manifest says of it. Gives sources the observers that keep their second tables.
  // Call it after each change of the manifest's tables. Error: kCorruption for a definition that the manifest
  // should not hold.
  Status install();

  // Returns the options of a second table of this name: its families. Errors: kNotFound for an unknown
  // source. Also kInvalidArgument if the source is a second table itself, or cannot have this one.
  Result<TableOptions> schema(const std::string& name, const SecondTable& second) const;
  // Returns the names of the second tables of a table, sorted.
  std::vector<std::string> of(const std::string& table) const;

  // Returns the refusal to drop a source: kInvalidArgument with its second tables.
  Status drop_refusal(const std::string& table) const;
  // Return ok if the change leaves sources and second tables in agreement; else kInvalidArgument.
  Status check_truncate(const std::string& table) const;
  Status check_alter(const std::string& table, const TableChange& change) const;
  // `content` are tables of a snapshot that are to replace those of their names.
  Status check_restore(const std::vector<TableRecord>& content) const;

 private:
  // A source's observers follow these: the names of its second tables, and their definitions.
  using Followed = std::vector<std::pair<std::string, SecondTable>>;

  Status follow_source(const std::string& source, const Followed& seconds);
  // Returns the record of a table, or null if the manifest has none. The record lives as long as the pointer,
  // also if other threads commit edits.
  std::shared_ptr<const TableRecord> record(const std::string& table) const;

  const Parts parts_;
  std::map<std::string, Followed> followed_;  // by source: as install() found it last
};

}  // namespace cellar
