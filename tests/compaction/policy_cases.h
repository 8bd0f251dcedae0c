// Hand-worked cases of policies: a store as text, and the plan as text.
#pragma once

#include <string>
#include <vector>

#include "cellar/compaction_policy.h"
#include "tests/support/data_driven.h"

namespace cellar::testing {

// Returns the files of a store. Each line is a run, the oldest first: "2 a-c:100 d-f:100" is one of level 2.
// Files are numbered from 1 on. A run with a level has the number of its first file.
//
// "a-c:100" is a file with its rows and bytes. "100" has the rows a to z. Letters may follow, some with a
// number:
// - "b", "m", "x": the file is busy, of a major compaction, or excluded from minor compactions.
// - "n20", "d5": it has 20 cells, else 10, and five markers among them.
// - "s7", "o3": its newest and its oldest sequence.
// - "i9": the number of the file.
// - "c70": it was written at that time.
// - "r4": it was last read in that state of the store. "k20": its oldest marker is of that time.
// - "t10to50": its timestamps. Its puts begin at the first one, or at "p30".
std::vector<StoreFileInfo> files_of(const std::string& input);

// Returns "merge 1 2 to run 1 of level 2, files of 10" and so on.
std::string text_of(const CompactionPlan& plan);

// Answers the case "pick flush=10 stop=100 policy(parameter=value)": the plan and its reason, "nothing", or
// the error. "now", "ttl", "erase" and "memory" are the times of the shape. "explain" instead of "pick" also
// gives the lines of the trace. Fails the running test if the plan is invalid. It also fails if the policy
// does not explain why it has no plan.
std::string pick_case(const Case& c);

// Returns what a policy says of a store: its debt, and where it puts a major compaction. "debt" is the
// number, "major" is "level 2, files of 10". A memtable has 10 bytes.
std::string debt_case(const Case& c);
std::string major_case(const Case& c);

// Runs a file of the cases above: "pick", "explain", "debt" and "major".
void run_policy_cases(const std::string& file);

}  // namespace cellar::testing
