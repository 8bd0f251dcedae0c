// Verifier: the state of one verification; for verify.cc and verify_*.cc.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cell/cell_codec.h"
#include "hfile/hfile_cursor.h"
#include "hfile/hfile_parts.h"
#include "hfile/verify.h"

namespace cellar {

// A data block as the index knows it.
struct IndexedBlock {
  uint64_t offset = 0;
  uint32_t disk_bytes = 0;
  CellView key;  // lives in the index
  bool row_only = false;
};

// What the cells of a file turn out to be; compared with what the file says of itself.
struct CellTally {
  uint64_t cells = 0;
  uint64_t rows = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint64_t family_deletes = 0;
  int64_t timestamp_min = INT64_MAX;
  int64_t timestamp_max = INT64_MIN;
  int64_t earliest_put = INT64_MAX;
  uint64_t max_sequence = 0;
  uint32_t max_tags = 0;
  std::set<std::string, std::less<>> families;  // at most two are kept
};

// One thread at a time; used once.
class Verifier {
 public:
  Verifier(std::unique_ptr<ReadableFile> file, const VerifyOptions& options);
  VerifyReport run();

 private:
  using Parts = HFileReader::Parts;
  struct Walked {
    uint64_t offset;
    BlockHeader header;
    std::optional<size_t> indexed;  // number in index_, of a data block
    std::optional<uint64_t> ordinal;
  };

  // verify.cc
  void judge_opening(const Status& status);
  void check_facts();
  void collect_index();
  void walk_blocks();
  std::optional<uint64_t> landmark_after(uint64_t offset) const;
  bool walk_block(uint64_t offset, const BlockHeader& header);
  void match_index(Walked& walked);
  void check_previous(const Walked& walked);
  void check_sections();
  void check_ends();
  void check_section_sum();
  void finish();
  VerifyFinding& add(std::string code, std::string text);
  VerifyFinding& add_at(std::string code, std::string text, const Walked& walked);
  void set_risk(VerifyFinding& finding, const Walked& walked) const;

  // verify_cells.cc
  void walk_cells(const Block& block, const Walked& walked);
  bool check_first_cell(const CellView& cell, const Walked& walked);
  bool check_order(const CellView& cell, const Walked& walked);
  void count(const CellView& cell);
  void check_tally();
  void check_times();
  void check_last_key();
  void check_averages();

  // verify_deep.cc
  void check_deep();
  void report_bloom(class BloomCheck& check, bool general);
  bool check_seek(CellCursor& finder, const CellView& cell);

  const Parts& parts() const { return reader_->parts(); }
  bool reaches(VerifyLevel level) const { return options_.level >= level; }
  VerifyOptions options_;
  std::shared_ptr<const ReadableFile> file_;
  std::shared_ptr<const HFileReader> reader_;
  std::unique_ptr<BlockReader> own_blocks_;  // when the file could not be opened, but its trailer could
  const BlockReader* blocks_ = nullptr;
  uint64_t limit_ = 0;  // load-on-open offset
  VerifyReport report_;
  std::map<std::string, uint64_t> found_;  // findings per code
  std::vector<IndexedBlock> index_;
  size_t next_indexed_ = 0;
  bool index_complete_ = true;
  std::array<int64_t, kBlockKinds> last_of_kind_;
  uint64_t wrong_previous_ = 0;
  bool unchecked_ = false;
  std::set<uint64_t> meta_offsets_;
  int64_t first_data_ = -1;
  int64_t last_data_ = -1;
  std::unique_ptr<BlockWalker> walker_;
  bool all_cells_seen_ = true;
  CellTally tally_;
  Pin last_block_;
  CellView last_cell_;
  std::string last_key_;  // of last_cell_, if it lay in scratch memory
  bool has_last_cell_ = false;
  uint64_t row_only_keys_ = 0;
};

}  // namespace cellar
