// RocksOptions: RocksDB's equivalents of Cellar's options, and its own options by their own names.
#pragma once

#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <set>
#include <string>
#include <string_view>

#include "bench/driver/peer_options.h"

namespace cellar::bench {

// One thread at a time.
class RocksOptions {
 public:
  RocksOptions();
  // Sets an option. A name that Cellar has is translated; kNotSupported if RocksDB has no such option or
  // value. Every other name must be one of RocksDB's options of a database or column family, with a value in
  // its text form; kInvalidArgument otherwise.
  Status set(const std::string& name, const std::string& value);
  void split_compactions(uint32_t parts) { db_.max_subcompactions = parts; }

  const PeerOptions& common() const { return common_; }
  const rocksdb::DBOptions& db() const { return db_; }
  const rocksdb::ColumnFamilyOptions& family() const { return family_; }
  const rocksdb::BlockBasedTableOptions& table() const { return table_; }
  // Returns true if RocksDB's own option of this name was set.
  bool has_own(std::string_view name) const { return own_.contains(name); }

 private:
  Status set_common(const std::string& given, const std::string& value);
  Status set_own(const std::string& name, const std::string& value);
  Status set_compaction(const std::string& text);

  PeerOptions common_;
  rocksdb::DBOptions db_;
  rocksdb::ColumnFamilyOptions family_;
  rocksdb::BlockBasedTableOptions table_;
  std::set<std::string, std::less<>> own_;
};

}  // namespace cellar::bench
