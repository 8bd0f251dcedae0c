// The contract that every CellCursor keeps, as a suite that runs on any maker of cursors.
#pragma once

#include <functional>
#include <memory>

#include "base/random.h"
#include "cell/cursor.h"
#include "tests/cell_support/cell_text.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {

// Makes a cursor over these cells, which are in the order of a store, of one family "f". `random` is for
// choices of the maker (how to deal cells to sources). Composite cursors put poison() around their sources.
using CursorMaker = std::function<std::unique_ptr<CellCursor>(const Cells& cells, Random& random)>;

struct ContractLimits {
  bool equal_cells = true;  // cells that differ in nothing but the value can be held
  bool reversed = false;    // the cursor delivers rows backward, see reverse_row_cursor.h
  bool seek_before = true;  // it has that move
  bool tags = true;         // cells may carry tags
  bool sequences =
      true;  // cells keep their sequences (else all are made with 0, equal keys only if equal_cells)
  uint64_t rounds = 40;  // random sets of cells; CELLAR_TEST_SCALE makes them more or fewer
  int moves = 60;        // random moves on each
};

// Runs the suite on sets of cells: none, one, equal keys, long rows, many rows, random ones. Checks that
// every move lands where a sorted vector says, and that the cell before is still whole (two-step rule). Also
// checks that moves at the end return null, that status stays ok, that pins keep bytes alive, and that print
// gives a text. The seed is printed with every failure.
void check_cursor_contract(const CursorMaker& make, uint64_t seed, const ContractLimits& limits = {});

// The seed to use: CELLAR_SEED of the environment if set, else `otherwise`; printed to standard output.
uint64_t test_seed(uint64_t otherwise);

// Random cells in order: few rows, columns and timestamps, so that they collide; unique in coordinates and
// sequence unless `equal_cells`.
Cells random_cells(Random& random, size_t count, const ContractLimits& limits);

}  // namespace cellar::testing
