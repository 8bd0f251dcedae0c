// ThreeSlots: the cells of a cursor: the current one, and two to step with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "cellar/cell.h"

namespace cellar {

// `Slot` is a CellView, or one with memory of its own. Plain cells are not constructed. A decoder sets every
// member of a cell, and to clear three of them would cost a get 47 more instructions.
template <class Slot>
class ThreeSlots {
 public:
  Slot& operator[](int at) { return slots_[at]; }
  const Slot& operator[](int at) const { return slots_[at]; }

 private:
  Slot slots_[3];
};
template <>
class ThreeSlots<CellView> {
 public:
  ThreeSlots() {
#ifdef CELLAR_DEBUG
    std::ranges::fill(bytes_, std::byte{0xdb});  // a pointer read too early leads nowhere
#endif
  }
  CellView& operator[](int at) { return reinterpret_cast<CellView*>(bytes_)[at]; }
  const CellView& operator[](int at) const { return reinterpret_cast<const CellView*>(bytes_)[at]; }

 private:
  static_assert(std::is_trivially_copyable_v<CellView>);
  alignas(CellView) std::byte bytes_[3 * sizeof(CellView)];  // its cells exist as soon as they are written
};

}  // namespace cellar
