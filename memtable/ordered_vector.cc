// The memtable "vector": a list of cells that reads sort (cell_vector.h).
#include "memtable/cell_vector.h"
#include "memtable/ordered_memtable.h"

namespace cellar {

CELLAR_PLUGIN(Memtable, memtable_ordered_vector, "vector", OrderedMemtable<CellVector>)

}  // namespace cellar
