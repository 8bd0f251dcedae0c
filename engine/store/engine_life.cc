// EngineLife: the error of a forked process.
#include "engine/store/engine_life.h"

namespace cellar {

Status EngineLife::inherited_status() {
  return Status::aborted("the engine was opened before this process was forked, and belongs to the parent")
      .hinting("open a store after fork(), or use it in the parent alone");
}

}  // namespace cellar
