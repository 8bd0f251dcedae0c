// CellCursor: a forward walk over one sorted run of cells; the contract of memtables, files and merges.
#pragma once

#include "base/pin.h"
#include "base/text_printer.h"
#include "cellar/cell.h"
#include "cellar/status.h"

namespace cellar {

// One thread at a time. A new cursor stands nowhere: seek first.
//
// Every move (seek, skip_to, next, seek_before) returns the cell now under the cursor, or null at the end or
// after an error; status() tells which. An error is sticky: every later move returns null. Moving on after
// the end returns null again.
//
// The view and the bytes of a returned cell stay valid until the second move after it ("two-step rule"), so
// that a consumer may compare each cell with the one before it without copying. Orders are non-decreasing:
// equal keys occur.
class CellCursor {
 public:
  virtual ~CellCursor() = default;

  // The first cell at or after `target` (cell_order.h). May move backwards.
  virtual const CellView* seek(const CellView& target) = 0;

  // The cell after the current one. Only after a move that returned a cell.
  virtual const CellView* next() = 0;

  // The first cell at or after `target`, which lies after the current cell: forward only, for short hops.
  // Implementations decide between stepping and seeking. Default: steps, which is more than one move: sources
  // of a merge have their own.
  virtual const CellView* skip_to(const CellView& target);

  // The last cell before `target`; null when there is none. next() then works from there. For reversed scans,
  // of sorted runs only: what is made of several cursors has none and aborts.
  virtual const CellView* seek_before(const CellView& target) = 0;

  virtual Status status() const = 0;

  // What holds the bytes of the current cell (those not in scratch); null when nothing needs to. Whoever
  // takes a pin on it may use them after the cursor has moved on or is gone.
  virtual const Pinnable* pinned() const = 0;
  Pin pin() const { return Pin(pinned()); }

  // One line or a small tree that says what this is and where it stands.
  virtual void print(TextPrinter& out) const = 0;
};

}  // namespace cellar
