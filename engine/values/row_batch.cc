// Row, RowView and RowBatch: columns of a row, its text, and the life of a batch.
#include "cellar/row_batch.h"
#include "base/assert.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/pin.h"
#include "engine/values/row_batch_builder.h"

namespace cellar {
namespace {

// Appends "family:qualifier @timestamp = value", or the type of a delete marker instead of the value.
void append_cell(std::string& text, std::string_view family, std::string_view qualifier, int64_t timestamp,
                 CellType type, std::string_view value) {
  text += fmt::format("{}:{} @{} ", escaped(family), escaped(qualifier), timestamp);
  if (type == CellType::kPut) {
    text += fmt::format("= {}", escaped(value));
  } else {
    text += type_name(type);
  }
}

std::optional<int64_t> counter_of(std::string_view bytes) {
  if (bytes.size() != 8) return std::nullopt;
  return static_cast<int64_t>(load_be64(bytes.data()));
}

}  // namespace

std::optional<std::string_view> Row::value(std::string_view family, std::string_view qualifier) const& {
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

std::span<const Cell> Row::versions(std::string_view family, std::string_view qualifier) const& {
  const auto of_column = [&](const Cell& cell) {
    return cell.family == family && cell.qualifier == qualifier;
  };
  const auto first = std::ranges::find_if(cells, of_column);
  return {first, std::find_if_not(first, cells.end(), of_column)};
}

std::optional<int64_t> Row::counter(std::string_view family, std::string_view qualifier) const {
  const auto bytes = value(family, qualifier);
  return bytes ? counter_of(*bytes) : std::nullopt;
}

std::optional<int64_t> RowView::counter(std::string_view family, std::string_view qualifier) const {
  const auto bytes = value(family, qualifier);
  return bytes ? counter_of(*bytes) : std::nullopt;
}

Row RowView::to_row() const {
  Row row{std::string(this->row()), {}};
  row.cells.reserve(cells_.size());
  for (const CellView& cell : cells_) row.cells.emplace_back(cell);
  return row;
}

std::string to_text(const RowView& row) {
  if (row.is_cursor()) return "cursor at " + escaped(row.row());
  std::string text = escaped(row.row()) + " {";
  for (const CellView& cell : row) {
    if (text.back() != '{') text += ", ";
    append_cell(text, cell.family(), cell.qualifier(), cell.timestamp, cell.type(), cell.value_bytes());
  }
  return text + (row.more_cells_in_row() ? ", …}" : "}");
}

std::string to_text(const Row& row) {
  std::string text = escaped(row.row) + " {";
  for (const Cell& cell : row.cells) {
    if (text.back() != '{') text += ", ";
    append_cell(text, cell.family, cell.qualifier, cell.timestamp, cell.type, cell.value);
  }
  return text + "}";
}

std::ostream& operator<<(std::ostream& to, const RowView& row) { return to << to_text(row); }
std::ostream& operator<<(std::ostream& to, const Row& row) { return to << to_text(row); }

RowBatch::RowBatch() = default;
RowBatch::RowBatch(RowBatch&& other) noexcept { *this = std::move(other); }

RowBatch& RowBatch::operator=(RowBatch&& other) noexcept {
  std::swap(cells_, other.cells_);
  std::swap(ends_, other.ends_);
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

RowBatch::~RowBatch() {
  for (const Pinnable* held : pins_) held->drop_pins(1);
}

void RowBatch::clear() {
  for (const Pinnable* held : pins_) held->drop_pins(1);
  pins_.clear();
  RowBatchBuilder(*this).clear_rows();
}

}  // namespace cellar
