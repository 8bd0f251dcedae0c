// ClusterEngine: a cluster, as Engine.
#pragma once

#include <memory>
#include <string>

#include "cellar/engine.h"
#include "hbase/client/cluster.h"

namespace cellar::hbase {

// Opens "hbase://master:16000" or "hbase+zk://host:2181/hbase". Only the environment of the options counts.
// The function refuses read_only, because access rights are the cluster's matter. Fails with kInvalidArgument
// for an invalid name. Fails with kBusy or kIoError if no master, or no ZooKeeper, answers in time. Fails
// with kNotFound if ZooKeeper does not have the path. Fails with kNotSupported for a name of the second form
// if this library was built without ZooKeeper.
Result<std::unique_ptr<Engine>> open_cluster(const std::string& name, const EngineOptions& options);

// Lets Engine::open() open clusters. Programs that link cellar::hbase do not call it: the library does so
// itself.
void register_cluster_engine();

}  // namespace cellar::hbase
