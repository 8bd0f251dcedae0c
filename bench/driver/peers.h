// Peers: which engines this build of the driver knows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/driver/peer.h"

namespace cellar::bench {

std::unique_ptr<Peer> make_cellar_peer();
// Cellar with the compaction policy "leveled", which is not its default.
std::unique_ptr<Peer> make_leveled_cellar_peer();
std::unique_ptr<Peer> make_rocksdb_peer();
// RocksDB with each compaction split by ranges over two threads, which is not its default.
std::unique_ptr<Peer> make_splitting_rocksdb_peer();
std::unique_ptr<Peer> make_leveldb_peer();
std::unique_ptr<Peer> make_lmdb_peer();

// Names for --peers, Cellar first.
std::vector<std::string> peer_names();
// The peers that run without --peers.
std::vector<std::string> usual_peers();
// Null for an unknown name.
std::unique_ptr<Peer> make_peer(const std::string& name);

}  // namespace cellar::bench
