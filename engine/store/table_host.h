// TableHost: what a table's operations use of the engine that holds the table.
#pragma once

#include "engine/store/engine_life.h"
#include "engine/store/mvcc.h"
#include "engine/store/world.h"

namespace cellar {

class OperationRecorder;
class SnapshotKeeper;

// Borrows. One per engine: tables and snapshots of the same engine have the same host.
struct TableHost {
  EngineLife& life;
  const World& world;
  Mvcc& mvcc;
  SnapshotKeeper& snapshots;
  OperationRecorder& recorder;
};

}  // namespace cellar
