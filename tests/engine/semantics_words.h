// Words: one step of a story, word by word, and the requests that such words make.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/cellar.h"

namespace cellar::testing {

// The words of a step after its command that are not used yet. A missing or unexpected word is a failure of
// the running test.
class Words {
 public:
  explicit Words(std::string_view line);

  bool done() const { return at_ == words_.size(); }
  // The next word, with \xHH read as bytes; "-" stands for none.
  std::string next();
  // Returns true if the next word is this one; then it is used.
  bool take(std::string_view word);
  // The value of a word "key=value" anywhere, which is used.
  std::optional<std::string> option(std::string_view key);
  std::optional<std::pair<int64_t, int64_t>> range(std::string_view key);
  // "@5", if that comes next.
  std::optional<int64_t> timestamp();
  int64_t number();
  // "f:q"; whether the next word is one.
  std::pair<std::string, std::string> column();
  bool at_column() const;
  // A value: bytes, or "#5" for a counter's eight.
  std::string value();
  // Everything that is left, as it was written; cut at "; ".
  std::string rest();
  std::vector<std::string> rest_in_parts();
  // Up to the word `end`, which is used.
  std::string up_to(std::string_view end);
  void fail(const std::string& why) const;

 private:
  std::string line_;
  std::vector<std::string> words_;
  size_t at_ = 0;
};

using Snapshots = std::map<std::string, std::shared_ptr<const Snapshot>>;

// put r f:q @5 v f:p w ttl=100      cells, with a time of their own or without one; time to live in ms
Put put_of(Words& words);
// delete r                          the row; "delete r @5" for a time of the delete's own
//
// delete r version f:q @5 latest f:q column f:q @5 family f family_version f @5
Delete delete_of(Words& words);
// increment r f:n 5 f:m -1          also @7, range=0,20, ttl=100, wrap
Increment increment_of(Words& words);
// append r f:q bytes                also @7, range=0,20, ttl=100, silent
Append append_of(Words& words);
// One of these four, or mutate, by its first word.
RowMutations::Mutation mutation_of(const std::string& line);
RowMutations row_mutations_of(const std::vector<std::string>& lines);
CheckAndMutate check_of(Words& words);
// Returns the write or the get that the line describes.
Action action_of(const std::string& line);

// get r f g:q versions=2|all range=5,10 time=7 times=f,5,10 at=SNAPSHOT max=2 skip=1 by_cells all_families
// filter TEXT
//
// The words max and skip hold for each family. They count columns or, with by_cells, cells.
Get get_of(Words& words, const Snapshots& snapshots);
// The words of a get without its row, and these:
//
//   start=b after=b stop=d through=d prefix=p limit=2 batch=3 bytes=100 cursors=5 reversed raw
//
// The word after is an exclusive start, and through an inclusive stop. A cursor comes after so many cells.
Scan scan_of(Words& words, const Snapshots& snapshots);

std::string text_of(const RowView& row);
std::string text_of(const Row& row);
std::string text_of(const Status& failure);

}  // namespace cellar::testing
