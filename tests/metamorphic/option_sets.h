// OptionSets: named ways to set up the store of a plan, each made to be absurd in one respect.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/metamorphic/operations.h"

namespace cellar::testing {

struct OptionSet {
  std::string name;
  // True if every answer is the same as under any other such set. The set then changes how cells are kept,
  // not which.
  bool same_answers = true;
  std::function<void(Plan&)> apply;
};

// Returns the option sets of this build: its encodings, codecs, Bloom types, policies, memtables are among
// them. The first set leaves everything at its default.
const std::vector<OptionSet>& option_sets();

// Gives the plan options and operations whose answers do not depend on the times of flushes and compactions.
// HBase's rules otherwise allow such a dependence. Markers hide earlier writes only, versions are not
// dropped, and no write is lost with the process.
void fix_answers(Plan& plan);

}  // namespace cellar::testing
