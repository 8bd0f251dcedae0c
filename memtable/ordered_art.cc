// The memtable "art": an adaptive radix tree (radix_tree.h).
#include "memtable/ordered_memtable.h"
#include "memtable/radix_tree.h"

namespace cellar {

CELLAR_PLUGIN(Memtable, memtable_ordered_art, "art", OrderedMemtable<RadixTree>)

}  // namespace cellar
