// The memtable "blink": a B-link tree of key prefixes (blink_tree.h).
#include "memtable/blink_tree.h"
#include "memtable/ordered_memtable.h"

namespace cellar {

CELLAR_PLUGIN(Memtable, memtable_ordered_blink, "blink", OrderedMemtable<BlinkTree>)

}  // namespace cellar
