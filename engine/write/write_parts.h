// WriteParts: what a write is checked against, held up by, locked by, logged to and published through.
#pragma once

#include "engine/store/catalog.h"
#include "engine/store/disk.h"
#include "engine/store/memtable_space.h"
#include "engine/store/row_locks.h"
#include "engine/store/table_host.h"
#include "engine/write/write_throttle.h"

namespace cellar {

// Borrows.
struct WriteParts {
  const TableHost& host;  // the world, sequences and snapshots
  const Catalog& catalog;
  WriteThrottle& throttle;
  RowLocks& row_locks;
  MemtableSpace& memory;
  Disk& disk;  // the log; its failures
};

}  // namespace cellar
