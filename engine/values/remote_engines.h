// Remote engines: what Engine::open() opens that is no directory, by the beginning of its name. A library
// that is linked in addition to the engine registers itself here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/engine.h"

namespace cellar {

using RemoteOpener = Result<std::unique_ptr<Engine>> (*)(const std::string& name,
                                                         const EngineOptions& options);

// How names of clusters begin: those that list the masters, and those that list the servers of ZooKeeper.
constexpr std::string_view kMastersScheme = "hbase://";
constexpr std::string_view kZooKeeperScheme = "hbase+zk://";

// Returns true for the name of a cluster ("hbase://master:16000", "hbase+zk://host:2181/hbase"), whether this
// program can open it or not.
bool is_cluster_name(std::string_view name);

// Registers an opener for names that begin with `scheme`, such as kMastersScheme. It also gets names of
// clusters whose scheme has no opener, to say why. Call it before main(), or before other threads open
// engines.
void set_remote_opener(const std::string& scheme, RemoteOpener opener);

// The schemes that have an opener, in the order of their text. Any thread, once all are registered.
std::vector<std::string> remote_schemes();

// Opens the engine of such a name. Nothing for a name of a directory. kNotSupported for the name of a cluster
// if the library is not linked.
std::optional<Result<std::unique_ptr<Engine>>> open_remote(const std::string& name,
                                                           const EngineOptions& options);

}  // namespace cellar
