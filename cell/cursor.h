// CellCursor and RunCursor: walk sorted cells; the contract of memtables, files and merges.
#pragma once

#include <span>

#include "base/pin.h"
#include "base/text_printer.h"
#include "cellar/cell.h"
#include "cellar/status.h"

namespace cellar {

// One thread at a time. A new cursor has no position: call seek first.
//
// Every move (seek, skip_to, next, seek_before) returns the cell now under the cursor, or null at the end
// or after an error. status() tells which. An error is sticky: every later move returns null. A move
// after the end returns null again.
//
// The view and the bytes of a returned cell stay valid until the second move after it ("two-step rule").
// A consumer can therefore compare each cell with the one before it without copying. Cells come in
// non-decreasing order: equal keys occur.
class CellCursor {
 public:
  virtual ~CellCursor() = default;

  // Moves to the first cell at or after `target` (cell_order.h). May move backward.
  virtual const CellView* seek(const CellView& target) = 0;

  // Moves to the cell after the current one. Call only after a move that returned a cell.
  virtual const CellView* next() = 0;

  // Moves over a span: the cells after the current one that the cursor gives in one piece. Their last is then
  // the current cell. Empty at the end or after an error. Call only after a move that returned a cell. The
  // call is one move: all cells of the span stay valid until the second move after it. pinned() holds the
  // bytes of them all. The default gives spans of one cell.
  virtual std::span<const CellView> next_span() {
    const CellView* cell = next();
    return cell != nullptr ? std::span(cell, 1) : std::span<const CellView>();
  }

  // Gives the end of the last span again, which may be the cell of another move, and later cells in one piece
  // with it. Their last is then the current cell. Empty if the cursor has no such cells at hand: it has not
  // moved then. A caller uses it to see a row in one piece. One move, like next_span().
  virtual std::span<const CellView> widen_span(std::span<const CellView> end) {
    static_cast<void>(end);
    return {};
  }

  // Moves to the first cell at or after `target`, which must be after the current cell: forward only, for
  // short hops. Implementations decide between stepping and seeking. The default steps, which makes more
  // than one move, so the sources of a merge implement their own.
  virtual const CellView* skip_to(const CellView& target);

  virtual Status status() const = 0;

  // Returns the object that holds the bytes of the current cell (except those in scratch); null if nothing
  // needs to hold them. A pin on the object keeps the bytes valid after the cursor has moved on or is
  // destroyed.
  virtual const Pinnable* pinned() const = 0;
  Pin pin() const { return Pin(pinned()); }
  // Returns pinned(), and notes that the current cell goes into the answer of a read. Call at most once for
  // each cell.
  virtual const Pinnable* take_cell() { return pinned(); }
  // Does the same for the last cell that a read takes, and returns a pin on the object. It may be the pin of
  // the cursor itself, which saves two locked instructions. The cursor then has no position, and its views
  // end: call seek before any other move.
  virtual Pin take_last_cell() { return Pin(take_cell()); }

  // Prints one line or a small tree that describes the cursor and its position.
  virtual void print(TextPrinter& out) const = 0;
};

// RunCursor: a cursor of one sorted run, such as a memtable or a file. A run can also be searched backward,
// which reversed scans need.
class RunCursor : public CellCursor {
 public:
  // Moves to the last cell before `target`; returns null if there is no such cell. next() then continues
  // from that cell.
  virtual const CellView* seek_before(const CellView& target) = 0;

  // Gives cells that lie together before `target`, in their order; the last of them is the last cell before
  // `target`, and the current one. There may be more cells before them. Empty where seek_before() has to
  // search: the default, and whenever this costs more than a loop. One move, like next_span().
  virtual std::span<const CellView> span_before(const CellView& target) {
    static_cast<void>(target);
    return {};
  }
};

}  // namespace cellar
