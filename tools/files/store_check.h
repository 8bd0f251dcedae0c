// Checks that a store's manifest, its list of files and its log agree. Does not take the store's lock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/manifest/manifest.h"
#include "hfile/check/verify.h"
#include "tools/frame/session.h"

namespace cellar {

// The codes are V-CURRENT (CURRENT is lost, or not a file), V-LOCK (the store cannot be locked), V-LOG (the
// log is damaged) and V-FILE-MISSING. V-DIRECTORY means that a directory cannot be used, or has the name of a
// file. V-MANIFEST means that a file is not as the manifest says, or that options are invalid.
struct StoreFault {
  std::string code;
  std::string text;
  std::string place;
};

struct StoreCheck {
  std::string path;
  uint64_t tables = 0;
  uint64_t families = 0;
  uint64_t files = 0;
  uint64_t log_segments = 0;
  uint64_t log_records = 0;
  uint64_t log_cells = 0;
  uint64_t log_torn_bytes = 0;
  uint64_t log_end_segment = 0;  // where the last whole record ends; 0: no record
  uint64_t log_end_offset = 0;
  uint64_t log_end_record = 0;     // its number; 0: no record
  uint64_t recovered_records = 0;  // of log_records those that the next open takes up
  uint64_t recovered_cells = 0;    // and their cells: those that no store file holds yet
  bool clean_close = false;        // else it is open elsewhere, or was not closed properly
  std::vector<StoreFault> faults;
  std::map<std::string, SequenceRange> sequences;  // of the cells of each store file, by path

  bool sound() const { return faults.empty(); }
};

// Returns true if verification takes the directory for a store: it has a CURRENT of any kind, or has lost it.
bool is_store_to_check(const std::string& path);

// Finds whatever would make opening the store fail. Reads the manifest and the whole log, opens every file
// that the manifest names, and checks the other needs of an opening. Changes of a concurrent writer are no
// faults: a doubt is checked again with the manifest of that moment. Errors: CEL-NOT-STORE and CEL-CORRUPTION
// if the manifest cannot be read; kAborted if interrupted.
Result<StoreCheck> check_store(Session& session, const std::string& path);

}  // namespace cellar
