// The memory of an engine, part by part.
#pragma once

#include "cellar/engine.h"
#include "engine/engine_parts.h"

namespace cellar {

// Sets the figures of memory, see EngineStatus. memtable_bytes and cache_used_bytes must be set. Any thread.
void add_memory(const EngineParts& parts, EngineStatus& status);

}  // namespace cellar
