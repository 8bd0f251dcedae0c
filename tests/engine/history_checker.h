// HistoryChecker: decides whether transactions can have run one after the other. The transactions append
// numbers to lists and read lists. The method is Elle's: the order of each list's elements tells which
// transaction came first.
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

// `last` are the lists after all transactions. Complains about a read that is no beginning of its list, and
// about a number that is missing, duplicated or unknown. Complains about appends of one transaction that are
// not neighbours, and about a circle of dependencies, which it names.
HistoryVerdict check_history(const std::vector<HistoryEntry>& history,
                             const std::map<std::string, NumberList>& last);

}  // namespace cellar::testing
