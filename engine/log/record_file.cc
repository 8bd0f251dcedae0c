// Reading records of a log segment or manifest generation; telling "not written" from "damaged".
#include "engine/log/record_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/coding.h"

namespace cellar {

namespace {
constexpr uint64_t kBufferBytes = 64 << 10;
}

Result<RecordFile> RecordFile::open(Directory& directory, const std::string& name, FileKind kind,
                                    const Identity& identity, uint64_t id, uint64_t bytes_max) {
  CELLAR_TRY_ASSIGN(std::shared_ptr<ReadableFile> file, directory.open(name));
  return open(std::move(file), name, kind, identity, id, bytes_max);
}

Result<RecordFile> RecordFile::open(std::shared_ptr<ReadableFile> file, const std::string& name,
                                    FileKind kind, const Identity& identity, uint64_t id,
                                    uint64_t bytes_max) {
  const Result<uint64_t> present = file->present_size();
  CELLAR_TRY(present.status().with_context(name));
  const uint64_t size = std::min({*present, file->size(), bytes_max});
  RecordFile opened(std::move(file), size, name, kind, identity, id);
  CELLAR_TRY(opened.read_header());
  return Result<RecordFile>(std::move(opened));
}

// Only a failing device is an error here; what is wrong with the header goes to header_status_. It is read
// alone, since a reader that follows the file goes on at its end.
Status RecordFile::read_header() {
  if (size() < kFileHeaderBytes) {
    header_status_ = Status::corruption(fmt::format("has {} bytes, too few for a file header", size()));
    return Status();
  }
  char raw[kFileHeaderBytes];
  CELLAR_TRY(file_->read(0, sizeof raw, raw).with_context(name_));
  header_status_ = decode_file_header(kind_, raw, header_, header_crc_);
  if (!header_status_.ok()) return Status();
  if (header_.identity != identity_) {
    header_status_ = Status::corruption(fmt::format("belongs to another store ({})", header_.identity.hex()));
  } else if (header_.id != id_) {
    header_status_ = Status::corruption(fmt::format("has number {} in its header", header_.id));
  }
  return Status();
}

Result<const char*> RecordFile::bytes_at(uint64_t offset, uint64_t bytes) {
  CELLAR_ASSERT(offset <= size() && bytes <= size() - offset);
  if (offset < buffer_offset_ || offset + bytes > buffer_offset_ + buffer_.size()) {
    buffer_.resize(std::min(size() - offset, std::max(bytes, std::min(kBufferBytes, ahead_))));
    buffer_offset_ = offset;
    const Status status = file_->read(offset, buffer_.size(), buffer_.data());
    if (!status.ok()) {
      buffer_.clear();
      return status.with_context(name_);
    }
  }
  CELLAR_DCHECK(offset >= buffer_offset_ && offset + bytes <= buffer_offset_ + buffer_.size());
  return buffer_.data() + (offset - buffer_offset_);
}

Result<Found> RecordFile::look(uint64_t offset, uint32_t chain, uint64_t lsn) {
  CELLAR_ASSERT(offset >= kFileHeaderBytes && offset <= size() && offset % 8 == 0);
  Found found;
  const uint64_t left = size() - offset;
  if (left < kRecordHeaderBytes) {
    CELLAR_TRY_ASSIGN(found.look, judge(offset, kRecordHeaderBytes));
    return found;
  }
  CELLAR_TRY_ASSIGN(const char* raw, bytes_at(offset, kRecordHeaderBytes));
  if (!codec_.decode_header(raw, offset, found.header)) {
    CELLAR_TRY_ASSIGN(found.look, judge(offset, kRecordHeaderBytes));
    return found;
  }
  const uint64_t extent = record_bytes(found.header.len);
  if (extent <= left) {
    const uint64_t bytes = extent - kRecordHeaderBytes;
    CELLAR_TRY_ASSIGN(const char* stored, bytes_at(offset + kRecordHeaderBytes, bytes));
    payload_.assign(stored, stored + bytes);
    if (codec_.decode_payload(found.header, offset + kRecordHeaderBytes, chain, payload_.data()) &&
        (lsn == 0 || lsn == found.header.lsn)) {
      found.look = Look::kRecord;
      found.payload = {payload_.data(), found.header.len};
      found.end = offset + extent;
      return found;
    }
  }
  CELLAR_TRY_ASSIGN(found.look, judge(offset, extent));
  return found;
}

// Classifies `extent` bytes (of which the file may have fewer) that are not a sound record.
Result<Look> RecordFile::judge(uint64_t offset, uint64_t extent) {
  CELLAR_TRY_ASSIGN(const uint64_t end, written_end(offset, extent));
  CELLAR_ASSERT(extent >= kRecordHeaderBytes && end >= offset && end <= size());
  if (end == offset) return Look::kNothing;
  // Nothing follows the extent, and its own last byte is missing or zero: a write ended here.
  if (extent > size() - offset || end < offset + extent) return Look::kTorn;
  for (uint64_t at = offset; at < offset + extent;) {
    const uint64_t bytes = std::min(kBufferBytes, offset + extent - at);
    CELLAR_TRY_ASSIGN(const char* piece, bytes_at(at, bytes));
    if (has_zero_word({piece, bytes})) return Look::kTorn;
    at += bytes;
  }
  return Look::kDamaged;
}

// A header begins with bytes other than zero: none stands in a hole.
Status RecordFile::scan_headers(uint64_t offset,
                                const std::function<bool(const RecordHeader&, uint64_t)>& visit) {
  offset = padded(offset);
  RecordHeader header;
  uint64_t data_end = 0;
  while (offset + kRecordHeaderBytes <= size()) {
    if (offset >= data_end) {
      CELLAR_TRY_ASSIGN(const uint64_t data, next_data(offset, data_end));
      offset = std::max(offset, data / 8 * 8);
      if (offset + kRecordHeaderBytes > size()) break;
    }
    // A buffer at a time, with the last header's worth of bytes seen again.
    const uint64_t bytes = std::min(kBufferBytes, size() - offset);
    CELLAR_TRY_ASSIGN(const char* raw, bytes_at(offset, bytes));
    uint64_t at = 0;
    for (; at + kRecordHeaderBytes <= bytes; at += 8) {
      if (load_le64(raw + at) == 0) continue;
      if (codec_.decode_header(raw + at, offset + at, header) && !visit(header, offset + at)) return Status();
    }
    CELLAR_ASSERT(at > 0);  // or the scan would not end
    offset += at;
  }
  return Status();
}

Status RecordFile::scan(uint64_t offset, const std::function<bool(const RecordHeader&)>& visit) {
  return scan_headers(offset, [&](const RecordHeader& header, uint64_t) { return visit(header); });
}

Result<uint64_t> RecordFile::find_header(uint64_t offset, RecordHeader& header) {
  uint64_t found = size();
  CELLAR_TRY(scan_headers(offset, [&](const RecordHeader& each, uint64_t at) {
    header = each;
    found = at;
    return false;
  }));
  CELLAR_ASSERT(found == size() || (found >= offset && found % 8 == 0));
  return found;
}

Result<uint64_t> RecordFile::next_data(uint64_t offset, uint64_t& end) const {
  CELLAR_ASSERT(offset <= size());
  CELLAR_TRY_ASSIGN(const uint64_t data, file_->next_data(offset, end));
  end = std::min(end, size());
  return std::min(std::max(data, offset), size());
}

Result<uint64_t> RecordFile::written_end(uint64_t offset, uint64_t bytes) {
  CELLAR_ASSERT(offset <= size());
  const uint64_t stop = offset + std::min(size() - offset, std::max(bytes, ahead_));
  uint64_t end = offset;
  uint64_t data_end = 0;
  for (uint64_t at = offset; at < stop;) {
    if (at >= data_end) {
      CELLAR_TRY_ASSIGN(at, next_data(at, data_end));
      if (at >= data_end) break;
    }
    const uint64_t piece = std::min({kBufferBytes, ahead_, data_end - at});
    CELLAR_TRY_ASSIGN(const char* raw, bytes_at(at, piece));
    // Zeros compare equal to themselves one byte further: the fast way over the unused part of a segment.
    if (raw[0] != 0 || std::memcmp(raw, raw + 1, piece - 1) != 0) {
      uint64_t last = piece;
      while (raw[last - 1] == 0) --last;
      end = at + last;
    }
    at += piece;
  }
  return end;
}

}  // namespace cellar
