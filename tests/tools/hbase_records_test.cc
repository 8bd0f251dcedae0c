// Goal: the records that HBase keeps next to its files are read as they are written. Invalid bytes are
// damage, never a crash. Method: bytes by hand; every prefix and many changes of each.
#include "tools/hbase/hbase_records.h"

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/random.h"

namespace cellar::testing {
namespace {

// A field of bytes, of at most 127.
std::string field(int number, const std::string& value) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(value.size()) + value;
}
std::string field(int number, int value) {
  return std::string(1, static_cast<char>(number << 3)) + static_cast<char>(value);
}

const std::string kTableRecord = field(1, "shop") + field(2, "orders");

std::string schema_bytes() {
  const std::string family = field(1, "d") + field(2, field(1, "VERSIONS") + field(2, "3"));
  return field(1, kTableRecord) + field(2, field(1, "IS_META") + field(2, "false")) + field(3, family) +
         field(4, field(1, "hbase.x") + field(2, "y"));
}

// {region_id = 5, table, start "a", end "m"}
std::string region_bytes() {
  return field(1, 5) + field(2, kTableRecord) + field(3, "a") + field(4, "m") + field(7, 0);
}

// The first key on row "m".
std::string split_key() {
  std::string key("\0\1m\0", 4);
  append_be64(key, INT64_MAX);
  return key + "\xff";
}

TEST(HBaseRecords, TableDescriptor) {
  const HBaseTableSchema schema = parse_hbase_table_schema("PBUF" + schema_bytes()).value();
  EXPECT_EQ(schema.table.text(), "shop:orders");
  ASSERT_EQ(schema.families.size(), 1u);
  EXPECT_EQ(schema.find("d")->attributes, (HBaseAttributes{{"VERSIONS", "3"}}));
  EXPECT_EQ(schema.find("e"), nullptr);
  EXPECT_EQ(schema.attributes, (HBaseAttributes{{"IS_META", "false"}, {"hbase.x", "y"}}));
  EXPECT_TRUE(parse_hbase_table_schema(schema_bytes()).status().is(Code::kCorruption));
}

// The name is what `printf 'shop:orders,a,5' | md5sum` prints.
TEST(HBaseRecords, RegionAndTheNameOfItsDirectory) {
  const std::string message = region_bytes();
  const std::string bytes = "PBUF" + std::string(1, static_cast<char>(message.size())) + message;
  const HBaseRegion region = parse_hbase_region(bytes + "\n{text for people}").value();
  EXPECT_EQ(region.id, 5u);
  EXPECT_EQ(region.table.text(), "shop:orders");
  EXPECT_EQ(region.start, "a");
  EXPECT_EQ(region.end, "m");
  EXPECT_FALSE(region.split);
  EXPECT_EQ(region.encoded_name(), "09c41b0f9642d06675acd4ad8228387c");
  EXPECT_TRUE(parse_hbase_region(bytes.substr(0, bytes.size() - 1)).status().is(Code::kCorruption));
}

TEST(HBaseRecords, HalvesInBothForms) {
  const std::string message = field(1, split_key());
  EXPECT_EQ(parse_hbase_reference("PBUF" + message + field(2, 0)).value(), (HBaseHalf{"m", true}));
  EXPECT_EQ(parse_hbase_reference("PBUF" + message + field(2, 1)).value(), (HBaseHalf{"m", false}));
  EXPECT_FALSE(parse_hbase_reference("PBUF" + message).ok());
  EXPECT_FALSE(parse_hbase_reference("PBUF" + message + field(2, 2)).ok());
  const std::string counted = std::string(1, static_cast<char>(split_key().size())) + split_key();
  EXPECT_EQ(parse_hbase_reference("\1" + counted).value(), (HBaseHalf{"m", true}));
  EXPECT_EQ(parse_hbase_reference(std::string(1, '\0') + counted).value(), (HBaseHalf{"m", false}));
  EXPECT_FALSE(parse_hbase_reference("\2" + counted).ok());
  EXPECT_FALSE(parse_hbase_reference("").ok());
}

TEST(HBaseRecords, SnapshotManifest) {
  const std::string half = field(1, split_key()) + field(2, 1);
  const std::string file = field(1, "0a1.0b") + field(2, half) + field(3, 77);
  const std::string families = field(1, "d") + field(2, file);
  const std::string region = field(2, region_bytes()) + field(3, families);
  const HBaseSnapshotManifest manifest =
      parse_hbase_snapshot(field(1, schema_bytes()) + field(2, region)).value();
  EXPECT_EQ(manifest.schema.table.text(), "shop:orders");
  ASSERT_EQ(manifest.regions.size(), 1u);
  const HBaseSnapshotFamily& family = manifest.regions[0].families.at(0);
  EXPECT_EQ(family.name, "d");
  EXPECT_EQ(family.files.at(0).name, "0a1.0b");
  EXPECT_EQ(family.files.at(0).half, (HBaseHalf{"m", false}));
  EXPECT_EQ(family.files.at(0).bytes, 77u);
  EXPECT_TRUE(parse_hbase_snapshot_flushed(field(1, "s") + field(4, 1)).value());
  EXPECT_FALSE(parse_hbase_snapshot_flushed(field(1, "s") + field(4, 2)).value());
}

TEST(HBaseRecords, ListOfFilesIsFramedAndSummed) {
  const std::string message = field(1, 9) + field(2, field(1, "0a1") + field(2, 5));
  std::string bytes;
  append_be32(bytes, static_cast<uint32_t>(message.size()));
  bytes += message;
  append_be32(bytes, crc32(message));
  const HBaseFileList list = parse_hbase_file_list(bytes).value();
  EXPECT_EQ(list.timestamp, 9u);
  EXPECT_EQ(list.names, std::vector<std::string>{"0a1"});
  bytes[6] ^= 1;
  EXPECT_TRUE(parse_hbase_file_list(bytes).status().is(Code::kCorruption));
}

TEST(HBaseRecords, DamagedBytesAreNeverMoreThanDamage) {
  const std::string region = region_bytes();
  const std::vector<std::string> records = {
      "PBUF" + schema_bytes(), "PBUF" + std::string(1, static_cast<char>(region.size())) + region,
      "PBUF" + field(1, split_key()) + field(2, 1),
      field(1, schema_bytes()) +
          field(2, field(2, region) + field(3, field(1, "d") + field(2, field(1, "0a1"))))};
  Random random(7);
  for (const std::string& record : records) {
    for (int i = 0; i < 2000; ++i) {
      std::string bytes = record.substr(0, random.below(record.size() + 1));
      for (uint64_t changes = random.below(3); changes > 0 && !bytes.empty(); --changes)
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
      for (const Status& status :
           {parse_hbase_table_schema(bytes).status(), parse_hbase_region(bytes).status(),
            parse_hbase_reference(bytes).status(), parse_hbase_snapshot(bytes).status(),
            parse_hbase_file_list(bytes).status(), parse_compaction_event(bytes).status()})
        EXPECT_TRUE(status.ok() || status.is(Code::kCorruption)) << status.to_text();
    }
  }
}

}  // namespace
}  // namespace cellar::testing
