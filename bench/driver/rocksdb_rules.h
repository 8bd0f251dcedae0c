// HBase's rules for RocksDB: what its files remember of time, and which cells a compaction drops.
#pragma once

#include <rocksdb/compaction_filter.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table_properties.h>

#include <atomic>
#include <memory>

namespace cellar::bench {

// The row of a flat key, which Bloom filters are made of.
std::shared_ptr<const rocksdb::SliceTransform> row_of_key();

// Keeps the newest version of each column; drops masked and expired cells, and markers once all files are
// rewritten. `oldest` is the timestamp before which cells are expired, read when a compaction begins.
std::shared_ptr<rocksdb::CompactionFilterFactory> version_rules(
    std::shared_ptr<const std::atomic<int64_t>> oldest);

// Writes the least and the greatest timestamp of a file into its properties.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> time_collector();
// Returns true if a file with these properties may hold cells of [from, until).
bool may_hold(const rocksdb::TableProperties& properties, int64_t from, int64_t until);

}  // namespace cellar::bench
