// CellRoom: memory for the cells of a span.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/assert.h"
#include "base/recycled.h"
#include "cellar/cell.h"

namespace cellar {

// A buffer that keeps its memory for the next span. The cells are not constructed, because that costs as much
// as decoding them. The caller sets every member of a cell before it reads the cell. One thread at a time.
class CellRoom {
 public:
  CellRoom() = default;
  CellRoom(const CellRoom&) = delete;
  CellRoom& operator=(const CellRoom&) = delete;
  ~CellRoom() { give_back(); }

  // Returns room for so many cells, valid until the next call. The cells of the call before are lost.
  CellView* of(uint32_t cells) {
    static_assert(std::is_trivially_copyable_v<CellView>);
    CELLAR_DCHECK(cells > 0);
    if (cells_ < cells) {
      give_back();
      cells_ = std::max(cells, kCellsMin);
      bytes_ = RecycledBytes::take(cells_ * sizeof(CellView));
    }
    return static_cast<CellView*>(bytes_);
  }

 private:
  // As many as most walks need in the end. Where accesses are checked, the room has exactly its size.
  static constexpr uint32_t kCellsMin = kKeepsMemory ? 32 : 1;

  void give_back() {
    if (cells_ > 0) RecycledBytes::give_back(bytes_, cells_ * sizeof(CellView));
    cells_ = 0;
  }

  void* bytes_ = nullptr;
  uint32_t cells_ = 0;
};

}  // namespace cellar
