// The damage experiment: each byte of the files that lead to a store's data is damaged, and the store is
// opened. Any engine can take part.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellar::bench {

enum class DamageOutcome : uint8_t {
  kRefused,  // opening or reading returned an error
  kSame,     // everything is there
  kLost,     // something is missing and nobody says so
  kWrong,    // something is there that was never written
};

struct DamagedFile {
  std::string kind;  // "log", "manifest", "CURRENT"
  std::string path;  // below the store
  std::string bytes;
};

// DamageSubject: a small store that was written and closed properly, to be opened with one file changed.
// Cases do not affect one another.
class DamageSubject {
 public:
  virtual ~DamageSubject() = default;
  virtual std::string name() const = 0;
  // Returns the files that are worth damaging.
  virtual std::vector<DamagedFile> files() const = 0;
  // Opens the store as users do and reads everything. `bytes` replace this file; without them it is missing.
  virtual DamageOutcome open_with(const std::string& path, const std::optional<std::string>& bytes) = 0;
};

// Which store: writes that are only in the log, or three flushed files, which the manifest names.
enum class DamagedStore : uint8_t { kLogged, kFlushed };
constexpr int kDamageRows = 30;

// With default options, in memory. Null when this build has no such engine.
std::unique_ptr<DamageSubject> make_cellar_subject(DamagedStore store);
std::unique_ptr<DamageSubject> make_rocksdb_subject(DamagedStore store);

// Row and value number `i` of every subject.
std::string damage_row(int i);
std::string damage_value(int i);
// Compares `found`, lines of row and value in order, with the kDamageRows rows that were written.
DamageOutcome judge_damage(const std::vector<std::string>& found);

}  // namespace cellar::bench
