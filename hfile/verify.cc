// verify: the recipe, and its walk over all blocks.
#include "hfile/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/checksum.h"
#include "hfile/codecs.h"
#include "hfile/shared_file.h"
#include "hfile/verifier.h"

namespace cellar {

namespace {

constexpr uint64_t kFindingsPerCode = 100;
constexpr std::string_view kLevelNames[] = {"quick", "blocks", "cells", "deep"};

// Back-pointers name the last block of the same type; some kinds share one.
size_t back_pointer_group(BlockKind kind) {
  return static_cast<size_t>(kind == BlockKind::kEncodedData ? BlockKind::kData : kind);
}

}  // namespace

std::string_view verify_level_name(VerifyLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

bool parse_verify_level(std::string_view name, VerifyLevel& level) {
  for (size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (name != kLevelNames[i]) continue;
    level = static_cast<VerifyLevel>(i);
    return true;
  }
  return false;
}

VerifyReport verify(std::unique_ptr<ReadableFile> file, const VerifyOptions& options) {
  return Verifier(std::move(file), options).run();
}

Verifier::Verifier(std::unique_ptr<ReadableFile> file, const VerifyOptions& options)
    : options_(options), file_(std::move(file)) {
  last_of_kind_.fill(-1);
  report_.level = options.level;
  report_.file_bytes = file_->size();
}

VerifyReport Verifier::run() {
  HFileReaderOptions reading;
  reading.name = options_.name;
  reading.block_payload_bytes_max = options_.block_payload_bytes_max;
  Result<std::shared_ptr<HFileReader>> opened =
      HFileReader::open(std::make_unique<SharedFile>(file_), std::move(reading));
  if (!opened.ok()) {
    judge_opening(opened.status());
    if (own_blocks_ != nullptr && reaches(VerifyLevel::kBlocks)) walk_blocks();
    finish();
    return std::move(report_);
  }
  reader_ = *opened;
  blocks_ = parts().blocks.get();
  limit_ = reader_->trailer().load_on_open_offset;
  check_facts();
  if (reaches(VerifyLevel::kBlocks)) {
    collect_index();
    walk_blocks();
    check_sections();
    check_ends();
  }
  if (reaches(VerifyLevel::kCells) && walker_ != nullptr) check_tally();
  // Searches among cells that are out of order or missing would only say the same again.
  const bool whole = all_cells_seen_ && index_complete_ && found_.count("V-ORDER") == 0;
  last_block_.reset();  // the last cell is not looked at again
  if (reaches(VerifyLevel::kDeep) && walker_ != nullptr && whole) check_deep();
  finish();
  return std::move(report_);
}

VerifyFinding& Verifier::add(std::string code, std::string text) {
  const uint64_t before = found_[code]++;
  if (before >= kFindingsPerCode || report_.findings.size() >= VerifyReport::kFindingsMax) {
    report_.findings_left_out += 1;
    static thread_local VerifyFinding left_out;  // written to, never read
    left_out = {};
    return left_out;
  }
  VerifyFinding finding;
  finding.severity = code.starts_with("W-") ? VerifySeverity::kWarning : VerifySeverity::kError;
  finding.code = std::move(code);
  finding.text = std::move(text);
  report_.findings.push_back(std::move(finding));
  return report_.findings.back();
}

VerifyFinding& Verifier::add_at(std::string code, std::string text, const Walked& walked) {
  VerifyFinding& finding = add(std::move(code), std::move(text));
  finding.offset = walked.offset;
  finding.disk_bytes = walked.header.disk_bytes();
  finding.block_kind = kBlockKindNames[static_cast<size_t>(walked.header.kind)];
  finding.data_ordinal = walked.ordinal;
  return finding;
}

void Verifier::set_risk(VerifyFinding& finding, const Walked& walked) const {
  if (!walked.indexed) return;
  const CellView& key = index_[*walked.indexed].key;
  finding.rows_at_risk = true;
  finding.risk_first_row = key.row();
  if (*walked.indexed + 1 == index_.size()) return;
  const CellView& next = index_[*walked.indexed + 1].key;
  finding.risk_end_row = std::string(next.row());
  // A key of the row alone comes before all its cells; any other may cut the row in two.
  const bool before_row = next.cell_type == CellType::kMaximum && next.key_size == next.row_size + 12u;
  if (!before_row) finding.risk_end_row->push_back('\0');
}

// The file did not open. What can be seen without an index is looked at all the same.
void Verifier::judge_opening(const Status& status) {
  report_.status = status;
  if (is_not_an_hfile(status)) {
    report_.verdict = VerifyVerdict::kNotAnHFile;
    return;
  }
  if (status.is(Code::kNotSupported)) {
    report_.verdict = VerifyVerdict::kNotSupported;
  } else if (!status.is(Code::kCorruption) && !status.is(Code::kLimit)) {
    report_.verdict = VerifyVerdict::kUnreadable;
    return;
  } else {
    const bool in_trailer = status.place() == "trailer";
    std::string_view text = status.message();
    if (const std::string prefix = options_.name + ": "; text.starts_with(prefix))
      text.remove_prefix(prefix.size());
    add(in_trailer ? "V-TRAILER" : "V-OPEN", fmt::format("{}; at {}", text, status.place()));
  }
  const Result<Trailer> trailer = read_trailer(*file_);
  if (!trailer.ok()) return;
  const Result<const Compressor*> codec = compressor_by_id(trailer->codec);
  limit_ = trailer->load_on_open_offset;
  report_.codec = codec_name(trailer->codec);
  report_.cells_expected = trailer->entry_count;
  index_complete_ = false;
  own_blocks_ = std::make_unique<BlockReader>(
      file_.get(), *trailer, codec.ok() ? *codec : nullptr,
      BlockReader::Options{.name = options_.name, .payload_bytes_max = options_.block_payload_bytes_max});
  blocks_ = own_blocks_.get();
}

void Verifier::check_facts() {
  const Parts& file = parts();
  report_.codec = codec_name(file.trailer.codec);
  report_.encoding = escaped(file.encoding_name);
  report_.cells_expected = file.trailer.entry_count;
  report_.index_levels = file.trailer.data_index_levels;
  if (file.encoding != nullptr) walker_ = file.encoding->make_walker(file.format);
  if (!file.checksum || *file.checksum == ChecksumType::kNull) {
    add("W-UNCHECKED", file.checksum ? "checksum type NULL: damage cannot be told from data"
                                     : "version 2.0 has no checksums: damage cannot be told from data");
  }
  if (!is_standard_comparator(file.trailer.comparator) && !file.meta_order) {
    add("W-COMPARATOR", fmt::format("comparator {} is not known; the standard order is assumed",
                                    escaped(file.trailer.comparator)));
  }
  if (file.trailer.entry_count > 0 && !file.last_key_in_info) {
    add("W-NO-LASTKEY", "no hfile.LASTKEY: HBase cannot bulk-load the file");
  }
  if (!file.info.has(info_key::kAvgKeyLen) || !file.info.has(info_key::kAvgValueLen)) {
    add("W-NO-AVERAGES", "no hfile.AVG_KEY_LEN or hfile.AVG_VALUE_LEN: HBase refuses the file");
  }
  for (const Status* trouble : {&file.bloom_trouble, &file.delete_bloom_trouble}) {
    if (trouble->ok()) continue;
    const bool ignored = trouble->is(Code::kNotSupported);
    add(ignored ? "W-BLOOM-IGNORED" : "V-BLOOM", std::string(trouble->message()));
  }
}

void Verifier::collect_index() {
  IndexCursor at(parts().index.get());
  Status status = at.to_first(nullptr);
  while (status.ok() && at.valid()) {
    index_.push_back({at.offset(), at.disk_bytes(), at.key(), at.row_only_keys()});
    if (index_.back().row_only) row_only_keys_ += 1;
    status = at.next(nullptr);
  }
  if (status.ok()) return;
  index_complete_ = false;
  add("V-INDEX", fmt::format("{}; at {}", status.message(), status.place()));
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

void Verifier::walk_blocks() {
  uint64_t at = 0;
  while (at < limit_) {
    const Result<BlockHeader> header = blocks_->read_header(at, limit_);
    if (header.ok() && header->known_kind) {
      if (!walk_block(at, *header)) return;
      at += header->disk_bytes();
      continue;
    }
    if (!header.ok() && !header.status().is(Code::kCorruption)) {
      report_.status = header.status();
      report_.verdict = VerifyVerdict::kUnreadable;
      return;
    }
    all_cells_seen_ = false;
    const std::optional<uint64_t> next = landmark_after(at);
    VerifyFinding& finding =
        add("V-HEADER",
            fmt::format("{}; {}", header.ok() ? "unknown block magic" : header.status().message(),
                        next ? fmt::format("goes on at offset {}", *next) : "no block behind it is known"));
    finding.offset = at;
    if (next_indexed_ < index_.size() && index_[next_indexed_].offset == at) {
      Walked walked = {at, {}, next_indexed_, report_.data_blocks};
      finding.data_ordinal = report_.data_blocks++;
      set_risk(finding, walked);
      next_indexed_ += 1;
    }
    if (!next) return;
    at = *next;
  }
}

// False when reading failed for another reason than the bytes.
bool Verifier::walk_block(uint64_t offset, const BlockHeader& header) {
  Walked walked = {offset, header, std::nullopt, std::nullopt};
  report_.blocks += 1;
  check_previous(walked);
  if (header.kind == BlockKind::kMeta) meta_offsets_.insert(offset);
  if (is_data(header.kind)) {
    walked.ordinal = report_.data_blocks++;
    if (first_data_ < 0) first_data_ = static_cast<int64_t>(offset);
    last_data_ = static_cast<int64_t>(offset);
    match_index(walked);
  }
  std::string disk(header.disk_bytes(), '\0');
  if (const Status read = file_->read(offset, disk.size(), disk.data()); !read.ok()) {
    report_.status = read;
    report_.verdict = VerifyVerdict::kUnreadable;
    return false;
  }
  ChecksumFault fault;
  if (const Status sums = blocks_->check_sums(disk, header, offset, &fault); !sums.ok()) {
    VerifyFinding& finding =
        add_at("V-CHECKSUM", fmt::format("{} (piece {})", sums.message(), fault.chunk), walked);
    set_risk(finding, walked);
    all_cells_seen_ = all_cells_seen_ && !walked.ordinal;
    return true;
  }
  if (!reaches(VerifyLevel::kCells)) {
    if (walked.ordinal) report_.data_blocks_readable += 1;
    return true;
  }
  Result<Block*> block = blocks_->unpack(disk, offset, limit_);
  if (!block.ok()) {
    if (block.status().is(Code::kNotSupported)) return true;  // no codec, as the verdict says
    set_risk(add_at("V-CODEC", std::string(block.status().message()), walked), walked);
    all_cells_seen_ = all_cells_seen_ && !walked.ordinal;
    return true;
  }
  const Pin pin(*block);
  if (walked.ordinal && walker_ != nullptr) walk_cells(**block, walked);
  return true;
}

void Verifier::match_index(Walked& walked) {
  while (next_indexed_ < index_.size() && index_[next_indexed_].offset < walked.offset) {
    add("V-INDEX-GAP",
        fmt::format("the index names a data block at {}, where none begins", index_[next_indexed_].offset));
    next_indexed_ += 1;
  }
  if (next_indexed_ == index_.size() || index_[next_indexed_].offset != walked.offset) {
    if (index_complete_) add_at("V-INDEX-GAP", "the index does not name this data block", walked);
    return;
  }
  walked.indexed = next_indexed_;
  if (index_[next_indexed_].disk_bytes != walked.header.disk_bytes()) {
    add_at("V-INDEX",
           fmt::format("the index says {} bytes, the block has {}", index_[next_indexed_].disk_bytes,
                       walked.header.disk_bytes()),
           walked);
  }
  next_indexed_ += 1;
}

void Verifier::check_previous(const Walked& walked) {
  int64_t& last = last_of_kind_[back_pointer_group(walked.header.kind)];
  if (walked.header.previous_offset != last) wrong_previous_ += 1;
  last = static_cast<int64_t>(walked.offset);
}

void Verifier::check_sections() {
  for (const SectionBlock& section : parts().sections) {
    report_.blocks += 1;
    if (section.header.known_kind)
      check_previous({section.offset, section.header, std::nullopt, std::nullopt});
  }
  if (wrong_previous_ > 0 && found_.count("V-HEADER") == 0) {
    add("W-PREV",
        fmt::format(
            "{} of {} back-pointers do not name the last block of their type; HBase steps backwards by them",
            wrong_previous_, report_.blocks));
  }
  for (const MetaBlockEntry& meta : parts().meta_blocks) {
    if (meta_offsets_.count(meta.offset) > 0) continue;
    add("V-META", fmt::format("meta block {} is not at offset {}", escaped(meta.name), meta.offset));
  }
}

void Verifier::check_ends() {
  for (; next_indexed_ < index_.size(); ++next_indexed_) {
    add("V-INDEX-GAP",
        fmt::format("the index names a data block at {}, where none begins", index_[next_indexed_].offset));
  }
  const Trailer& trailer = reader_->trailer();
  if (report_.verdict == VerifyVerdict::kUnreadable || first_data_ < 0 || found_.count("V-HEADER") > 0)
    return;
  if (trailer.first_data_block_offset != first_data_ || trailer.last_data_block_offset != last_data_) {
    add("V-OFFSETS", fmt::format("the trailer says that data blocks go from {} to {}; they go from {} to {}",
                                 trailer.first_data_block_offset, trailer.last_data_block_offset, first_data_,
                                 last_data_));
  }
  check_section_sum();
  if (row_only_keys_ > 0) {
    add("W-INDEX-KEY",
        fmt::format(
            "{} of {} index keys are rows without family, timestamp and type; HBase cannot search them",
            row_only_keys_, index_.size()));
  }
}

void Verifier::check_section_sum() {
  const Trailer& trailer = reader_->trailer();
  if (!trailer.section_sum) return;
  const uint64_t end = file_->size() - trailer.trailer_bytes();
  std::string piece;
  uint32_t sum = 0;
  for (uint64_t at = trailer.load_on_open_offset; at < end; at += piece.size()) {
    piece.resize(std::min<uint64_t>(end - at, 1 << 20));
    if (!file_->read(at, piece.size(), piece.data()).ok()) return;  // said where it was read before
    sum = crc32c(piece, sum);
  }
  if (sum != *trailer.section_sum)
    add("V-SECTION", "the sum of the index, file info and filters at the end of the file does not agree");
}

void Verifier::finish() {
  const bool unsound =
      std::any_of(report_.findings.begin(), report_.findings.end(),
                  [](const VerifyFinding& each) { return each.severity == VerifySeverity::kError; });
  if (report_.verdict == VerifyVerdict::kUnreadable || report_.verdict == VerifyVerdict::kNotAnHFile) return;
  if (unsound) {
    report_.verdict = VerifyVerdict::kUnsound;
  } else if (reader_ != nullptr && walker_ == nullptr && reaches(VerifyLevel::kCells)) {
    report_.verdict = VerifyVerdict::kNotSupported;
    report_.status = parts().encoding_status;
  }
}

}  // namespace cellar
