// OptionSets: named ways to set up the store of a plan, each made to be absurd in one respect.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/metamorphic/operations.h"

namespace cellar::testing {

struct OptionSet {
  std::string name;
  // Whether every answer is the same as under any other such set: it changes how cells are kept, not which.
  bool same_answers = true;
  std::function<void(Plan&)> apply;
};

// Of this build: its encodings, codecs, Bloom types, policies, memtables are among them. The first leaves
// everything at its default.
const std::vector<OptionSet>& option_sets();

// Gives the plan options and operations whose answers do not depend on when something is flushed or
// compacted, which HBase's rules otherwise allow: markers hide what was written before them, versions are not
// dropped, nothing is lost with the process.
void fix_answers(Plan& plan);

}  // namespace cellar::testing
