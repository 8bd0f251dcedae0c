// SecondTable: a second order of a table's rows, which the engine keeps. docs/second-tables.md has examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// SecondTable: the definition of a second table, for Engine::create_second_table; TableInfo::second tells it.
// The engine derives a second table from its source: each write to the source changes both, in one record of
// the log. Reads, scans and snapshots see it as they see every table. Other writes to it are refused.
// Databases call it a covering secondary index. HBase has no such thing.
struct SecondTable {
  std::string of = {};  // the name of the source
  // The parts of its keys, with commas in between: "d:mail, row". A part is one of these:
  //  - row: the source's row. row[4:12] is its bytes 4 to 11, row[4:] those from 4 on.
  //  - d:mail: the newest value of a column. A row without it is not in the second table.
  //  - d:*: a qualifier. The row has one key for each column of the family. One part at most may be such.
  // A part may be followed by its form and its order: "d:born int64 desc". Forms:
  //  - text: bytes without zeros, as KeyBuilder::text writes them. The default of columns.
  //  - blob: any bytes, as KeyBuilder::blob writes them.
  //  - int64: 8 bytes, such as a counter, as KeyBuilder::int64 writes them.
  //  - raw: the bytes as they are: the default of bytes of a fixed number, and of a row at the end.
  // If the parts do not hold the source's row whole, it follows them. So no two rows have one key.
  std::string key = {};
  // Columns and families whose newest values are copied, with commas in between: "d:name, e". A qualifier
  // takes escapes: "d:a\x2cb". May be empty.
  std::string columns = {};
  bool built = false;  // the engine's: it holds all rows. Until then reads of it fail with kBusy

  bool operator==(const SecondTable&) const = default;
};

// The family of a second table whose column with the empty qualifier holds the row of the source.
inline constexpr const char* kSecondTableFamily = "row";

// SecondTableCheck: the result of Engine::verify_second_table.
struct SecondTableCheck {
  uint64_t source_rows = 0;
  uint64_t keys = 0;                       // that the rows of the source must have
  uint64_t missing = 0;                    // of those, not there
  uint64_t differing = 0;                  // there with other cells
  uint64_t surplus = 0;                    // keys of the second table that no row of the source has
  std::vector<std::string> examples = {};  // the first ten, for people

  bool agrees() const { return missing == 0 && differing == 0 && surplus == 0; }
};

}  // namespace cellar
