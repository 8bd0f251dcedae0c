// RowView, Row and RowBatch: the rows that reads return: borrowed, owned, and several that keep their own
// bytes in place.
//
// A RowView and all that it returns (CellView, std::string_view) point into a RowBatch or Scanner, and copy
// nothing. They are valid until that object is destroyed, cleared, filled again or moved on. A temporary
// lends nothing, so the line that would dangle does not compile:
//
//   for (const CellView& cell : table->get(get).value().row()) …         // does not compile
//
//   CELLAR_TRY_ASSIGN(const RowBatch batch, table->get(get));            // keep the batch …
//   for (const CellView& cell : batch.row()) …                           // reads the row
//   CELLAR_TRY_ASSIGN(const Row row, table->get_row(get));               // or copy the row
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

class Pinnable;

// Row: a row that owns its bytes. A value. Cells are ordered by family, qualifier, and newest first. A read
// that found nothing returns a Row without cells.
struct Row {
  std::string row;
  std::vector<Cell> cells;

  bool empty() const { return cells.empty(); }
  auto begin() const& CELLAR_LIFETIME_BOUND { return cells.begin(); }
  auto end() const& CELLAR_LIFETIME_BOUND { return cells.end(); }
  auto begin() && = delete;
  auto end() && = delete;
  // Returns the newest value of a column, or nothing if the row has no such column. A column that was not
  // read is missing too. The row does not know its table, so a mistyped family is a missing column here: only
  // the read itself refuses an unknown family. Table::info() tells the families of a table.
  std::optional<std::string_view> value(std::string_view family,
                                        std::string_view qualifier) const& CELLAR_LIFETIME_BOUND;
  std::optional<std::string_view> value(std::string_view, std::string_view) && = delete;
  // Returns all cells of a column, newest first.
  std::span<const Cell> versions(std::string_view family,
                                 std::string_view qualifier) const& CELLAR_LIFETIME_BOUND;
  std::span<const Cell> versions(std::string_view, std::string_view) && = delete;
  // Returns the newest value as a counter, or nothing if it is missing or not 8 bytes long.
  std::optional<int64_t> counter(std::string_view family, std::string_view qualifier) const;
  bool operator==(const Row&) const = default;
};

// RowView: one row of a result, borrowed (see the top of this file). Cells are ordered by family, qualifier,
// and newest first.
class RowView {
 public:
  RowView() = default;
  RowView(std::span<const CellView> cells, bool more) : cells_(cells), more_(more) {}
  static RowView cursor(std::string_view row) {
    RowView view;
    view.cursor_ = row;
    return view;
  }

  bool empty() const { return cells_.empty(); }
  std::string_view row() const { return cells_.empty() ? cursor_ : cells_.front().row(); }
  std::span<const CellView> cells() const { return cells_; }
  auto begin() const { return cells_.begin(); }
  auto end() const { return cells_.end(); }
  // As Row::value, Row::versions and Row::counter.
  std::optional<std::string_view> value(std::string_view family, std::string_view qualifier) const;
  std::span<const CellView> versions(std::string_view family, std::string_view qualifier) const;
  std::optional<int64_t> counter(std::string_view family, std::string_view qualifier) const;
  // Returns whether this is not a row but the progress of a scan (Scan::cursor_after_cells). It then has no
  // cells, and row() is the row at which the scan goes on.
  bool is_cursor() const { return !cursor_.empty(); }
  // Returns whether the row goes on in the next part (Scan::batch, Scan::max_result_bytes).
  bool more_cells_in_row() const { return more_; }
  // Returns a copy that owns its bytes.
  Row to_row() const;

 private:
  std::span<const CellView> cells_;
  std::string_view cursor_;  // a row, or empty: no row has an empty key
  bool more_ = false;
};

// Returns the row in one line of text for people: "user42 {f:name @1700000000000 = Ada, f:old @5 Delete}".
// Bytes that are not printable ASCII are escaped as HBase's shell does: \x00.
std::string to_text(const RowView& row);
std::string to_text(const Row& row);
std::ostream& operator<<(std::ostream& to, const RowView& row);
std::ostream& operator<<(std::ostream& to, const Row& row);

// RowBatch: rows, and the pins that keep their bytes in place: in the block cache or in a memtable. A
// RowBatch that lives long keeps that memory. One that is used again for many reads does not allocate. One
// thread at a time. It must be destroyed before its engine is closed.
class RowBatch {
 public:
  RowBatch();
  RowBatch(RowBatch&& other) noexcept;
  RowBatch& operator=(RowBatch&& other) noexcept;
  ~RowBatch();

  bool empty() const { return ends_.empty(); }
  // Returns the number of rows.
  size_t size() const { return ends_.size(); }
  // Returns the number of cells of all rows.
  size_t cells() const { return cells_.size(); }
  RowView operator[](size_t index) const& CELLAR_LIFETIME_BOUND;
  RowView operator[](size_t) && = delete;
  // Returns the first row, or an empty one. For reads of one row.
  RowView row() const& CELLAR_LIFETIME_BOUND { return empty() ? RowView() : (*this)[0]; }
  RowView row() && = delete;
  // As Row::value and Row::counter of the first row.
  std::optional<std::string_view> value(std::string_view family,
                                        std::string_view qualifier) const& CELLAR_LIFETIME_BOUND {
    return row().value(family, qualifier);
  }
  std::optional<std::string_view> value(std::string_view, std::string_view) && = delete;
  std::optional<int64_t> counter(std::string_view family, std::string_view qualifier) const {
    return row().counter(family, qualifier);
  }
  // Removes all rows and their pins. Keeps its own memory for the next read.
  void clear();

  class Iterator;
  Iterator begin() const& CELLAR_LIFETIME_BOUND;
  Iterator end() const& CELLAR_LIFETIME_BOUND;
  Iterator begin() && = delete;
  Iterator end() && = delete;

 private:
  friend class RowBatchBuilder;  // the engine's

  std::vector<CellView> cells_;
  std::vector<uint64_t> ends_;  // of each row: twice the index after its last cell, plus 1 if it goes on
  std::vector<const Pinnable*> pins_;
  std::vector<std::unique_ptr<char[]>> copies_;
  size_t copy_at_ = 0;
  size_t copy_end_ = 0;
  size_t open_ = 0;          // the first cell of the row under construction
  std::string_view cursor_;  // the row of a cursor, in copies_; only a cursor has no cells
  // The state in which the row under construction began.
  size_t open_pins_ = 0;
  size_t open_copies_ = 0;
  size_t open_copy_at_ = 0;
  size_t open_copy_end_ = 0;
};

class RowBatch::Iterator {
 public:
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;  // it returns values, not references
  using difference_type = std::ptrdiff_t;
  using value_type = RowView;

  Iterator() = default;
  Iterator(const RowBatch& batch, size_t index) : batch_(&batch), index_(index) {}
  RowView operator*() const { return (*batch_)[index_]; }
  Iterator& operator++() { return ++index_, *this; }
  Iterator operator++(int) {
    Iterator before = *this;
    ++index_;
    return before;
  }
  bool operator==(const Iterator&) const = default;

 private:
  const RowBatch* batch_ = nullptr;
  size_t index_ = 0;
};

inline RowView RowBatch::operator[](size_t index) const& {
  const uint64_t end = ends_[index];
  const size_t begin = index == 0 ? 0 : ends_[index - 1] / 2;
  if (begin == end / 2) [[unlikely]]
    return RowView::cursor(cursor_);
  return {std::span(cells_.data() + begin, end / 2 - begin), end % 2 != 0};
}

inline RowBatch::Iterator RowBatch::begin() const& { return Iterator(*this, 0); }
inline RowBatch::Iterator RowBatch::end() const& { return Iterator(*this, size()); }

// A Result lends nothing of a temporary either: `table->get(get)->value("f", "q")` does not compile.
template <>
inline constexpr bool kLendsItsBytes<RowBatch> = true;
template <>
inline constexpr bool kLendsItsBytes<Row> = true;

}  // namespace cellar
