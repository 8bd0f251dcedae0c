// Whether a store's manifest, its list of files and its log agree; looked at without the store's lock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/manifest.h"
#include "tools/session.h"

namespace cellar {

// Codes: V-LOG (the log is damaged), V-FILE-MISSING, V-MANIFEST (a file is not as the manifest says).
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
  bool clean_close = false;  // else it is open elsewhere, or was not closed properly
  std::vector<StoreFault> faults;

  bool sound() const { return faults.empty(); }
};

// Reads the manifest and the whole log, and opens every file that the manifest names, as opening the store
// would. What a writer changed meanwhile is no fault: a doubt is looked at again with the manifest of that
// moment. Fails where the manifest itself cannot be read: CEL-NOT-STORE, CEL-CORRUPTION.
Result<StoreCheck> check_store(Session& session, const std::string& path);

}  // namespace cellar
