// RowBatch: collects cells and the pins that keep them.
#include "cellar/row_batch.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/pin.h"

namespace cellar {
namespace {

constexpr size_t kCopyBlockBytes = 4096;

}  // namespace

std::optional<std::string_view> Row::value(std::string_view family, std::string_view qualifier) const {
  for (const Cell& cell : cells)
    if (cell.family == family && cell.qualifier == qualifier && cell.type == CellType::kPut)
      return cell.value;
  return std::nullopt;
}

std::optional<std::string_view> RowView::value(std::string_view family, std::string_view qualifier) const {
  for (const CellView& cell : cells_)
    if (cell.family() == family && cell.qualifier() == qualifier && cell.type() == CellType::kPut)
      return cell.value_bytes();
  return std::nullopt;
}

std::optional<int64_t> RowView::counter(std::string_view family, std::string_view qualifier) const {
  const auto bytes = value(family, qualifier);
  if (!bytes || bytes->size() != 8) return std::nullopt;
  return static_cast<int64_t>(load_be64(bytes->data()));
}

Row RowView::to_row() const {
  Row row{std::string(this->row()), {}};
  row.cells.reserve(cells_.size());
  for (const CellView& cell : cells_) row.cells.emplace_back(cell);
  return row;
}

RowBatch::RowBatch() = default;
RowBatch::RowBatch(RowBatch&& other) noexcept { *this = std::move(other); }

RowBatch& RowBatch::operator=(RowBatch&& other) noexcept {
  std::swap(cells_, other.cells_);
  std::swap(rows_, other.rows_);
  std::swap(pins_, other.pins_);
  std::swap(copies_, other.copies_);
  std::swap(copy_at_, other.copy_at_);
  std::swap(copy_end_, other.copy_end_);
  std::swap(open_, other.open_);
  other.clear();
  return *this;
}

RowBatch::~RowBatch() { clear(); }

RowView RowBatch::operator[](size_t index) const {
  const Span& span = rows_[index];
  return {std::span(cells_).subspan(span.begin, span.end - span.begin), span.more};
}

void RowBatch::clear() {
  for (const Pinnable* held : pins_) held->drop_pins(1);
  pins_.clear();
  clear_rows();
}

void RowBatch::restart() {
  if (pins_.size() > 1) {
    for (size_t i = 0; i + 1 < pins_.size(); ++i) pins_[i]->drop_pins(1);
    pins_.front() = pins_.back();
    pins_.resize(1);
  }
  clear_rows();
}

void RowBatch::clear_rows() {
  cells_.clear();
  rows_.clear();
  if (copies_.size() > 1) copies_.resize(1);
  copy_at_ = 0;
  copy_end_ = copies_.empty() ? 0 : kCopyBlockBytes;
  open_ = 0;
}

// Room that lives until clear(): pieces of blocks, of which the first is kept for the next read.
char* RowBatch::copy_room(size_t bytes) {
  if (copies_.empty() || copy_end_ - copy_at_ < bytes) {
    const size_t block = std::max(bytes, kCopyBlockBytes);
    copies_.push_back(std::make_unique<char[]>(block));
    if (copies_.size() == 1 && block != kCopyBlockBytes) {
      // The first block has the fixed size, so that clear() knows it.
      copies_.insert(copies_.begin(), std::make_unique<char[]>(kCopyBlockBytes));
    }
    copy_at_ = 0;
    copy_end_ = block;
  }
  char* room = copies_.back().get() + copy_at_;
  copy_at_ += bytes;
  return room;
}

void RowBatch::add(const CellView& cell, const Pinnable* held) {
  CellView& kept = cells_.emplace_back(cell);
  if (cell.key_in_scratch) {
    char* room = copy_room(size_t{cell.key_size} + cell.tags_size);
    std::memcpy(room, cell.key, cell.key_size);
    kept.key = room;
    if (cell.tags_size > 0) std::memcpy(room + cell.key_size, cell.tags, cell.tags_size);
    kept.tags = room + cell.key_size;
    kept.key_in_scratch = false;
  }
  if (held != nullptr && (pins_.empty() || pins_.back() != held)) {
    // Cells of two families alternate between two blocks: look a few pins back before counting again.
    const size_t look = std::min<size_t>(pins_.size(), 4);
    if (std::find(pins_.end() - static_cast<std::ptrdiff_t>(look), pins_.end(), held) == pins_.end()) {
      held->add_pins(1);
      pins_.push_back(held);
    }
  }
}

void RowBatch::end_row(bool more_cells_in_row) {
  rows_.push_back({static_cast<uint32_t>(open_), static_cast<uint32_t>(cells_.size()), more_cells_in_row});
  open_ = cells_.size();
}

}  // namespace cellar
