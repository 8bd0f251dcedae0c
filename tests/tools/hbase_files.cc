// Directories as HBase leaves them, field numbers written out.
#include "tests/tools/hbase_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/coding.h"
#include "cell/cell_codec.h"
#include "hfile/format/file_info.h"
#include "tests/support/byte_files.h"

namespace cellar::testing {

namespace fs = std::filesystem;

Message& Message::number(uint32_t field, uint64_t value) {
  append_varint(text_, uint64_t{field} << 3);
  append_varint(text_, value);
  return *this;
}

Message& Message::bytes(uint32_t field, const std::string& value) {
  append_varint(text_, uint64_t{field} << 3 | 2);
  append_varint(text_, value.size());
  text_ += value;
  return *this;
}

std::string encoded_table_name(const HBaseTableName& table) {
  return Message().bytes(1, table.space).bytes(2, table.name).text();
}

std::string encoded_schema(const HBaseTableSchema& schema) {
  Message message;
  message.bytes(1, encoded_table_name(schema.table));
  for (const auto& [name, value] : schema.attributes)
    message.bytes(2, Message().bytes(1, name).bytes(2, value).text());
  for (const HBaseFamilySchema& family : schema.families) {
    Message of_family;
    of_family.bytes(1, family.name);
    for (const auto& [name, value] : family.attributes)
      of_family.bytes(2, Message().bytes(1, name).bytes(2, value).text());
    message.bytes(3, of_family.text());
  }
  return message.text();
}

std::string encoded_region(const HBaseRegion& region) {
  Message message;
  message.number(1, region.id).bytes(2, encoded_table_name(region.table));
  message.bytes(3, region.start)
      .bytes(4, region.end)
      .number(5, region.split ? 1 : 0)
      .number(6, region.split ? 1 : 0);
  return message.number(7, static_cast<uint64_t>(region.replica)).text();
}

std::string encoded_half(const HBaseHalf& half) {
  std::string key;
  append_flat_key(key, half.split_row, {}, {}, kLatestTimestamp, CellType::kMaximum);
  return Message().bytes(1, key).number(2, half.top ? 0 : 1).text();
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  ASSERT_TRUE(file.good()) << path;
}

void write_table_schema(const fs::path& table, const HBaseTableSchema& schema, int number) {
  const std::string bytes = "PBUF" + encoded_schema(schema);
  std::string digits = std::to_string(number);
  digits.insert(0, 10 - digits.size(), '0');
  write_bytes(table / ".tabledesc" / (".tableinfo." + digits + "." + std::to_string(bytes.size())), bytes);
}

void write_region(const fs::path& directory, const HBaseRegion& region) {
  const std::string message = encoded_region(region);
  std::string bytes = "PBUF";
  append_varint(bytes, message.size());
  write_bytes(directory / ".regioninfo", bytes + message);
}

void write_half(const fs::path& path, const HBaseHalf& half) {
  write_bytes(path, "PBUF" + encoded_half(half));
}

void write_hfile(const fs::path& path, Cells cells, const HBaseFileFacts& facts) {
  HFileWriterOptions options;
  options.block_bytes = 300;
  options.bloom = "row";
  options.tags = true;
  options.mvcc = facts.mvcc;
  StringFile file;
  const std::unique_ptr<HFileWriter> writer = HFileWriter::create(file, options).value();
  for (const Cell& cell : sorted(std::move(cells))) {
    const OwnedCell view = owned(cell);
    const Status added = writer->add(view.view());
    ASSERT_TRUE(added.ok()) << added.to_text();
  }
  FileInfo info;
  if (facts.sequence_max) info.set_i64(info_key::kMaxSequence, *facts.sequence_max);
  for (const auto& [key, value] : facts.info) info.set(key, value);
  for (const auto& [key, value] : info.entries()) ASSERT_TRUE(writer->set_info(key, value).ok());
  ASSERT_TRUE(writer->finish().ok());
  write_bytes(path, file.bytes());
}

void write_snapshot(const fs::path& directory, const std::string& name, const HBaseSnapshotManifest& manifest,
                    bool flushed) {
  write_bytes(
      directory / ".snapshotinfo",
      Message().bytes(1, name).bytes(2, manifest.schema.table.text()).number(4, flushed ? 1 : 2).text());
  Message message;
  message.bytes(1, encoded_schema(manifest.schema));
  for (const HBaseSnapshotRegion& region : manifest.regions) {
    Message of_region;
    of_region.number(1, 0).bytes(2, encoded_region(region.region));
    for (const HBaseSnapshotFamily& family : region.families) {
      Message of_family;
      of_family.bytes(1, family.name);
      for (const HBaseSnapshotFile& file : family.files) {
        Message of_file;
        of_file.bytes(1, file.name);
        if (file.half) of_file.bytes(2, encoded_half(*file.half));
        if (file.bytes) of_file.number(3, *file.bytes);
        of_family.bytes(2, of_file.text());
      }
      of_region.bytes(3, of_family.text());
    }
    message.bytes(2, of_region.text());
  }
  write_bytes(directory / "data.manifest", message.text());
}

}  // namespace cellar::testing
