// FieldWriter and FieldReader: the fields of a change in a manifest edit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "engine/log/wal_format.h"

namespace cellar {

// FieldWriter: one change at a time. The length goes in front once the fields are known.
class FieldWriter {
 public:
  // Writes a number that grows; FieldReader::number() refuses larger ones.
  FieldWriter& number(uint64_t value) {
    CELLAR_ASSERT(value < kCountMax);
    return any_number(value);
  }
  FieldWriter& any_number(uint64_t value) {
    append_varint(fields_, value);
    return *this;
  }
  FieldWriter& signed_number(int64_t value) {
    return any_number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  FieldWriter& text(std::string_view value) {
    append_varint(fields_, value.size());
    fields_.append(value);
    return *this;
  }
  // `tag` is an enumeration of one byte.
  template <class Tag>
  void end(Tag tag) {
    bytes_.push_back(static_cast<char>(tag));
    append_varint(bytes_, fields_.size());
    bytes_.append(fields_);
    fields_.clear();
  }
  std::string take() {
    CELLAR_ASSERT(fields_.empty());  // each change has its tag
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::string fields_;
};

// FieldReader: fields of one change. A field that is not there makes all that follow fail; ask ok() at the
// end.
class FieldReader {
 public:
  explicit FieldReader(std::string_view fields) : reader_(fields) {}

  // A count, size, sequence or other number that grows: below kCountMax, so that there is room above it.
  uint64_t number() {
    const uint64_t value = any_number();
    ok_ = ok_ && value < kCountMax;
    return ok_ ? value : 0;
  }
  uint64_t any_number() {
    uint64_t value = 0;
    ok_ = ok_ && reader_.take_varint(value);
    return ok_ ? value : 0;
  }
  uint32_t number32() {
    const uint64_t value = number();
    ok_ = ok_ && value <= UINT32_MAX;
    return static_cast<uint32_t>(value);
  }
  int64_t signed_number() {
    const uint64_t value = any_number();
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  std::string text() {
    uint64_t size = 0;
    std::string_view bytes;
    ok_ = ok_ && reader_.take_varint(size) && size <= reader_.left() && reader_.take_bytes(size, bytes);
    return std::string(ok_ ? bytes : std::string_view());
  }
  bool more() const { return ok_ && !reader_.empty(); }
  bool sound() const { return ok_; }  // so far
  bool ok() const { return ok_ && reader_.empty(); }

 private:
  ByteReader reader_;
  bool ok_ = true;
};

}  // namespace cellar
