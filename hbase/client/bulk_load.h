// Bulk load: finished HFiles that the regions of a table adopt.
#pragma once

#include <string>

#include "cellar/ingest.h"
#include "hbase/client/cluster.h"

namespace cellar::hbase {

// Verifies the files on this machine, and lets the servers adopt them, region by region. All files of a
// region are adopted at one instant. Paths are absolute, or URIs that begin with "file://". Fails with
// kInvalidArgument if the rows of a file are in several regions: the hint cuts it. No region has adopted
// anything then. Fails with kIoError if a server refuses the files of a region. Fails with kDurabilityUnknown
// if files were to be moved and the answer was lost. The message of both tells how many regions have adopted
// their files. The table must have the families. Any thread.
Result<IngestInfo> bulk_load(Cluster& cluster, const std::string& table, const IngestRequest& request);

}  // namespace cellar::hbase
