// FileInfo: parsing both forms of the file info block, writing the protobuf one, and the typed values within.
#include "hfile/format/file_info.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/coding.h"
#include "hfile/format/format.h"
#include "hfile/format/hfile.pb.h"

namespace cellar {
namespace {

constexpr std::string_view kProtobufMagic = "PBUF";

using Entries = std::map<std::string, std::string, std::less<>>;

Status parse_protobuf(std::string_view bytes, Entries& entries) {
  ByteReader reader(bytes);
  uint64_t message_bytes = 0;
  std::string_view message;
  if (!reader.take_varint(message_bytes) || !reader.take_bytes(message_bytes, message)) {
    return Status::corruption("file info: the message is longer than its block");
  }
  if (!reader.empty()) {
    return Status::corruption(fmt::format("file info: {} trailing bytes after the message", reader.left()));
  }
  hfile::FileInfoProto proto;
  if (!proto.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return Status::corruption("file info: the message is not well formed");
  }
  if (static_cast<uint64_t>(proto.map_entry_size()) > kFileInfoEntriesMax) {
    return Status::corruption(fmt::format("file info: {} entries are too many", proto.map_entry_size()));
  }
  for (hfile::BytesBytesPair& entry : *proto.mutable_map_entry()) {
    if (!entry.has_first() || !entry.has_second()) {
      return Status::corruption("file info: an entry without key or value");
    }
    entries.insert_or_assign(std::move(*entry.mutable_first()), std::move(*entry.mutable_second()));
  }
  return {};
}

bool take_counted(ByteReader& reader, std::string_view& bytes) {
  int64_t count = 0;
  return reader.take_hadoop_vint(count) && count >= 0 && static_cast<uint64_t>(count) <= reader.left() &&
         reader.take_bytes(static_cast<size_t>(count), bytes);
}

// HBase 0.92 and 0.94: a count, then key, type code and value of each entry.
Status parse_writable(std::string_view bytes, Entries& entries) {
  ByteReader reader(bytes);
  uint32_t count = 0;
  if (!reader.take_be32(count) || count > kFileInfoEntriesMax) {
    return Status::corruption("file info: the number of entries is out of bounds");
  }
  for (uint32_t i = 0; i < count; ++i) {
    std::string_view key, value;
    uint8_t type_code = 0;  // always means "bytes"
    if (!take_counted(reader, key) || !reader.take_u8(type_code) || !take_counted(reader, value)) {
      return Status::corruption(fmt::format("file info: entry {} of {} runs past the block", i + 1, count));
    }
    entries.insert_or_assign(std::string(key), std::string(value));
  }
  if (!reader.empty()) {
    return Status::corruption(
        fmt::format("file info: {} trailing bytes after the last entry", reader.left()));
  }
  return {};
}

Status wrong_size(std::string_view key, size_t bytes, std::string_view expected) {
  return Status::corruption(fmt::format("file info: {} has {} bytes instead of {}", key, bytes, expected));
}

}  // namespace

Result<FileInfo> FileInfo::parse(std::string_view payload) {
  if (payload.size() > kFileInfoBytesMax) {
    return Status::corruption(fmt::format("file info: {} bytes are too many", payload.size()));
  }
  FileInfo info;
  CELLAR_TRY(payload.starts_with(kProtobufMagic)
                 ? parse_protobuf(payload.substr(kProtobufMagic.size()), info.entries_)
                 : parse_writable(payload, info.entries_));
  return info;
}

std::string FileInfo::encode() const {
  hfile::FileInfoProto proto;
  for (const auto& [key, value] : entries_) {
    hfile::BytesBytesPair& entry = *proto.add_map_entry();
    entry.set_first(key);
    entry.set_second(value);
  }
  std::string bytes(kProtobufMagic);
  append_varint(bytes, proto.ByteSizeLong());
  const bool written = proto.AppendToString(&bytes);
  CELLAR_ASSERT(written);
  return bytes;
}

const std::string* FileInfo::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void FileInfo::set_i32(std::string_view key, int32_t value) {
  std::string bytes;
  append_be32(bytes, static_cast<uint32_t>(value));
  set(key, std::move(bytes));
}

void FileInfo::set_i64(std::string_view key, int64_t value) {
  std::string bytes;
  append_be64(bytes, static_cast<uint64_t>(value));
  set(key, std::move(bytes));
}

void FileInfo::set_bool(std::string_view key, bool value) { set(key, std::string(1, value ? '\xff' : '\0')); }

void FileInfo::set_time_range(const TimestampRange& range) {
  std::string bytes;
  append_be64(bytes, static_cast<uint64_t>(range.min));
  append_be64(bytes, static_cast<uint64_t>(range.max));
  set(info_key::kTimeRange, std::move(bytes));
}

Result<std::optional<int32_t>> FileInfo::i32(std::string_view key) const {
  const std::string* value = find(key);
  if (value == nullptr) return std::optional<int32_t>();
  if (value->size() != 4) return wrong_size(key, value->size(), "4");
  return std::optional<int32_t>(static_cast<int32_t>(load_be32(value->data())));
}

Result<std::optional<int64_t>> FileInfo::i64(std::string_view key) const {
  const std::string* value = find(key);
  if (value == nullptr) return std::optional<int64_t>();
  if (value->size() != 8) return wrong_size(key, value->size(), "8");
  return std::optional<int64_t>(static_cast<int64_t>(load_be64(value->data())));
}

Result<std::optional<bool>> FileInfo::boolean(std::string_view key) const {
  const std::string* value = find(key);
  if (value == nullptr) return std::optional<bool>();
  if (value->size() != 1) return wrong_size(key, value->size(), "1");
  return std::optional<bool>(value->front() != '\0');
}

Result<std::optional<TimestampRange>> FileInfo::time_range() const {
  const std::string* value = find(info_key::kTimeRange);
  if (value == nullptr) return std::optional<TimestampRange>();
  TimestampRange range;
  if (value->starts_with(kProtobufMagic)) {
    hfile::TimeRangeProto proto;
    const size_t skip = kProtobufMagic.size();
    if (!proto.ParseFromArray(value->data() + skip, static_cast<int>(value->size() - skip))) {
      return Status::corruption("file info: the message in TIMERANGE is not well formed");
    }
    // An absent end is open: a range too wide costs a look into the file, one too narrow loses cells.
    range.min = proto.has_from() ? static_cast<int64_t>(proto.from()) : 0;
    range.max = proto.has_to() ? static_cast<int64_t>(proto.to()) : INT64_MAX;
    return std::optional<TimestampRange>(range);
  }
  if (value->size() < 16) return wrong_size(info_key::kTimeRange, value->size(), "16 or more");
  range.min = static_cast<int64_t>(load_be64(value->data()));
  range.max = static_cast<int64_t>(load_be64(value->data() + 8));
  return std::optional<TimestampRange>(range);
}

}  // namespace cellar
