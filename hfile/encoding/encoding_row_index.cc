// Encoding ROW_INDEX_V1: plain cells, followed by the offset of each row.
//
//   u16 id = 7 | cells | u32 rows | u32 × rows: offset of the row's first cell | u32 bytes of the cells
#include "hfile/encoding/decoder_walker.h"
#include "hfile/encoding/encoding.h"
#include "hfile/encoding/hfile_cursor.h"
#include "hfile/encoding/plain_cells.h"

namespace cellar {
namespace {

constexpr uint16_t kId = 7;
constexpr size_t kIdBytes = 2;

class RowIndexEncoder final : public BlockEncoder {
 public:
  explicit RowIndexEncoder(const CellFormat& format) : format_(format) {}

  void add(const CellView& cell) override {
    if (cells_ == 0) begin();
    const std::string_view row(bytes_.data() + row_at_, row_bytes_);
    if (cells_ == 0 || row != cell.row()) {
      append_be32(rows_, static_cast<uint32_t>(plain_bytes()));
      row_at_ = bytes_.size() + 8 + 2;
      row_bytes_ = cell.row_size;
    }
    append_plain_cell(bytes_, cell, format_);
    cells_ += 1;
  }
  size_t plain_bytes() const override { return cells_ == 0 ? 0 : bytes_.size() - kIdBytes; }
  size_t encoded_bytes() const override { return cells_ == 0 ? 0 : plain_bytes() + rows_.size(); }
  size_t cells() const override { return cells_; }
  void finish(std::string& payload) override {
    if (cells_ == 0) begin();
    const uint32_t cell_bytes = static_cast<uint32_t>(bytes_.size() - kIdBytes);
    append_be32(bytes_, static_cast<uint32_t>(rows_.size() / 4));
    bytes_ += rows_;
    append_be32(bytes_, cell_bytes);
    payload.swap(bytes_);
    cells_ = 0;
  }

 private:
  void begin() {
    bytes_.clear();
    rows_.clear();
    append_be16(bytes_, kId);
    row_at_ = 0;
    row_bytes_ = 0;
  }

  CellFormat format_;
  std::string bytes_;
  std::string rows_;   // the table, as stored
  size_t row_at_ = 0;  // bytes of the row last started
  size_t row_bytes_ = 0;
  size_t cells_ = 0;
};

class RowIndexDecoder : public PlainCells {
 public:
  using PlainCells::PlainCells;
  static constexpr BlockKind kBlockKind = BlockKind::kEncodedData;
  static constexpr bool kGrows = false;

  const char* open(std::string_view payload) {
    if (payload.size() < kIdBytes + 8) return "block too short for ROW_INDEX_V1";
    if (load_be16(payload.data()) != kId) return "block is not of encoding ROW_INDEX_V1";
    const uint64_t cell_bytes = load_be32(payload.data() + payload.size() - 4);
    if (cell_bytes > payload.size() - kIdBytes - 8) return "cells longer than the block";
    const char* table = payload.data() + kIdBytes + cell_bytes;
    rows_ = load_be32(table);
    if (uint64_t{rows_} * 4 != payload.size() - kIdBytes - 8 - cell_bytes)
      return "row table has another size than its block says";
    offsets_ = table + 4;
    PlainCells::open(payload.data() + kIdBytes, table);
    return nullptr;
  }

  // The table must hold exactly the places where rows begin.
  const char* check_end(const std::vector<uint32_t>& row_starts, uint64_t) const {
    if (row_starts.size() != rows_) return "row table has another number of rows than the cells";
    for (uint32_t i = 0; i < rows_; ++i) {
      if (load_be32(offsets_ + size_t{i} * 4) != row_starts[i])
        return "row table does not point to the row's first cell";
    }
    return nullptr;
  }

  // Returns the first cell of the last row at or before the target's row; 0 if no row is. Offsets come from
  // the file. An offset that does not lead to a key ends the search, and the cells before it are walked
  // instead.
  template <class Order>
  size_t near(const CellView& target, const Order& order) const {
    size_t found = 0;
    uint32_t low = 0;
    uint32_t high = rows_;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      CellView first;
      const size_t at = load_be32(offsets_ + size_t{middle} * 4);
      if (at >= size() || !key_at(at, first)) return 0;
      if (order(first, target) < 0) {
        found = at;
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return found;
  }

 private:
  bool key_at(size_t at, CellView& cell) const {
    const char* begin = base() + at;
    if (size() - at < 20) return false;
    const uint32_t key_size = load_be32(begin);
    return key_size <= size() - at - 8 && parse_flat_key(begin + 8, key_size, cell);
  }

  const char* offsets_ = nullptr;
  uint32_t rows_ = 0;
};

class RowIndexEncoding final : public BlockEncoding {
 public:
  explicit RowIndexEncoding(const PluginParams&) {}
  uint16_t id() const override { return kId; }
  std::string_view name() const override { return "ROW_INDEX_V1"; }
  std::unique_ptr<BlockEncoder> make_encoder(const CellFormat& format) const override {
    return std::make_unique<RowIndexEncoder>(format);
  }
  std::unique_ptr<RunCursor> make_cursor(std::shared_ptr<const FileParts> file,
                                         const FileCursorOptions& options) const override {
    return std::make_unique<HFileCursor<RowIndexDecoder>>(std::move(file), options);
  }
  std::unique_ptr<BlockWalker> make_walker(const CellFormat& format) const override {
    return std::make_unique<DecoderWalker<RowIndexDecoder>>(format);
  }
};

}  // namespace
CELLAR_PLUGIN(BlockEncoding, hfile_encoding_encoding_row_index, "row_index", RowIndexEncoding)
}  // namespace cellar
