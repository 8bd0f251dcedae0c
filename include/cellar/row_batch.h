// RowView, Row, RowBatch: what reads return, borrowed, owned, and many with the pins that keep them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"

namespace CELLAR_PUBLIC cellar {

class Pinnable;

// Row: an owned row. A value.
struct Row {
  std::string row;
  std::vector<Cell> cells;
  // The newest value of a column, or nothing.
  std::optional<std::string_view> value(std::string_view family, std::string_view qualifier) const;
  // All cells of a column, newest first.
  std::span<const Cell> versions(std::string_view family, std::string_view qualifier) const;
  bool operator==(const Row&) const = default;
};

// RowView: one row of a result, borrowed: valid until its RowBatch is cleared, destroyed or filled again, or
// its Scanner moves on. Cells are ordered by family, qualifier, newest first.
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
  // The newest returned value of a column, or nothing.
  std::optional<std::string_view> value(std::string_view family, std::string_view qualifier) const;
  // All returned cells of a column, newest first.
  std::span<const CellView> versions(std::string_view family, std::string_view qualifier) const;
  // The newest value as a counter; nothing also when it is not 8 bytes long.
  std::optional<int64_t> counter(std::string_view family, std::string_view qualifier) const;
  // Whether this is no row but says how far the scan has come (Scan::cursor_after_cells): it has no cells,
  // and row() is where to go on.
  bool is_cursor() const { return !cursor_.empty(); }
  // Whether the row goes on in the next part (Scan::batch, Scan::max_result_bytes).
  bool more_cells_in_row() const { return more_; }
  // A copy that owns its bytes.
  Row to_row() const;

 private:
  std::span<const CellView> cells_;
  std::string_view cursor_;  // a row, or empty: none has an empty key
  bool more_ = false;
};

// RowBatch: rows and the pins that keep their bytes where they are: in the block cache, or in memory. Reuse
// one to read without allocating. One thread at a time.
class RowBatch {
 public:
  RowBatch();
  RowBatch(RowBatch&& other) noexcept;
  RowBatch& operator=(RowBatch&& other) noexcept;
  ~RowBatch();

  bool empty() const { return rows_.empty(); }
  size_t size() const { return rows_.size(); }
  RowView operator[](size_t index) const;
  // Of the first row; for single-row reads.
  RowView row() const { return empty() ? RowView() : (*this)[0]; }
  std::optional<std::string_view> value(std::string_view family, std::string_view qualifier) const {
    return row().value(family, qualifier);
  }
  size_t cells() const { return cells_.size(); }
  // Lets go of everything, keeping memory for the next read.
  void clear();

  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  // For the engine: adds a cell to the row being built, keeping its bytes by a pin on `held` (null: none is
  // needed) or copying what lies in scratch; ends the row.
  void add(const CellView& cell, const Pinnable* held);
  void end_row(bool more_cells_in_row);
  // For the engine: add() of a cell whose value lies elsewhere than what `held` keeps.
  void add_changed(const CellView& cell, const Pinnable* held);
  // For the engine: the row being built; other cells in its place, of which those not in it before are
  // copied; its cells in the order of their families; not this row.
  std::span<const CellView> open_row() const { return std::span(cells_).subspan(open_); }
  void replace_open_row(std::span<const CellView> cells);
  void sort_open_row();
  void drop_open_row();
  size_t cells_in_open_row() const { return cells_.size() - open_; }
  // For the engine: a cursor as the last row, when no row is being built; whether there is one.
  void add_cursor(std::string_view row);
  bool ends_with_cursor() const { return !cursor_.empty(); }
  // For the engine: clear(), but the newest pin stays: the next row of a scan lies where the last one did.
  void restart();

 private:
  struct Span {
    uint32_t begin;
    uint32_t end;
    bool more;
  };
  void clear_rows();
  char* copy_room(size_t bytes);
  void mark_open();
  void copy_key(CellView& cell);
  void copy_value(CellView& cell);
  std::vector<CellView> cells_;
  std::vector<Span> rows_;
  std::vector<const Pinnable*> pins_;
  std::vector<std::unique_ptr<char[]>> copies_;
  size_t copy_at_ = 0;
  size_t copy_end_ = 0;
  size_t open_ = 0;
  std::string_view cursor_;  // the row of one, in copies_; it is the only row without cells
  // Where the rest stood when the row was begun.
  size_t open_pins_ = 0;
  size_t open_copies_ = 0;
  size_t open_copy_at_ = 0;
  size_t open_copy_end_ = 0;
};

class RowBatch::Iterator {
 public:
  Iterator(const RowBatch& batch, size_t index) : batch_(&batch), index_(index) {}
  RowView operator*() const { return (*batch_)[index_]; }
  Iterator& operator++() { return ++index_, *this; }
  bool operator!=(const Iterator& other) const { return index_ != other.index_; }

 private:
  const RowBatch* batch_;
  size_t index_;
};

inline RowBatch::Iterator RowBatch::begin() const { return Iterator(*this, 0); }
inline RowBatch::Iterator RowBatch::end() const { return Iterator(*this, rows_.size()); }

}  // namespace cellar
