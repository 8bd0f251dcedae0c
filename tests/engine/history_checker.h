// HistoryChecker: whether transactions that append numbers to lists and read lists can have run one after the
// other, as Elle decides it: the order of each list's elements tells who came before whom.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cellar::testing {

using NumberList = std::vector<uint64_t>;

// A committed transaction, or a single write. Numbers are appended once each, over all lists.
struct HistoryEntry {
  std::map<std::string, NumberList> read = {};      // by key: the list before its own appends
  std::map<std::string, NumberList> appended = {};  // by key, in order
};

struct HistoryVerdict {
  std::string complaint;            // empty: a serial order exists
  uint64_t ww = 0, wr = 0, rw = 0;  // edges
};

// `last` are the lists after all of it. Complains about a read that is no beginning of its list, a number
// that is missing, twice, or of nobody, appends of one transaction that are not neighbours, and about a
// circle of dependencies, which it names.
HistoryVerdict check_history(const std::vector<HistoryEntry>& history,
                             const std::map<std::string, NumberList>& last);

}  // namespace cellar::testing
