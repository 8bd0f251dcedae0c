// Cells for files that are read by HBase: drawn from a seed, awkward on purpose.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "cell/cell_codec.h"

namespace cellar::interop {

// Returns the shapes of files: "empty", "one", "few", "many", "huge", "wide", "versions", "equal".
const std::vector<std::string>& shapes();

struct CellDraw {
  std::string_view shape;
  bool tags = false;
  bool mvcc = false;
};
// In file order. Cells without what the draw leaves out.
std::vector<OwnedCell> draw_cells(Random& random, const CellDraw& draw);

// A log of page views in file order: rows of five columns, text that compresses as such text does.
std::vector<OwnedCell> page_views(uint64_t cells);

// Cells of one family of a table, each column and time once: what a load and a bulk load must answer alike.
std::vector<OwnedCell> table_cells(Random& random, std::string_view family, uint64_t rows);

}  // namespace cellar::interop
