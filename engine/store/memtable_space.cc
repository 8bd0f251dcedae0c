// MemtableSpace: memtables by the name of their kind.
#include "engine/store/memtable_space.h"

namespace cellar {

MemtableRef MemtableSpace::create() const {
  // validate() has checked the name before the engine was opened.
  return MemtableRef(make_memtable(kind_).value().release());
}

}  // namespace cellar
