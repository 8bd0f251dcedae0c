// MemtableSpace: memtables by the name of their kind.
#include "engine/store/memtable_space.h"

namespace cellar {

MemtableRef MemtableSpace::create() const {
  // validate() has checked the name before the engine was opened.
  MemtableRef made(make_memtable(kind_).value().release());
  made->count_held_in(held_);
  return made;
}

}  // namespace cellar
