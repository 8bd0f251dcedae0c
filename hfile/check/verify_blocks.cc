// verify, levels blocks and cells: the walk over all blocks, and the pieces in which they are checked.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "hfile/check/verifier.h"
#include "hfile/encoding/encoding.h"

namespace cellar {

namespace {

constexpr size_t kBatchBytes = 1 << 20;      // read at once, unless a block is larger
constexpr uint64_t kBytesAhead = 32u << 20;  // held by batches that are not taken yet

// Back-pointers name the last block of the same type; some kinds share one.
size_t back_pointer_group(BlockKind kind) {
  return static_cast<size_t>(kind == BlockKind::kEncodedData ? BlockKind::kData : kind);
}

}  // namespace

// Neighbouring blocks: read and cut by the walk, checked anywhere, taken in order.
class Verifier::BlockBatch final : public JobsInOrder::Piece {
 public:
  BlockBatch(Verifier& verifier, uint64_t start) : verifier_(verifier), start_(start) {}

  // Cuts blocks off, from the start on; where the walk goes on, or nothing when it ends there.
  std::optional<uint64_t> cut();

  bool empty() const { return works_.empty(); }
  uint64_t bytes() const override { return bytes_.capacity() + payload_bytes_max_; }
  void run() override {
    const std::unique_ptr<BlockWalker> walker = verifier_.make_walker();
    for (Work& work : works_) {
      if (work.is_block) check(work, walker.get());
    }
  }
  void take() override;

 private:
  // A block, or a place without one.
  struct Work {
    bool is_block = false;
    Walked walked;
    Findings before;  // from its header
    Findings found;   // from its contents, listed after the findings on its first cell and the cell before
    BlockCells cells;
    bool damaged = false;  // nothing of it could be decoded
  };

  bool covers(uint64_t offset, uint64_t bytes) const {
    return offset >= start_ && offset - start_ <= bytes_.size() && bytes <= bytes_.size() - (offset - start_);
  }
  std::string_view at(uint64_t offset, uint64_t bytes) const {
    return std::string_view(bytes_).substr(offset - start_, bytes);
  }
  Status fill(uint64_t bytes);
  Result<BlockHeader> header_at(uint64_t offset) const;
  void check(Work& work, BlockWalker* walker);
  void add(Work& work, VerifyFinding finding) {
    if (counter_.admit(finding.code)) work.found.push_back(std::move(finding));
  }

  Verifier& verifier_;  // except in cut() and take(), only its constant parts
  const uint64_t start_;
  uint64_t end_ = 0;
  std::string bytes_;
  uint64_t payload_bytes_max_ = 0;
  std::vector<Work> works_;
  FindingCounter counter_;
  CellTally tally_;
};

// Reads from the start on; nothing is held when that fails.
Status Verifier::BlockBatch::fill(uint64_t bytes) {
  bytes_.resize(bytes);
  const Status read = verifier_.file_->read(start_, bytes_.size(), bytes_.data());
  if (!read.ok()) bytes_.clear();
  return read;
}

Result<BlockHeader> Verifier::BlockBatch::header_at(uint64_t offset) const {
  const BlockReader& blocks = *verifier_.blocks_;
  if (covers(offset, blocks.header_bytes()))
    return blocks.parse_header(at(offset, blocks.header_bytes()), offset, verifier_.limit_);
  return blocks.read_header(offset, verifier_.limit_);
}

std::optional<uint64_t> Verifier::BlockBatch::cut() {
  Verifier& all = verifier_;
  // Where this fails, block by block may do.
  static_cast<void>(fill(std::min<uint64_t>(kBatchBytes, all.limit_ - start_)));
  uint64_t offset = start_;
  while (offset < all.limit_) {
    if (!empty() && !covers(offset, all.blocks_->header_bytes())) return offset;
    const Result<BlockHeader> header = header_at(offset);
    if (!header.ok() && !header.status().is(Code::kCorruption)) {
      all.end(header.status());
      return std::nullopt;
    }
    if (!header.ok() || !header->known_kind) {
      Work gap;
      const std::optional<uint64_t> next = all.skip_to_landmark(offset, header, gap.before);
      works_.push_back(std::move(gap));
      end_ = offset;
      if (!next) return std::nullopt;
      offset = *next;
      continue;
    }
    const uint64_t bytes = header->disk_bytes();
    if (!covers(offset, bytes)) {
      if (!empty()) return offset;
      if (const Status read = fill(bytes); !read.ok()) {
        all.enter_block(offset, *header, works_.emplace_back().before);
        all.end(read);
        return std::nullopt;
      }
    }
    Work work;
    work.is_block = true;
    work.walked = all.enter_block(offset, *header, work.before);
    payload_bytes_max_ = std::max<uint64_t>(payload_bytes_max_, header->payload_bytes);
    works_.push_back(std::move(work));
    offset += bytes;
    end_ = offset;
  }
  return offset;
}

void Verifier::BlockBatch::check(Work& work, BlockWalker* walker) {
  const Verifier& all = verifier_;
  const Walked& walked = work.walked;
  const std::string_view disk = at(walked.offset, walked.header.disk_bytes());
  ChecksumFault fault;
  if (const Status sums = all.blocks_->check_sums(disk, walked.header, walked.offset, &fault); !sums.ok()) {
    work.damaged = true;
    add(work, all.risk_at("V-CHECKSUM", fmt::format("{} (piece {})", sums.message(), fault.chunk), walked));
    return;
  }
  if (const Status place = all.blocks_->check_place(disk, walked.header, walked.offset); !place.ok()) {
    work.damaged = true;
    const bool here = place.is(Code::kCorruption) && place.place() == all.blocks_->place(walked.offset);
    std::string text(place.message());
    if (!here) text = "the place of the block cannot be checked: " + place.to_text();
    add(work, all.risk_at("V-PLACE", std::move(text), walked));
    return;
  }
  if (!all.reaches(VerifyLevel::kCells)) return;
  const Result<Block*> block = all.blocks_->decode(disk, walked.header, walked.offset);
  if (!block.ok()) {
    if (block.status().is(Code::kNotSupported)) return;  // no codec, as the verdict says
    work.damaged = true;
    add(work, all.risk_at("V-CODEC", std::string(block.status().message()), walked));
    return;
  }
  const Pin pin(*block);
  if (!walked.ordinal || walker == nullptr) return;
  all.walk_cells(**block, walked, *walker, tally_, work.cells,
                 [&](VerifyFinding finding) { add(work, std::move(finding)); });
  work.damaged = !work.cells.complete;
}

void Verifier::BlockBatch::take() {
  Verifier& all = verifier_;
  if (all.report_.status.is(Code::kAborted)) return;
  for (Work& work : works_) {
    for (VerifyFinding& each : work.before) all.report(std::move(each));
    if (!work.is_block) continue;
    const bool joins = work.cells.cells == 0 || all.check_seam(work.cells, work.walked);
    for (VerifyFinding& each : work.found) all.report(std::move(each));
    if (!work.walked.ordinal) continue;
    all.report_.rows += work.cells.rows_begun;
    if (work.damaged) {
      all.all_cells_seen_ = false;
    } else if (!all.reaches(VerifyLevel::kCells) || (work.cells.complete && joins && work.cells.ordered)) {
      all.report_.data_blocks_readable += 1;
    }
  }
  all.found_.add_left_out(counter_, all.report_.findings_left_out);
  all.tally_.add(tally_);
  all.go_on(end_);
}

void Verifier::walk_blocks() {
  JobsInOrder jobs(options_.on_cell ? nullptr : options_.executor, kBytesAhead);
  std::optional<uint64_t> next = 0;
  while (next && *next < limit_ && !ended_) {
    auto batch = std::make_unique<BlockBatch>(*this, *next);
    next = batch->cut();
    jobs.add(std::move(batch));
  }
  jobs.finish();
}

std::optional<uint64_t> Verifier::landmark_after(uint64_t offset) const {
  std::optional<uint64_t> next;
  const auto consider = [&](uint64_t at) {
    if (at > offset && at < limit_ && (!next || at < *next)) next = at;
  };
  for (const IndexedBlock& block : index_) consider(block.offset);
  if (reader_ == nullptr) return next;
  for (const MetaBlockEntry& meta : parts().meta_blocks) consider(meta.offset);
  for (const BloomReader* bloom : {parts().bloom.get(), parts().delete_bloom.get()}) {
    for (uint32_t i = 0; bloom != nullptr && i < bloom->chunks(); ++i) consider(bloom->chunk_offset(i));
  }
  return next;
}

// Where no block can be read: the next place at which one is known to begin.
std::optional<uint64_t> Verifier::skip_to_landmark(uint64_t offset, const Result<BlockHeader>& header,
                                                   Findings& found) {
  all_cells_seen_ = false;
  const std::optional<uint64_t> next = landmark_after(offset);
  VerifyFinding gap =
      finding("V-HEADER",
              fmt::format("{}; {}", header.ok() ? "unknown block magic" : header.status().message(),
                          next ? fmt::format("continues at offset {}", *next) : "no known block follows"));
  gap.offset = offset;
  if (next_indexed_ < index_.size() && index_[next_indexed_].offset == offset) {
    gap.data_ordinal = report_.data_blocks++;
    set_risk(gap, {offset, {}, next_indexed_, gap.data_ordinal});
    next_indexed_ += 1;
  }
  found.push_back(std::move(gap));
  return next;
}

Verifier::Walked Verifier::enter_block(uint64_t offset, const BlockHeader& header, Findings& found) {
  Walked walked = {offset, header, std::nullopt, std::nullopt};
  report_.blocks += 1;
  check_previous(walked);
  add_to_totals(header, false);
  if (header.kind == BlockKind::kMeta) meta_offsets_.insert(offset);
  if (is_data(header.kind)) {
    walked.ordinal = report_.data_blocks++;
    if (first_data_ < 0) first_data_ = static_cast<int64_t>(offset);
    last_data_ = static_cast<int64_t>(offset);
    match_index(walked, found);
  }
  return walked;
}

void Verifier::match_index(Walked& walked, Findings& found) {
  while (next_indexed_ < index_.size() && index_[next_indexed_].offset < walked.offset) {
    found.push_back(finding(
        "V-INDEX-GAP",
        fmt::format("the index names a data block at {}, where none begins", index_[next_indexed_].offset)));
    next_indexed_ += 1;
  }
  if (next_indexed_ == index_.size() || index_[next_indexed_].offset != walked.offset) {
    if (index_complete_)
      found.push_back(finding_at("V-INDEX-GAP", "the index does not name this data block", walked));
    return;
  }
  walked.indexed = next_indexed_;
  if (index_[next_indexed_].disk_bytes != walked.header.disk_bytes()) {
    found.push_back(finding_at("V-INDEX",
                               fmt::format("the index says {} bytes, the block has {}",
                                           index_[next_indexed_].disk_bytes, walked.header.disk_bytes()),
                               walked));
  }
  next_indexed_ += 1;
}

void Verifier::check_previous(const Walked& walked) {
  int64_t& last = last_of_kind_[back_pointer_group(walked.header.kind)];
  if (walked.header.previous_offset != last) wrong_previous_ += 1;
  last = static_cast<int64_t>(walked.offset);
}

}  // namespace cellar
