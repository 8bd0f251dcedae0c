// LogPlace: where the log of an operand lies, and what its numbers of families mean.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cellar/file_system.h"
#include "engine/manifest/manifest_state.h"
#include "tools/frame/session.h"

namespace cellar {

// The names of families, by the numbers that the log uses.
class FamilyNames {
 public:
  FamilyNames() = default;
  explicit FamilyNames(const ManifestState& state);

  // Returns "orders/d"; "family 7" if the manifest does not know the number, "family 7 (dropped)" if the
  // family was dropped.
  std::string text(uint32_t family) const;
  // Returns the name of the table; empty if it is not known.
  std::string table(uint32_t family) const;
  std::vector<std::string> tables() const;

 private:
  std::map<uint32_t, std::pair<std::string, std::string>> names_;
  std::vector<uint32_t> dropped_;
};

struct LogPlace {
  struct Segment {
    std::string name = {};  // of the file
    uint64_t id = 0;
  };
  std::string path = {};  // of the directory
  std::unique_ptr<Directory> wal = {};
  Identity identity = {};
  std::vector<Segment> segments = {};  // ascending by id
  FamilyNames names = {};
  uint64_t log_start = 0;  // the first segment that a recovery reads; 0: not known
};

// Finds the log of a store, or one segment. Needs neither the lock nor the manifest of the store: without a
// manifest the names of tables are missing. Errors: CEL-NOT-STORE; kCorruption if no header tells whose log
// it is.
Result<LogPlace> find_log(Session& session, const std::string& path);

}  // namespace cellar
