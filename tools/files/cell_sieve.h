// CellSieve: which of the selected cells `dump` prints: those that match an expression, the newest of each
// column, a sample.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "cell/cell_codec.h"
#include "cellar/status.h"
#include "tools/frame/arguments.h"

namespace cellar {

// Declares its options, parses what they were given, and takes or leaves cells. One thread.
class CellSieve {
 public:
  CellSieve();
  ~CellSieve();

  void declare(Arguments& arguments);
  // After the command line is parsed. kInvalidArgument; kNotSupported for an expression in a build without
  // RE2.
  Status parse();
  // Another file begins: its columns are its own.
  void begin_file() { same_column_ = 0; }
  // Each cell of a file in its order. Counting versions comes first, then the expression, then the sample.
  bool takes(const CellView& cell);

 private:
  struct Pattern;
  bool matches(const CellView& cell) const;

  std::string grep_;
  std::string versions_text_;
  std::string sample_text_;
  std::optional<std::string> seed_text_;
  std::unique_ptr<Pattern> pattern_;
  uint32_t versions_max_ = UINT32_MAX;
  double sample_ = 1;
  Random random_{1};
  OwnedCell column_;  // of the cell before
  uint64_t same_column_ = 0;
};

}  // namespace cellar
