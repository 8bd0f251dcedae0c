// FileInfo: the file's key-value facts, and HBase's well-known keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cellar/status.h"

namespace cellar {

namespace info_key {
inline constexpr std::string_view kLastKey = "hfile.LASTKEY";
inline constexpr std::string_view kAvgKeyLen = "hfile.AVG_KEY_LEN";
inline constexpr std::string_view kAvgValueLen = "hfile.AVG_VALUE_LEN";
inline constexpr std::string_view kCreateTime = "hfile.CREATE_TIME_TS";
inline constexpr std::string_view kMaxTagsLen = "hfile.MAX_TAGS_LEN";
inline constexpr std::string_view kTagsCompressed = "hfile.TAGS_COMPRESSED";
inline constexpr std::string_view kBiggestCellKey = "hfile.KEY_OF_BIGGEST_CELL";
inline constexpr std::string_view kBiggestCellLen = "hfile.LEN_OF_BIGGEST_CELL";
inline constexpr std::string_view kKeyValueVersion = "KEY_VALUE_VERSION";
inline constexpr std::string_view kMaxMvcc = "MAX_MEMSTORE_TS_KEY";
inline constexpr std::string_view kDataBlockEncoding = "DATA_BLOCK_ENCODING";
inline constexpr std::string_view kIndexBlockEncoding = "INDEX_BLOCK_ENCODING";
inline constexpr std::string_view kBloomType = "BLOOM_FILTER_TYPE";
inline constexpr std::string_view kBloomParam = "BLOOM_FILTER_PARAM";
inline constexpr std::string_view kLastBloomKey = "LAST_BLOOM_KEY";
inline constexpr std::string_view kDeleteFamilyCount = "DELETE_FAMILY_COUNT";
inline constexpr std::string_view kTimeRange = "TIMERANGE";
inline constexpr std::string_view kEarliestPut = "EARLIEST_PUT_TS";
inline constexpr std::string_view kMaxSequence = "MAX_SEQ_ID_KEY";
inline constexpr std::string_view kMajorCompaction = "MAJOR_COMPACTION_KEY";
inline constexpr std::string_view kExcludeFromMinor = "EXCLUDE_FROM_MINOR_COMPACTION";
inline constexpr std::string_view kCompactionEvent = "COMPACTION_EVENT_KEY";
inline constexpr std::string_view kBulkLoadTime = "BULKLOAD_TIMESTAMP";
inline constexpr std::string_view kBulkLoadTask = "BULKLOAD_SOURCE_TASK";
inline constexpr std::string_view kSkipResetSequence = "SKIP_RESET_SEQ_ID";
inline constexpr std::string_view kMobCells = "MOB_CELLS_COUNT";
inline constexpr std::string_view kMobRefs = "MOB_FILE_REFS";
inline constexpr std::string_view kHistorical = "HISTORICAL";
inline constexpr std::string_view kCellCounts = "CELLAR_CELL_COUNTS";  // see CellCounts
inline constexpr std::string_view kEarliestDelete =
    "CELLAR_EARLIEST_DELETE";  // smallest timestamp of a marker
}  // namespace info_key

struct TimestampRange {
  int64_t min = INT64_MAX;
  int64_t max = -1;
  bool operator==(const TimestampRange&) const = default;
};

// FileInfo: a sorted map of byte strings, and typed access. A value, like std::map.
class FileInfo {
 public:
  // Parses the payload of a FILEINF2 block, protobuf or the older Writable form: kCorruption.
  static Result<FileInfo> parse(std::string_view payload);
  // The payload HBase 2.x writes: PBUF, delimited message, keys sorted.
  std::string encode() const;

  const std::string* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  void set(std::string_view key, std::string value) {
    entries_.insert_or_assign(std::string(key), std::move(value));
  }
  void set_i32(std::string_view key, int32_t value);
  void set_i64(std::string_view key, int64_t value);
  void set_bool(std::string_view key, bool value);  // HBase's 0xff and 0x00
  void set_time_range(const TimestampRange& range);

  // Absent: nullopt. Present with another size than the type's: kCorruption naming the key.
  Result<std::optional<int32_t>> i32(std::string_view key) const;
  Result<std::optional<int64_t>> i64(std::string_view key) const;
  Result<std::optional<bool>> boolean(std::string_view key) const;
  // 16 or more bytes of two i64, or PBUF and HBase 2.0.0's message.
  Result<std::optional<TimestampRange>> time_range() const;

  const std::map<std::string, std::string, std::less<>>& entries() const { return entries_; }

 private:
  std::map<std::string, std::string, std::less<>> entries_;
};

}  // namespace cellar
