// Feeds: making, listing and dropping them.
#pragma once

#include <string>
#include <vector>

#include "engine/store/catalog.h"
#include "engine/store/disk.h"
#include "engine/store/mvcc.h"
#include "engine/store/world.h"

namespace cellar {

// Returns ok if a feed of this name and these options can be created. Otherwise kInvalidArgument or
// kNotFound.
Status check_feed(const World& world, const Catalog& catalog, const std::string& name,
                  const FeedOptions& options);
// Inside WritePath::alone(): the feed begins after everything that was written, up to `read_point`.
Status create_feed_now(Disk& disk, uint64_t read_point, const std::string& name, const FeedOptions& options);
Status drop_feed_now(Disk& disk, const std::string& name);
std::vector<FeedInfo> list_feeds(const Disk& disk);

// kNotFound, with the nearest name as hint.
Status no_such_feed(const FeedBook& feeds, const std::string& name);
// Why a feed that was cut off cannot be read.
Status feed_was_lost(const FeedRecord& feed);
// Tells the listener and waiting readers that a feed was cut off. The manifest says it already.
void tell_feed_lost(const World& world, Mvcc& mvcc, const FeedRecord& feed, uint64_t retained_bytes);

}  // namespace cellar
