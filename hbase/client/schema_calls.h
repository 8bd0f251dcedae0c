// Statements of the master: tables and their schemas.
#pragma once

#include <string>
#include <vector>

#include "cellar/options.h"
#include "hbase/client/cluster.h"

namespace cellar::hbase {

// kNotFound if the cluster has no such table.
Result<TableOptions> fetch_table(Cluster& cluster, const std::string& name);
// The names of all tables except those of the cluster itself, sorted.
Result<std::vector<std::string>> fetch_names(Cluster& cluster);

// These return when the master is done. kDurabilityUnknown if it was asked, and its answer was lost.
// A namespace that the name of a new table has, and the cluster not, is created first.
Status create_table(Cluster& cluster, const std::string& name, const TableOptions& options,
                    const std::vector<std::string>& splits = {});
Status drop_table(Cluster& cluster, const std::string& name);
Status truncate_table(Cluster& cluster, const std::string& name);
Status alter_table(Cluster& cluster, const std::string& name, const TableChange& change);

}  // namespace cellar::hbase
