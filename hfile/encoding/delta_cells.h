// DeltaCells: the common part of the encodings that store a cell as its difference from the one before:
// PREFIX, DIFF and FAST_DIFF.
//
//   u16 encoding id | u32 bytes of the cells in plain form | cells
//
// After a cell's key and value: varint size of tags, tags (if the file has tags) | MVCC (if the file has it).
// The block does not hold whole keys. They are rebuilt in the slot that a cell is decoded into, from the slot
// of the cell before.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "hfile/encoding/decoder_walker.h"
#include "hfile/encoding/encoding.h"
#include "hfile/encoding/hfile_cursor.h"
#include "hfile/encoding/plain_cells.h"
#include "hfile/encoding/tag_dictionary.h"
#include "hfile/format/format.h"

namespace cellar {

constexpr size_t kKeyTailBytes = 9;      // timestamp and type
constexpr size_t kDeltaFrameBytes = 6;   // id and size
constexpr size_t kFlatKeyBytesMin = 12;  // of a flat key without row, family and qualifier

// DeltaSlot: a cell, and the buffers that its key and tags from a dictionary were rebuilt in.
class DeltaSlot : public CellView {
 public:
  static constexpr size_t kSlackBytes = 16;  // after a key: copies are made in whole words

  char* key_room(size_t bytes) {
    if (bytes + kSlackBytes > room_) {
      room_ = std::max<size_t>(2 * bytes, 112) + kSlackBytes;
      buffer_ = std::make_unique<char[]>(room_);
    }
    return buffer_.get();
  }
  std::string& tags_room() { return tags_; }

 private:
  std::unique_ptr<char[]> buffer_;
  size_t room_ = 0;
  std::string tags_;
};

// Copies `bytes` and up to 15 more, which must be there at both ends. Keys are short: cheaper than a call.
inline void copy_with_slack(char* to, const char* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 16) std::memcpy(to + at, from + at, 16);
}

// The base of the three decoders. One thread at a time. Values, and tags that are not from a dictionary,
// point into the bytes given to open(). A slot does not change until the cell after it is decoded.
class DeltaCells {
 public:
  using Slot = DeltaSlot;
  static constexpr bool kPlain = false;
  static constexpr bool kSaysPlainBytes = true;
  static constexpr BlockKind kBlockKind = BlockKind::kEncodedData;
  static constexpr bool kGrows = false;

  DeltaCells(const CellFormat& format, std::optional<uint64_t> sequence)
      : tags_(format.tags),
        mvcc_(format.mvcc),
        overridden_(sequence.has_value()),
        sequence_(sequence.value_or(0)) {
    if (format.tags && format.tags_compressed) dictionary_ = std::make_unique<TagDictionaryReader>();
  }

  // Bytes of the payload that are decoded.
  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  // Back to the first cell.
  void rewind() {
    at_ = first_;
    before_ = nullptr;
    if (dictionary_ != nullptr) dictionary_->clear();
  }
  // A dictionary's content is not noted.
  bool can_restart() const { return dictionary_ == nullptr; }
  // key size | value size | key | place of the next cell | place of the value
  void append_restart(std::string& to) const {
    append_be32(to, before_->key_size);
    append_be32(to, before_->value_size);
    to.append(before_->key, before_->key_size);
    append_le32(to, static_cast<uint32_t>(position()));
    append_le32(to, static_cast<uint32_t>(before_->value - begin_));
  }
  bool restart(const char* note, size_t from) {
    const uint32_t key_size = load_be32(note);
    const char* const places = note + 8 + key_size;
    const size_t position = load_le32(places);
    if (position <= from) return false;
    parse_flat_key(note + 8, key_size, restart_);
    restart_.value_size = load_be32(note + 4);
    restart_.value = begin_ + load_le32(places + 4);
    before_ = &restart_;
    at_ = begin_ + position;
    return true;
  }
  const char* check_end(const std::vector<uint32_t>&, uint64_t plain_bytes) const {
    return plain_bytes == load_be32(begin_ + 2) ? nullptr : "stated plain size is not that of the cells";
  }
  // Returns the reason of the last kBad.
  const char* fault() const { return fault_; }

 protected:
  // The frame of a payload; `first` bytes into it the cells begin.
  void open_at(std::string_view payload, size_t first) {
    begin_ = payload.data();
    end_ = begin_ + payload.size();
    first_ = begin_ + first;
    rewind();
  }
  static bool has_frame(std::string_view payload, uint16_t id) {
    return payload.size() >= kDeltaFrameBytes && load_be16(payload.data()) == id;
  }

  const char* at() const { return at_; }
  // The cell before in this block; null at its first one.
  const CellView* before() const { return before_; }
  size_t left(const char* at) const { return static_cast<size_t>(end_ - at); }

  DecodeStep bad(const char* fault) {
    fault_ = fault;
    return DecodeStep::kBad;
  }
  bool no(const char* fault) {
    fault_ = fault;
    return false;
  }

  // A size of untrusted bytes: below 2^31.
  bool take_size(const char*& at, uint32_t& size) {
    if (at < end_ && static_cast<int8_t>(*at) >= 0) {
      size = static_cast<uint8_t>(*at++);
      return true;
    }
    ByteReader in({at, left(at)});
    uint64_t value = 0;
    if (!in.take_varint(value) || value > INT32_MAX) return no("malformed size");
    size = static_cast<uint32_t>(value);
    at = in.at();
    return true;
  }

  // Copies `bytes` of the block into a key with slack after it.
  bool take_key_bytes(const char*& at, char* to, size_t bytes) {
    const size_t left = this->left(at);
    if (bytes > left) return no("key longer than the block");
    if (bytes <= 16 && left >= 16) {
      std::memcpy(to, at, 16);
    } else {
      std::memcpy(to, at, bytes);
    }
    at += bytes;
    return true;
  }

  // Takes row, family and qualifier of a key of `key_size` bytes that shares `common` bytes with the key
  // before. DIFF and FAST_DIFF store them without the family (its size and bytes are `family`).
  bool take_coordinates(const char*& at, Slot& cell, uint32_t key_size, uint32_t common,
                        std::string_view family) {
    if (key_size < kFlatKeyBytesMin) return no("sizes inside the key do not add up");
    if (key_size > kKeyBytesMax) return no("key too long");
    const size_t end = key_size - kKeyTailBytes;
    const size_t end_before = before_ == nullptr ? 0 : before_->key_size - kKeyTailBytes;
    if (common > end || common > end_before) return no("common prefix runs past the key");
    char* const key = cell.key_room(key_size);
    if (before_ != nullptr) copy_with_slack(key, before_->key, common);
    if (before_ != nullptr && common >= before_->row_size + 2u)
      return take_key_bytes(at, key + common, end - common);

    if (common < 2 && !take_key_bytes(at, key + common, 2 - common)) return false;
    const size_t kept = common < 2 ? 2 : common;
    const size_t row_end = size_t{2} + load_be16(key);
    if (row_end + family.size() > end) return no("sizes inside the key do not add up");
    if (!take_key_bytes(at, key + kept, row_end - kept)) return false;
    std::memcpy(key + row_end, family.data(), family.size());
    return take_key_bytes(at, key + row_end + family.size(), end - row_end - family.size());
  }

  // Value, tags and MVCC of the cell whose key is built: `value` is where they begin, or, `value_elsewhere`,
  // the value itself.
  DecodeStep finish(const char* at, Slot& cell, uint32_t key_size, uint32_t value_size,
                    const char* value_elsewhere = nullptr) {
    if (!parse_flat_key(cell.key_room(key_size), key_size, cell))
      return bad("sizes inside the key do not add up");
    if (const char* fault = key_fault(cell); fault != nullptr) return bad(fault);
    cell.key_in_scratch = true;
    cell.value_size = value_size;
    cell.value = value_elsewhere;
    if (value_elsewhere == nullptr) {
      if (value_size > left(at)) return bad("value longer than the block");
      cell.value = at;
      at += value_size;
    }
    cell.tags = nullptr;
    cell.tags_size = 0;
    if (tags_ && !take_tags(at, cell)) return DecodeStep::kBad;
    cell.sequence = 0;
    if (mvcc_ && !take_mvcc(at, end_, cell.sequence)) return bad("malformed MVCC");
    if (overridden_) cell.sequence = sequence_;
    at_ = at;
    before_ = &cell;
    return DecodeStep::kCell;
  }

 private:
  bool take_tags(const char*& at, Slot& cell) {
    uint32_t size = 0;
    if (!take_size(at, size)) return false;
    if (size == 0) return true;
    if (size > UINT16_MAX) return no("tags too long");
    cell.tags_size = static_cast<uint16_t>(size);
    if (dictionary_ != nullptr) {
      ByteReader in({at, left(at)});
      const char* fault = dictionary_->take(in, size, cell.tags_room());
      if (fault != nullptr) return no(fault);
      cell.tags = cell.tags_room().data();
      at = in.at();
      return true;
    }
    if (size > left(at)) return no("tags longer than the block");
    cell.tags = at;
    at += size;
    return tags_well_formed(cell.tags_bytes()) || no("malformed tags");
  }

  const char* begin_ = nullptr;
  const char* first_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const CellView* before_ = nullptr;  // in its slot, or restart_; keys have slack after them
  CellView restart_;
  const char* fault_ = "";
  std::unique_ptr<TagDictionaryReader> dictionary_;
  bool tags_;
  bool mvcc_;
  bool overridden_;
  uint64_t sequence_;
};

// The base of the three encoders. One thread at a time.
class DeltaEncoder : public BlockEncoder {
 public:
  DeltaEncoder(uint16_t id, const CellFormat& format) : id_(id), format_(format) {}

  void add(const CellView& cell) final {
    if (cells_ == 0) begin();
    encode(cell, cells_ == 0 ? nullptr : &before_);
    if (format_.tags) append_tags(cell.tags_bytes());
    if (format_.mvcc) append_hadoop_vint(bytes_, static_cast<int64_t>(cell.sequence));
    plain_bytes_ += plain_cell_bytes(cell, format_);
    key_.assign(cell.key, cell.key_size);  // the caller's bytes are gone by the next call
    before_ = cell;
    before_.key = key_.data();
    cells_ += 1;
  }
  size_t plain_bytes() const final { return cells_ == 0 ? 0 : plain_bytes_; }
  size_t encoded_bytes() const final { return cells_ == 0 ? 0 : bytes_.size() - kDeltaFrameBytes; }
  size_t cells() const final { return cells_; }
  void finish(std::string& payload) final {
    if (cells_ == 0) begin();
    store_be32(bytes_.data() + 2, static_cast<uint32_t>(plain_bytes_));
    payload.swap(bytes_);
    cells_ = 0;
  }

 protected:
  // Appends key and value of the cell to bytes(). `before`: the cell before, of which only the key is there.
  virtual void encode(const CellView& cell, const CellView* before) = 0;

  std::string& bytes() { return bytes_; }

  // Bytes that two keys of one family share, up to the end of the qualifier.
  static uint32_t common_coordinates(const CellView& before, const CellView& cell) {
    if (before.row_size != cell.row_size) return before.key[0] == cell.key[0] ? 1 : 0;
    const size_t of_row = common_prefix(before.row(), cell.row());
    if (of_row < cell.row_size) return static_cast<uint32_t>(2 + of_row);
    CELLAR_DCHECK(before.family() == cell.family());
    const size_t of_qualifier = common_prefix(before.qualifier(), cell.qualifier());
    return static_cast<uint32_t>(size_t{3} + cell.row_size + cell.family_size + of_qualifier);
  }
  // Writes the form that take_coordinates reads back.
  void append_coordinates(const CellView& cell, const CellView* before, uint32_t common) {
    const size_t row_end = size_t{2} + cell.row_size;
    const size_t end = cell.key_size - kKeyTailBytes;
    if (before != nullptr && common >= before->row_size + 2u) {
      bytes_.append(cell.key + common, end - common);
    } else {
      bytes_.append(cell.key + common, row_end - common);
      bytes_.append(cell.qualifier());
    }
  }

 private:
  void begin() {
    bytes_.clear();
    append_be16(bytes_, id_);
    append_be32(bytes_, 0);
    plain_bytes_ = 0;
    dictionary_.clear();
  }
  void append_tags(std::string_view tags) {
    append_varint(bytes_, tags.size());
    if (format_.tags_compressed) {
      dictionary_.append(bytes_, tags);
    } else {
      bytes_ += tags;
    }
  }

  uint16_t id_;
  CellFormat format_;
  std::string bytes_;
  std::string key_;
  CellView before_;
  size_t plain_bytes_ = 0;
  size_t cells_ = 0;
  TagDictionaryWriter dictionary_;
};

// The plug-in that an encoder and a decoder make; the decoder says its id and name.
template <class Encoder, class Decoder>
class DeltaEncoding final : public BlockEncoding {
 public:
  explicit DeltaEncoding(const PluginParams&) {}
  uint16_t id() const override { return Decoder::kId; }
  std::string_view name() const override { return Decoder::kName; }
  std::unique_ptr<BlockEncoder> make_encoder(const CellFormat& format) const override {
    return std::make_unique<Encoder>(Decoder::kId, format);
  }
  std::unique_ptr<RunCursor> make_cursor(std::shared_ptr<const FileParts> file,
                                         const FileCursorOptions& options) const override {
    return std::make_unique<HFileCursor<Decoder>>(std::move(file), options);
  }
  std::unique_ptr<BlockWalker> make_walker(const CellFormat& format) const override {
    return std::make_unique<DecoderWalker<Decoder>>(format);
  }
};

}  // namespace cellar
