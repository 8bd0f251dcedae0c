// JudgeCases: commands of text cases about judges, each answer compared with the model as well.
#pragma once

#include <string>

#include "tests/cell/pipeline.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {

// The state that the commands of one file work on.
//
//   family versions=3 min_versions=1 ttl=100 keep_deleted=true|ttl order=sequence     begins anew
//   source                   the cells of a new source, younger than those before
//
// A read takes these words, of which "-" is the empty qualifier:
//
//   read versions=2|all from=5 until=10 point=7 now=50 columns=a,b,- raw reversed
//
// A rewrite tells which cells are kept, and how many were dropped for which reason. With "apply", the kept
// cells become the only source:
//
//   rewrite all|some point=7 snapshots=3,5 now=50 purge=10 oldest_put [apply]
class JudgeCases {
 public:
  std::string answer(const Case& c);

 private:
  std::string read(const Case& c) const;
  std::string rewrite(const Case& c);

  FamilyRules family_;
  std::vector<Cells> sources_;  // youngest first
};

}  // namespace cellar::testing
