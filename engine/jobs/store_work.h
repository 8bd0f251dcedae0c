// StoreWork: what every job uses that writes or replaces files of stores.
#pragma once

#include "engine/jobs/store_file_writer.h"
#include "engine/store/memtable_space.h"
#include "engine/store/totals_series.h"

namespace cellar {

// Borrows. A job that uses only some of these names them instead.
struct StoreWork {
  const World& world;
  Activity& activity;
  Health& health;
  Disk& disk;
  StoreFiles& files;
  StoreFileWriter& writer;
  Mvcc& mvcc;
  ExpiryClock& expiry;
  MemtableSpace& memory;
  EngineCounters& counters;
  TotalsSeries& totals;
};

}  // namespace cellar
