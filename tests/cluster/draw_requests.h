// Random requests for a cluster and for a store, which must answer them alike. All timestamps are given, so
// that clocks do not matter; counters have a family of their own, of which only values are compared.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "cellar/action.h"
#include "cellar/options.h"
#include "cellar/query.h"

namespace cellar::interop {

class DrawRequests {
 public:
  explicit DrawRequests(uint64_t seed) : random_(seed) {}
  // Draws also filters that HBase answers otherwise than Cellar: the servers are Cellar's own.
  DrawRequests& with_all_filters(bool on) { return all_filters_ = on, *this; }
  // Draws only changes that the client may send twice: a connection may break in the middle of them.
  DrawRequests& with_only_repeatable(bool on) { return only_repeatable_ = on, *this; }
  bool only_repeatable() const { return only_repeatable_; }

  Random& random() { return random_; }
  static TableOptions table();
  std::string row();
  Put put(const std::string& row);
  Delete erase(const std::string& row);
  Increment increment(const std::string& row);
  Append append(const std::string& row);
  RowMutations mutations(const std::string& row);
  CheckAndMutate check(const std::string& row);
  Get get();
  Scan scan();
  std::vector<Action> actions();

 private:
  std::string family();
  std::string qualifier();
  std::string value();
  int64_t time();  // a time of the past
  int64_t next_time() { return ++now_; }
  std::string simple_filter(bool reversed, bool named);
  std::string filter_list(bool reversed, bool named);
  std::string filter_text(bool reversed, bool named);
  std::string comparator();
  std::string op();
  template <class Asked>
  void choose(Asked& asked, bool reversed);

  std::string nested_filter(size_t depth, bool reversed);

  Random random_;
  bool all_filters_ = false;
  bool only_repeatable_ = false;
  // A put is newer than all markers before it: a compaction that drops markers then changes no answer.
  int64_t now_ = 1;
};

}  // namespace cellar::interop
