// RowBatch: collects cells and the pins that keep them.
#include "cellar/row_batch.h"
#include "base/assert.h"

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

std::span<const CellView> RowView::versions(std::string_view family, std::string_view qualifier) const {
  const auto of_column = [&](const CellView& cell) {
    return cell.family() == family && cell.qualifier() == qualifier;
  };
  const auto first = std::ranges::find_if(cells_, of_column);
  return {first, std::find_if_not(first, cells_.end(), of_column)};
}

std::span<const Cell> Row::versions(std::string_view family, std::string_view qualifier) const {
  const auto of_column = [&](const Cell& cell) {
    return cell.family == family && cell.qualifier == qualifier;
  };
  const auto first = std::ranges::find_if(cells, of_column);
  return {first, std::find_if_not(first, cells.end(), of_column)};
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
  std::swap(cursor_, other.cursor_);
  std::swap(open_pins_, other.open_pins_);
  std::swap(open_copies_, other.open_copies_);
  std::swap(open_copy_at_, other.open_copy_at_);
  std::swap(open_copy_end_, other.open_copy_end_);
  other.clear();
  return *this;
}

RowBatch::~RowBatch() { clear(); }

RowView RowBatch::operator[](size_t index) const {
  CELLAR_DCHECK(index < rows_.size());
  const Span& span = rows_[index];
  CELLAR_DCHECK(span.begin <= span.end && span.end <= cells_.size());
  if (span.begin == span.end) [[unlikely]]
    return RowView::cursor(cursor_);
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
  cursor_ = {};
  if (copies_.size() > 1) copies_.resize(1);
  copy_at_ = 0;
  copy_end_ = copies_.empty() ? 0 : kCopyBlockBytes;
  open_ = 0;
  mark_open();
  CELLAR_ASSERT(pins_.size() <= 1 && copies_.size() <= 1);
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
  CELLAR_DCHECK(copy_at_ + bytes <= copy_end_);
  copy_at_ += bytes;
  return room;
}

void RowBatch::copy_key(CellView& cell) {
  CELLAR_DCHECK(cell.key_size >= 12u + cell.row_size + cell.family_size);
  char* room = copy_room(size_t{cell.key_size} + cell.tags_size);
  std::memcpy(room, cell.key, cell.key_size);
  cell.key = room;
  if (cell.tags_size > 0) std::memcpy(room + cell.key_size, cell.tags, cell.tags_size);
  cell.tags = room + cell.key_size;
  cell.key_in_scratch = false;
}

void RowBatch::copy_value(CellView& cell) {
  char* room = copy_room(cell.value_size);
  if (cell.value_size > 0) std::memcpy(room, cell.value, cell.value_size);
  cell.value = room;
}

void RowBatch::add_changed(const CellView& cell, const Pinnable* held) {
  CellView copied = cell;
  copy_key(copied);
  copy_value(copied);
  add(copied, held);
}

void RowBatch::replace_open_row(std::span<const CellView> cells) {
  CELLAR_ASSERT(open_ <= cells_.size());
  const std::vector<CellView> before(cells_.begin() + static_cast<std::ptrdiff_t>(open_), cells_.end());
  cells_.resize(open_);
  size_t at = 0;  // what was left in its order is found without looking twice
  for (const CellView& cell : cells) {
    const auto same = [&](const CellView& each) { return each.key == cell.key && each.value == cell.value; };
    const auto from = before.begin() + static_cast<std::ptrdiff_t>(at);
    auto found = std::find_if(from, before.end(), same);
    if (found == before.end()) found = std::find_if(before.begin(), before.end(), same);
    cells_.push_back(cell);
    if (found != before.end()) {
      at = static_cast<size_t>(found - before.begin());
    } else {
      copy_key(cells_.back());
      copy_value(cells_.back());
    }
  }
}

void RowBatch::sort_open_row() {
  CELLAR_ASSERT(open_ <= cells_.size());
  std::stable_sort(cells_.begin() + static_cast<std::ptrdiff_t>(open_), cells_.end(),
                   [](const CellView& a, const CellView& b) { return a.family() < b.family(); });
}

// What the row held and copied is let go: a filter may drop millions of rows between two that pass.
void RowBatch::drop_open_row() {
  CELLAR_ASSERT(open_ <= cells_.size() && (rows_.empty() || rows_.back().end == open_));
  cells_.resize(open_);
  for (size_t i = open_pins_; i < pins_.size(); ++i) pins_[i]->drop_pins(1);
  pins_.resize(std::min(pins_.size(), open_pins_));
  copies_.resize(std::min(copies_.size(), open_copies_));
  copy_at_ = open_copy_at_;
  copy_end_ = open_copy_end_;
}

void RowBatch::add(const CellView& cell, const Pinnable* held) {
  CellView& kept = cells_.emplace_back(cell);
  if (cell.key_in_scratch) copy_key(kept);
  if (held != nullptr && (pins_.empty() || pins_.back() != held)) {
    // Cells of two families alternate between two blocks: look a few pins back before counting again.
    const size_t look = std::min<size_t>(pins_.size(), 4);
    if (std::find(pins_.end() - static_cast<std::ptrdiff_t>(look), pins_.end(), held) == pins_.end()) {
      held->add_pins(1);
      pins_.push_back(held);
      CELLAR_DCHECK(pins_.size() > open_pins_);  // drop_open_row() lets go of it
    }
  }
}

void RowBatch::end_row(bool more_cells_in_row) {
  CELLAR_ASSERT(cells_.size() <= UINT32_MAX && (rows_.empty() || rows_.back().end == open_));
  rows_.push_back({static_cast<uint32_t>(open_), static_cast<uint32_t>(cells_.size()), more_cells_in_row});
  open_ = cells_.size();
  mark_open();
}

void RowBatch::add_cursor(std::string_view row) {
  CELLAR_ASSERT(open_ == cells_.size() && cursor_.empty());  // an empty row stands for the cursor
  char* room = copy_room(row.size());
  std::memcpy(room, row.data(), row.size());
  cursor_ = {room, row.size()};
  end_row(false);
}

void RowBatch::mark_open() {
  open_pins_ = pins_.size();
  open_copies_ = copies_.size();
  open_copy_at_ = copy_at_;
  open_copy_end_ = copy_end_;
}

}  // namespace cellar
