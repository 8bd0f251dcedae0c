// Story: text cases of the data model's rules, each a few steps on one table of a real engine whose clock
// stands still.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file_system.h"
#include "cellar/cellar.h"
#include "tests/engine/semantics_words.h"
#include "tests/support/data_driven.h"
#include "tests/support/manual_clock.h"

namespace cellar::testing {

// The state that the steps of one file work on. A case is one step, and its lines of input are more of them.
// It answers what they answer, in their order. Rows come as "r: f:q@5=v f:x@3 DeleteColumn", or "nothing".
//
// Steps on the store:
//
//   create f versions=3 ttl=10 g     begins anew: a store in memory, its clock at 10000 (milliseconds).
//                                    The table has families f and g with these options of HBase's or Cellar's
//
//   clock 20000 | clock +500         sets the clock, moves it on
//   alter f versions=5               sets options of a family, or adds it
//
//   flush; major                     the whole table
//
//   compact f 1 2                    files 1 to 2 of the family, the oldest is 1
//                                    (with all of them it is an all-files compaction)
//
//   reopen                           closes the store and opens it again
//   engine row_bytes_max=100         as reopen, with this option of EngineOptions, until the next create
//
//   files f                          the cells in each file, the oldest first, and those in memory
//
// "grid column" makes tables of its own. For each KEEP_DELETED_CELLS it puts at 1 to 3 before and after a
// delete at 2. It does so in memory, in one file and in two files, after a compaction of some files and of
// all. It answers the times of the cells that are read and kept.
//
// Writes (semantics_words.h says how their pieces are written):
//
//   put … | delete … | increment … | append …
//   mutate put …; delete …           RowMutations
//
//   check r 5 < f:q then put …       CheckAndMutate in HBase's direction: 5 < the stored value.
//                                    ("-" expects no value; range=0,20 sets the time range)
//
//   check r filter TEXT then put …   CheckAndMutate by a filter
//   batch put …; get r …             Table::batch, answered one by one
//   atomic put …; delete …           Engine::write
//
//   cell r/f:q/5/delete_column       any cell, in the words of cell_text.h
//   load r/f:q/5=v r/f:q/4=w         a bulk load of one file for each family
//
// Reads:
//
//   get r … | exists r … | scan … | raw …      raw: every stored version
//   exists_many r …; s …
//
//   scan cost …                                also how many cells were examined
//
//   at_or_after r … | at_or_before r …
//   snapshot s, then get r at=s; release s
//
//   open s …                         a scan of that name, of which `next s` and `rest s` return rows
class Story {
 public:
  // Returns the table "t" of the engine as a client has it. The engine outlives it.
  using Client = std::function<std::shared_ptr<Table>(Engine& engine)>;

  // Writes and reads go through the client, if there is one. Other steps are the engine's.
  explicit Story(Client client = {});
  ~Story();
  std::string answer(const Case& c);

 private:
  using Step = std::string (Story::*)(Words&);
  static const std::map<std::string, Step, std::less<>>& steps();
  std::string step(const std::string& line);

  std::string create(Words& words);
  std::string clock(Words& words);
  std::string alter(Words& words);
  std::string flush(Words& words);
  std::string major(Words& words);
  std::string compact(Words& words);
  std::string reopen(Words& words);
  std::string engine(Words& words);
  std::string files(Words& words);
  std::string grid(Words& words);

  std::string put(Words& words);
  std::string erase(Words& words);
  std::string increment(Words& words);
  std::string append(Words& words);
  std::string mutate(Words& words);
  std::string check(Words& words);
  std::string batch(Words& words);
  std::string atomic(Words& words);
  std::string cell(Words& words);
  std::string load(Words& words);

  std::string get(Words& words);
  std::string exists(Words& words);
  std::string exists_many(Words& words);
  std::string scan(Words& words);
  std::string raw(Words& words);
  std::string at_or_after(Words& words);
  std::string at_or_before(Words& words);
  std::string snapshot(Words& words);
  std::string release(Words& words);
  std::string open_scan(Words& words);
  std::string next(Words& words);
  std::string rest(Words& words);

  void open_engine();
  void end_uses();
  void use(std::shared_ptr<Table> table);
  std::string times(bool raw);
  std::string write_grid(const std::string& keep, const std::string& first, const std::string& second,
                         int place);
  Status load_family(const std::string& family, std::vector<Cell> cells, std::vector<IngestFile>& made);
  FamilyOptions options_of(const std::string& family) const;

  const Client client_;
  std::unique_ptr<FileSystem> files_;
  ManualClock clock_;
  EngineOptions options_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;  // the engine's own
  std::shared_ptr<Table> used_;   // it, or the client's
  std::map<std::string, std::shared_ptr<const Snapshot>> snapshots_;
  std::map<std::string, std::unique_ptr<Scanner>> scans_;
};

}  // namespace cellar::testing
