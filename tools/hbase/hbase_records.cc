// Parses HBase's records: first the frame of each, then its message.
#include "tools/hbase/hbase_records.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "cell/cell_codec.h"
#include "cellar/keys.h"
#include "hbase/proto/hbase.pb.h"

namespace cellar {
namespace {

constexpr std::string_view kProtobufMagic = "PBUF";
constexpr size_t kFileListBytesMax = 16u << 20;  // HBase's own limit

Status malformed(std::string_view what) { return Status::corruption(fmt::format("not a {} of HBase", what)); }

template <class Message>
Result<Message> parse(std::string_view bytes, std::string_view what) {
  Message message;
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return malformed(what);
  return message;
}

// Returns the bytes after "PBUF".
Result<std::string_view> behind_magic(std::string_view bytes, std::string_view what) {
  if (!bytes.starts_with(kProtobufMagic)) return malformed(what);
  return bytes.substr(kProtobufMagic.size());
}

HBaseTableName table_name_of(const hbase::TableName& from) {
  HBaseTableName name;
  if (from.has_namespace_()) name.space = from.namespace_();
  name.name = from.qualifier();
  return name;
}

template <class Pairs>
void append_attributes(HBaseAttributes& to, const Pairs& pairs) {
  for (const auto& pair : pairs) to.emplace_back(pair.first(), pair.second());
}

template <class Pairs>
void append_configuration(HBaseAttributes& to, const Pairs& pairs) {
  for (const auto& pair : pairs) to.emplace_back(pair.name(), pair.value());
}

HBaseTableSchema schema_of(const hbase::TableSchema& from) {
  HBaseTableSchema schema;
  schema.table = table_name_of(from.table_name());
  append_attributes(schema.attributes, from.attributes());
  append_configuration(schema.attributes, from.configuration());
  for (const hbase::ColumnFamilySchema& each : from.column_families()) {
    HBaseFamilySchema family{each.name(), {}};
    append_attributes(family.attributes, each.attributes());
    append_configuration(family.attributes, each.configuration());
    schema.families.push_back(std::move(family));
  }
  return schema;
}

HBaseRegion region_of(const hbase::RegionInfo& from) {
  HBaseRegion region;
  region.id = from.region_id();
  region.table = table_name_of(from.table_name());
  region.start = from.start_key();
  region.end = from.end_key();
  region.split = from.split();
  region.replica = from.replica_id();
  return region;
}

Result<HBaseHalf> half_of(std::string_view split_key, bool top) {
  // The split key is a flat key. The first key of a row has no family, no column, and the latest timestamp.
  // When a merge of regions refers to a whole file, the row is empty.
  ByteReader key(split_key);
  uint16_t row_bytes = 0;
  std::string_view row;
  if (!key.take_be16(row_bytes) || !key.take_bytes(row_bytes, row) || row_bytes > kRowBytesMax ||
      (row.empty() && !top))
    return malformed("reference to an HFile: its split key is invalid");
  return HBaseHalf{std::string(row), top};
}

Result<HBaseHalf> half_of(const hbase::Reference& from) {
  constexpr uint32_t kTop = 0;
  constexpr uint32_t kBottom = 1;
  if (!from.has_range() || (from.range() != kTop && from.range() != kBottom))
    return malformed("reference to an HFile");
  return half_of(from.splitkey(), from.range() == kTop);
}

Result<HBaseSnapshotRegion> snapshot_region_of(const hbase::SnapshotRegionManifest& from) {
  HBaseSnapshotRegion region;
  region.region = region_of(from.region_info());
  for (const auto& each : from.family_files()) {
    HBaseSnapshotFamily family{each.family_name(), {}};
    for (const auto& file : each.store_files()) {
      HBaseSnapshotFile entry{file.name(), {}, {}};
      if (file.has_reference()) {
        CELLAR_TRY_ASSIGN(entry.half, half_of(file.reference()));
      }
      if (file.has_file_size()) entry.bytes = file.file_size();
      family.files.push_back(std::move(entry));
    }
    region.families.push_back(std::move(family));
  }
  return region;
}

}  // namespace

const HBaseFamilySchema* HBaseTableSchema::find(std::string_view family) const {
  for (const HBaseFamilySchema& each : families)
    if (each.name == family) return &each;
  return nullptr;
}

std::string HBaseRegion::encoded_name() const {
  std::string name = fmt::format("{},{},{}", table.text(), start, id);
  if (replica > 0) name += fmt::format("_{:04X}", replica);
  return md5_hex(name);
}

Result<HBaseTableSchema> parse_hbase_table_schema(std::string_view bytes) {
  constexpr std::string_view kWhat = "table descriptor";
  CELLAR_TRY_ASSIGN(const std::string_view message, behind_magic(bytes, kWhat));
  CELLAR_TRY_ASSIGN(const hbase::TableSchema schema, parse<hbase::TableSchema>(message, kWhat));
  if (schema.table_name().qualifier().empty()) return malformed(kWhat);
  return schema_of(schema);
}

Result<HBaseRegion> parse_hbase_region(std::string_view bytes) {
  constexpr std::string_view kWhat = "region descriptor";
  CELLAR_TRY_ASSIGN(const std::string_view framed, behind_magic(bytes, kWhat));
  ByteReader reader(framed);
  uint64_t size = 0;
  std::string_view message;
  // Text for people may follow the message.
  if (!reader.take_varint(size) || size > reader.left() || !reader.take_bytes(size, message))
    return malformed(kWhat);
  CELLAR_TRY_ASSIGN(const hbase::RegionInfo region, parse<hbase::RegionInfo>(message, kWhat));
  if (!region.has_region_id() || region.table_name().qualifier().empty()) return malformed(kWhat);
  return region_of(region);
}

Result<HBaseHalf> parse_hbase_reference(std::string_view bytes) {
  constexpr std::string_view kWhat = "reference to an HFile";
  if (bytes.starts_with(kProtobufMagic)) {
    CELLAR_TRY_ASSIGN(const hbase::Reference reference,
                      parse<hbase::Reference>(bytes.substr(kProtobufMagic.size()), kWhat));
    return half_of(reference);
  }
  // The form before 0.96: a byte that is 1 for the top half, then the split key with its length.
  ByteReader reader(bytes);
  uint8_t top = 0;
  int64_t size = 0;
  std::string_view key;
  if (!reader.take_u8(top) || top > 1 || !reader.take_hadoop_vint(size) || size < 0 ||
      static_cast<uint64_t>(size) != reader.left() || !reader.take_bytes(static_cast<size_t>(size), key))
    return malformed(kWhat);
  return half_of(key, top == 1);
}

Result<HBaseSnapshotManifest> parse_hbase_snapshot(std::string_view bytes) {
  constexpr std::string_view kWhat = "manifest of a snapshot";
  CELLAR_TRY_ASSIGN(const hbase::SnapshotDataManifest from, parse<hbase::SnapshotDataManifest>(bytes, kWhat));
  if (from.table_schema().table_name().qualifier().empty()) return malformed(kWhat);
  HBaseSnapshotManifest manifest;
  manifest.schema = schema_of(from.table_schema());
  for (const hbase::SnapshotRegionManifest& each : from.region_manifests()) {
    CELLAR_TRY_ASSIGN(HBaseSnapshotRegion region, snapshot_region_of(each));
    manifest.regions.push_back(std::move(region));
  }
  return manifest;
}

Result<bool> parse_hbase_snapshot_flushed(std::string_view bytes) {
  constexpr std::string_view kWhat = "description of a snapshot";
  constexpr uint32_t kSkipFlush = 2;
  CELLAR_TRY_ASSIGN(const hbase::SnapshotDescription from, parse<hbase::SnapshotDescription>(bytes, kWhat));
  if (from.name().empty()) return malformed(kWhat);
  return from.type() != kSkipFlush;
}

Result<HBaseFileList> parse_hbase_file_list(std::string_view bytes) {
  constexpr std::string_view kWhat = "list of store files";
  ByteReader reader(bytes);
  uint32_t size = 0;
  std::string_view message;
  uint32_t sum = 0;
  if (!reader.take_be32(size) || size == 0 || size > kFileListBytesMax || !reader.take_bytes(size, message) ||
      !reader.take_be32(sum) || crc32(message) != sum)
    return malformed(kWhat);
  CELLAR_TRY_ASSIGN(const hbase::StoreFileList from, parse<hbase::StoreFileList>(message, kWhat));
  HBaseFileList list;
  list.timestamp = from.timestamp();
  for (const auto& file : from.store_file()) list.names.push_back(file.name());
  return list;
}

Result<std::vector<std::string>> parse_compaction_event(std::string_view bytes) {
  constexpr std::string_view kWhat = "list of compacted files";
  // HBase ignores values that do not begin with its magic.
  const Result<std::string_view> message = behind_magic(bytes, kWhat);
  if (!message.ok()) return std::vector<std::string>();
  CELLAR_TRY_ASSIGN(const hbase::CompactionEventTracker from,
                    parse<hbase::CompactionEventTracker>(*message, kWhat));
  return std::vector<std::string>(from.compacted_store_file().begin(), from.compacted_store_file().end());
}

}  // namespace cellar
