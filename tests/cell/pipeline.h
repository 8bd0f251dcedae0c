// Pipeline: cells in sources through merge, walk and judge, as the engine puts them together.
#pragma once

#include "cell/compaction_judge.h"
#include "cell/merging_cursor.h"
#include "tests/cell_support/model_store.h"

namespace cellar::testing {

// The sources, youngest first, merged. Each is poisoned, so that a caller that keeps a cell too long reads
// rubbish. Each is checked for order.
std::unique_ptr<CellCursor> merged_cursor(const std::vector<Cells>& sources, bool reversed = false);

// Returns the cells of a read; rows backward if asked. The last move of the cursor has left status ok, or the
// test fails.
Cells read_through(const std::vector<Cells>& sources, const FamilyRules& family, const ModelQuery& query,
                   bool reversed = false);
// The model's answer to the same question, rows in the same direction.
Cells read_by_model(const std::vector<Cells>& sources, const FamilyRules& family, const ModelQuery& query,
                    bool reversed = false);

struct Rewritten {
  Cells kept;
  std::array<uint64_t, kDropReasons> dropped{};
};
// Returns the cells that a flush or compaction keeps. Sequences stay as they were,
// even if `how` asks for zeroing.
Rewritten rewrite_through(const std::vector<Cells>& sources, const FamilyRules& family, bool all_files,
                          const ModelRewrite& how);

// "versions=1 min_versions=0 ttl=forever keep_deleted=false order=timestamp"
std::string print_rules(const FamilyRules& family);
std::string print_query(const ModelQuery& query);
std::string print_rewrite(bool all_files, const ModelRewrite& how);

}  // namespace cellar::testing
