// The memtable "skip_list": a classic skip list (skip_list.h).
#include "memtable/ordered_memtable.h"
#include "memtable/skip_list.h"

namespace cellar {

CELLAR_PLUGIN(Memtable, memtable_ordered_skip_list, "skip_list", OrderedMemtable<SkipList>)

}  // namespace cellar
