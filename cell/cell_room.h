// CellRoom: memory for the cells of a span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/assert.h"
#include "cellar/cell.h"

namespace cellar {

// A buffer that keeps its memory for the next span. The cells are not constructed, because that costs as much
// as decoding them. The caller sets every member of a cell before it reads the cell. One thread at a time.
class CellRoom {
 public:
  // Returns room for so many cells, valid until the next call. The cells of the call before are lost.
  CellView* of(uint32_t cells) {
    static_assert(std::is_trivially_copyable_v<CellView>);
    CELLAR_DCHECK(cells > 0);
    if (cells_ < cells) {
      bytes_ = std::make_unique_for_overwrite<std::byte[]>(cells * sizeof(CellView));
      cells_ = cells;
    }
    return reinterpret_cast<CellView*>(bytes_.get());
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  uint32_t cells_ = 0;
};

}  // namespace cellar
