// Peers: the list, by what was found when the driver was configured.
#include "bench/driver/peers.h"

#include <cstdio>
#include <cstdlib>

namespace cellar::bench {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Peer> (*make)();
  bool usual = true;
};

constexpr Entry kPeers[] = {
    {"cellar", make_cellar_peer},   {"cellar_leveled", make_leveled_cellar_peer, false},
#if defined(CELLAR_WITH_ROCKSDB)
    {"rocksdb", make_rocksdb_peer}, {"rocksdb_split", make_splitting_rocksdb_peer, false},
#endif
#if defined(CELLAR_WITH_LEVELDB)
    {"leveldb", make_leveldb_peer},
#endif
#if defined(CELLAR_WITH_LMDB)
    {"lmdb", make_lmdb_peer},
#endif
};

}  // namespace

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kPeers) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> usual_peers() {
  std::vector<std::string> names;
  for (const Entry& entry : kPeers) {
    if (entry.usual) names.emplace_back(entry.name);
  }
  return names;
}

std::unique_ptr<Peer> make_peer(const std::string& name) {
  for (const Entry& entry : kPeers) {
    if (name == entry.name) return entry.make();
  }
  return nullptr;
}

void give_up(const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "cellar_driver: %s\n", what.c_str());
  std::_Exit(3);
}

}  // namespace cellar::bench
