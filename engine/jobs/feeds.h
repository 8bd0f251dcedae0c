// Feeds: making, listing and dropping them.
#pragma once

#include <string>
#include <vector>

#include "engine/store/core.h"

namespace cellar {

// Whether a feed of this name and these options can be made now.
Status check_feed(EngineCore& core, const std::string& name, const FeedOptions& options);
// Inside WritePath::alone(): it begins behind all that was written.
Status create_feed_now(EngineCore& core, const std::string& name, const FeedOptions& options);
Status drop_feed_now(EngineCore& core, const std::string& name);
std::vector<FeedInfo> list_feeds(EngineCore& core);

// kNotFound, with the nearest name as hint.
Status no_such_feed(const FeedBook& feeds, const std::string& name);
// Why a feed that was cut off cannot be read.
Status feed_was_lost(const FeedRecord& feed);
// Says that a feed was cut off, once the manifest does.
void tell_feed_lost(EngineCore& core, const FeedRecord& feed, uint64_t retained_bytes);

}  // namespace cellar
