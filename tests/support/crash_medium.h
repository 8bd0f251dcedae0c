// CrashMedium: the two states of every file and directory of a CrashFileSystem, and what a crash makes of
// them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/sparse_bytes.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {

struct CrashNode;
using CrashEntries = std::map<std::string, std::shared_ptr<CrashNode>, std::less<>>;

// One unsynced change of a directory.
struct EntryOperation {
  enum class Kind : uint8_t { kSet, kRemove, kRename } kind;
  std::string name;
  std::string new_name;  // of kRename
  std::shared_ptr<CrashNode> node;

  // In any order and without its predecessors: a name is only taken from the node it was taken from.
  void apply(CrashEntries& entries) const;
};

// CrashNode: an inode. Guarded by the mutex of the CrashFileSystem.
struct CrashNode {
  bool is_directory = false;

  // A file has its appended bytes and its length (a mapped one is longer), and both at the last sync.
  bool mapped = false;
  SparseBytes bytes;
  uint64_t length = 0;
  uint64_t synced = 0;
  uint64_t synced_length = 0;

  // A directory has these.
  CrashEntries entries;
  CrashEntries synced_entries;
  std::vector<EntryOperation> unsynced;

  void change(EntryOperation operation);
  void sync();
  // Everything below becomes durable.
  void sync_all();
};

// The last append. Under way: `piece` is not in the node's bytes, of a plain file `done` bytes of it
// happened.
struct LastAppend {
  std::shared_ptr<CrashNode> node;
  uint64_t offset = 0;
  std::string piece;
  bool under_way = false;
  uint64_t done = 0;
};

// Puts what a crash leaves of `root` into the empty root of `into`.
void write_image(const CrashNode& root, const LastAppend& last, const ImageOptions& options,
                 FileSystem& into);

}  // namespace cellar::testing
