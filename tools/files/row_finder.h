// Finding every mention of a row: in one HFile, with what its key range and its Bloom filter say, and in a
// store's log.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/manifest/manifest.h"
#include "hfile/read/hfile_reader.h"
#include "tools/frame/operands.h"

namespace cellar {

// The target of a search: a row, or a family or column of it.
struct RowTarget {
  std::string row;
  std::optional<ColumnOperand> column;

  bool matches(const CellView& cell) const;
};

enum class FindVerdict : uint8_t {
  kFound,
  kEmptyFile,
  kOutside,   // the file's range of keys does not hold the row
  kBloomNo,   // not looked for, because the Bloom filter denies it
  kNotThere,  // looked for in the blocks
};
std::string_view verdict_word(FindVerdict verdict);  // "found", "empty", "outside", "bloom_no", "not_there"

enum class BloomWord : uint8_t {
  kNone,  // there is no filter, or none that can answer this
  kNo,    // denies it
  kMaybe,
  kUnreadable,  // damaged: it is not used
};
std::string_view bloom_word(BloomWord word);  // "none", "no", "maybe", "unreadable"

struct FileSearch {
  FindVerdict verdict = FindVerdict::kNotThere;
  BloomWord bloom = BloomWord::kNone;
  bool looked = false;       // blocks were read
  uint64_t blocks_read = 0;  // data blocks
  uint64_t found = 0;

  // The filter denies what is there: the file must not be trusted.
  bool bloom_lies() const { return bloom == BloomWord::kNo && found > 0; }
};

struct FoundCell {
  CellView cell;
  uint64_t block = 0;   // ordinal among the data blocks
  uint64_t offset = 0;  // of the block
};

// Looks for the target; `take` is called for each cell in the file's order until it returns false. With
// `thorough` the blocks are searched even when the filter denies the row. `search` holds what was seen, also
// before an error.
Status search_file(const HFileReader& file, const RowTarget& target, bool thorough,
                   const std::function<bool(const FoundCell&)>& take, FileSearch& search);

enum class LogState : uint8_t {
  kOnlyHere,  // in no file yet
  kFlushed,   // in a file, too, or dropped on the way there
  kDropped,   // of a family that is no more
};
std::string_view log_state_word(LogState state);  // "only_here", "flushed", "dropped"

struct LogMention {
  CellView cell;
  std::string segment;                 // "0000000007.log"
  uint64_t offset = 0;                 // of the record
  const TableRecord* table = nullptr;  // null: dropped
  LogState state = LogState::kOnlyHere;
};

// Walks the log of the store at `path`, whose manifest says `state`. `only`: mentions of this table, null: of
// all.
Status search_log(const std::string& path, const ManifestState& state, const TableRecord* only,
                  const RowTarget& target, const std::function<bool(const LogMention&)>& take);

}  // namespace cellar
