// Verifier: the state of one verification; for verify.cc and verify_*.cc.
//
// The file is read once, from its first byte. One thread reads the headers in order and so finds the blocks.
// Any thread checks their contents, in pieces (verify_blocks.cc). The findings are sorted into the file's
// order, so the report is the same with any number of threads.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cell/cell_codec.h"
#include "hfile/block/file_parts.h"
#include "hfile/check/jobs_in_order.h"
#include "hfile/check/verify_report.h"
#include "hfile/encoding/encoding.h"
#include "hfile/encoding/hfile_cursor.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

// A data block as the index knows it.
struct IndexedBlock {
  uint64_t offset = 0;
  uint32_t disk_bytes = 0;
  CellView key;  // lives in the index
  bool row_only = false;
};

// A summary of the cells of a stretch, which is compared with the file's own record.
struct CellTally {
  uint64_t cells = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint64_t family_deletes = 0;
  int64_t timestamp_min = INT64_MAX;
  int64_t timestamp_max = INT64_MIN;
  int64_t earliest_put = INT64_MAX;
  uint64_t max_sequence = 0;
  uint32_t max_tags = 0;
  std::vector<std::string> families;  // the first two

  void add(const CellView& cell);
  void add(const CellTally& later);  // of a stretch after this one

 private:
  void add_family(std::string_view family);
};

// FindingCounter: how many findings of each code there were; a report lists so many of each.
class FindingCounter {
 public:
  // Returns true if one more finding of this code is listed. It is counted in any case.
  bool admit(const std::string& code) {
    if (counts_[code]++ < kPerCode) return true;
    left_out_[code] += 1;
    return false;
  }
  // Counts those that a piece left out.
  void add_left_out(const FindingCounter& piece, uint64_t& left_out) {
    for (const auto& [code, count] : piece.left_out_) {
      counts_[code] += count;
      left_out += count;
    }
  }
  bool has(const std::string& code) const { return counts_.contains(code); }

 private:
  static constexpr uint64_t kPerCode = 100;
  std::map<std::string, uint64_t> counts_;
  std::map<std::string, uint64_t> left_out_;
};

// Used once, by one thread; its pieces run on others.
class Verifier {
 public:
  Verifier(std::unique_ptr<ReadableFile> file, const VerifyOptions& options);
  VerifyReport run();

 private:
  using Parts = FileParts;
  using Findings = std::vector<VerifyFinding>;
  struct Walked {
    uint64_t offset = 0;
    BlockHeader header;
    std::optional<size_t> indexed;  // number in index_, of a data block
    std::optional<uint64_t> ordinal;
  };
  // A data block's cells, as far as they can be told without the blocks around it.
  struct BlockCells {
    uint64_t cells = 0;
    uint64_t rows_begun = 0;  // after the first cell
    OwnedCell first;          // keys and sequences
    OwnedCell last;
    bool ordered = true;
    bool complete = false;
  };
  class BlockBatch;  // verify_blocks.cc
  class DeepRange;   // verify_deep.cc

  // verify_facts.cc
  void check_facts();
  void check_names();
  void check_bloom_facts();
  void add_to_totals(const BlockHeader& header, bool is_data_root);
  void check_totals();

  // verify.cc
  void judge_opening(const Status& status);
  void collect_index();
  void check_sections();
  void check_ends();
  void finish();
  void report(VerifyFinding finding);
  void report(std::string code, std::string text) { report(finding(std::move(code), std::move(text))); }
  void end(const Status& status);
  bool go_on(uint64_t bytes);

  // For any thread.
  static VerifyFinding finding(std::string code, std::string text);
  static VerifyFinding finding_at(std::string code, std::string text, const Walked& walked);
  VerifyFinding risk_at(std::string code, std::string text, const Walked& walked) const;
  void set_risk(VerifyFinding& finding, const Walked& walked) const;

  // verify_blocks.cc
  void walk_blocks();
  std::optional<uint64_t> landmark_after(uint64_t offset) const;
  std::optional<uint64_t> skip_to_landmark(uint64_t offset, const Result<BlockHeader>& header,
                                           Findings& found);
  Walked enter_block(uint64_t offset, const BlockHeader& header, Findings& found);
  void match_index(Walked& walked, Findings& found);
  void check_previous(const Walked& walked);

  // verify_cells.cc
  std::unique_ptr<BlockWalker> make_walker() const;
  void walk_cells(const Block& block, const Walked& walked, BlockWalker& walker, CellTally& tally,
                  BlockCells& cells, const std::function<void(VerifyFinding)>& found) const;
  bool check_seam(const BlockCells& cells, const Walked& walked);
  void check_first_cell(const CellView& cell, const Walked& walked);
  VerifyFinding wrong_sequence(const CellView& cell, const Walked& walked) const;
  VerifyFinding disorder(const CellView& before, const CellView& cell, const Walked& walked) const;
  void check_tally();
  void check_times();
  void check_last_key();
  void check_averages();

  // verify_deep.cc
  void check_deep();
  void report_bloom(class BloomCheck& check, bool general);
  void check_last_bloom_key(const std::string& last);

  const Parts& parts() const { return reader_->parts(); }
  bool reaches(VerifyLevel level) const { return options_.level >= level; }
  const VerifyOptions options_;
  const std::shared_ptr<const ReadableFile> file_;
  // Set before the first piece runs.
  std::shared_ptr<const HFileReader> reader_;
  std::unique_ptr<BlockReader> own_blocks_;  // when the file could not be opened, but its trailer could
  const BlockReader* blocks_ = nullptr;
  uint64_t limit_ = 0;  // load-on-open offset
  std::vector<IndexedBlock> index_;
  bool decodes_ = false;  // the encoding is known

  VerifyReport report_;
  FindingCounter found_;
  bool ended_ = false;       // reading failed, or was ended
  uint64_t deep_bytes_ = 0;  // of the blocks whose keys were searched for
  size_t next_indexed_ = 0;
  bool index_complete_ = true;
  std::array<int64_t, kBlockKinds> last_of_kind_;
  uint64_t wrong_previous_ = 0;
  std::set<uint64_t> meta_offsets_;
  int64_t first_data_ = -1;
  int64_t last_data_ = -1;
  bool all_cells_seen_ = true;
  CellTally tally_;
  OwnedCell last_cell_;  // of the blocks before; its key and sequence
  bool has_last_cell_ = false;
  uint64_t row_only_keys_ = 0;
  uint64_t uncompressed_bytes_ = 0;  // as the trailer counts them, without the trailer itself
  uint64_t index_bytes_ = 0;         // of the data index
};

}  // namespace cellar
