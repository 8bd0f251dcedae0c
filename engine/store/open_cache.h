// open_cache(): the block cache that an engine's options describe, and its trace.
#pragma once

#include <memory>
#include <string>

#include "cache/block_cache.h"
#include "cellar/options.h"

namespace cellar {

// Makes the cache of the store at `store`, and the file of EngineOptions::block_trace if one is named.
// Errors: kInvalidArgument if that file exists or lies in the store; those of the file system.
Result<std::shared_ptr<BlockCache>> open_cache(const EngineOptions& options, const std::string& store);

}  // namespace cellar
