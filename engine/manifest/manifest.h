// The manifest: the durable record of which files make up each store, and of what the engine must remember.
//
// A generation (MANIFEST-000003) is a file of records in the log's form (wal_format.h), one per edit,
// numbered without gaps; the first is the whole state. CURRENT names the generation that counts. Files are
// never reopened for appending, so the first edit after an open begins a new generation. One rename of
// CURRENT makes it visible. So that edit, and with switch_to() a whole recovery, happens entirely or not at
// all.
#pragma once

#include <cstdint>
#include <memory>

#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "cellar/status.h"
#include "engine/log/directory.h"
#include "engine/manifest/manifest_state.h"

namespace cellar {

struct ManifestOptions {
  bool read_only = false;        // nothing is ever written; commit() fails with kReadOnly
  bool files_are_there = false;  // create(): what `state` names lies below tables/ already
  // create(): for a repair, the greatest number of a generation that is there. The new generation follows it,
  // and takes the place of CURRENT, whatever that says. 0: it is the first one of a new store.
  uint64_t repairs_after = 0;
  uint64_t roll_bytes = 4u << 20;  // a longer generation is rolled
};

// Where a reading of the manifest ended.
struct ManifestEnd {
  uint64_t generation = 0;
  uint64_t offset = 0;  // after the last whole edit
  uint32_t chain = 0;   // of that edit
};

// The additions to the manifest by the process that writes the store.
struct ManifestNews {
  std::shared_ptr<const ManifestState> state = {};  // null: nothing
  ManifestEnd end = {};
  bool new_generation = false;  // the state is not the one before with some edits
  bool seals = false;           // an edit voids records of the log
};

// Any thread. Edits are made one at a time, in the order of their commit() calls' turns. Callers wait by
// Event, so they may hold no lock.
class Manifest {
 public:
  // Makes the first generation and CURRENT; `state` holds identity and whatever is known (usually nothing).
  // Leftovers of an interrupted creation are replaced; anything else of a store in the directory is refused.
  // The sub-directories "wal" and "tables" are made too. Durable when it returns. `root` and `executor` must
  // outlive the manifest.
  static Result<std::unique_ptr<Manifest>> create(Directory& root, Executor& executor,
                                                  const ManifestState& state,
                                                  const ManifestOptions& options = {});
  // Reads CURRENT and its generation; writes nothing. Errors: as require_store(); kNotSupported for a newer
  // version. Also kCorruption with the place, except for a torn last edit of an unclean end.
  static Result<std::unique_ptr<Manifest>> load(Directory& root, Executor& executor,
                                                const ManifestOptions& options = {});
  ~Manifest();

  // For a manifest that is read only: reads what follows what is known. It costs the new edits, or the whole
  // generation if CURRENT names another one. Changes nothing. Errors: as load(); kConflict if another store
  // has taken the place of this one.
  Result<ManifestNews> look_for_news() const;
  // Makes what look_for_news() has found the current state. One thread at a time looks and takes.
  void take(const ManifestNews& news);
  // Returns the generation of the current state.
  uint64_t generation() const;

  // The state that is durable. It does not change; later ones take its place.
  std::shared_ptr<const ManifestState> current() const;
  // A copy of it.
  ManifestState state() const;
  // A number for a new store file: never given twice, also not after a crash once raise_file_number() was
  // told of the files on disk.
  uint64_t next_file_number();
  void raise_file_number(uint64_t above);

  // Makes the edit durable and returns its number. Error: kInvalidArgument if it does not fit; nothing
  // happened. If an append failed (a full disk), the edit did not happen. The next edit then begins a new
  // generation, since nothing may follow half a record. If it cannot be known whether the edit survives (a
  // sync failed), the manifest is poisoned until resume() succeeds. Every later call then returns the first
  // failure, and no file that either state names may be removed.
  Result<uint64_t> commit(const ManifestEdit& edit);

  // Publishes a whole state by one rename. Its identity must be this store's; its edit number is set here.
  // For recovery, and for a clean close, after which no byte of the manifest can go missing unnoticed.
  // Failures before the rename change nothing.
  Result<uint64_t> switch_to(ManifestState state);
  // Ends a failure: begins a new generation with the current state, as if the edit that failed had never been
  // tried. Ok at once if there was no failure.
  Status resume();

  // Makes names in the root durable that others have made. A failure may concern CURRENT, too, and poisons
  // the manifest.
  Status sync_root();

  // Returns true after a failure that leaves unknown whether an edit will survive, until resume() succeeds.
  bool poisoned() const;

 private:
  class Core;
  explicit Manifest(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace cellar
