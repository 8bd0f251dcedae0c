// Directories as HBase leaves them: descriptors, regions, halves, links and snapshots, their records encoded
// by hand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hfile/write/hfile_writer.h"
#include "tests/cell_support/cell_text.h"
#include "tools/hbase/hbase_records.h"

namespace cellar::testing {

// A protobuf message, field by field.
class Message {
 public:
  Message& number(uint32_t field, uint64_t value);
  Message& bytes(uint32_t field, const std::string& value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string encoded_table_name(const HBaseTableName& table);
std::string encoded_schema(const HBaseTableSchema& schema);
std::string encoded_region(const HBaseRegion& region);
std::string encoded_half(const HBaseHalf& half);

// Files and directories above them; whatever was there is replaced.
void write_bytes(const std::filesystem::path& path, const std::string& bytes);
void write_table_schema(const std::filesystem::path& table, const HBaseTableSchema& schema, int number = 1);
void write_region(const std::filesystem::path& directory, const HBaseRegion& region);
void write_half(const std::filesystem::path& path, const HBaseHalf& half);

struct HBaseFileFacts {
  std::optional<int64_t> sequence_max = {};  // MAX_SEQ_ID_KEY
  std::map<std::string, std::string> info = {};
  bool mvcc = true;
};
// An HFile of these cells, which are sorted first.
void write_hfile(const std::filesystem::path& path, Cells cells, const HBaseFileFacts& facts);

// data.manifest and .snapshotinfo
void write_snapshot(const std::filesystem::path& directory, const std::string& name,
                    const HBaseSnapshotManifest& manifest, bool flushed = true);

}  // namespace cellar::testing
