// Verifier: the recipe, what the file says of itself, and the report.
#include "hfile/check/verifier.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "hfile/check/shared_file.h"
#include "hfile/codec/codecs.h"

namespace cellar {

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
    report_.cells = tally_.cells;
    if (ended_) return std::move(report_);
    check_sections();
    check_ends();
    check_totals();
  }
  if (reaches(VerifyLevel::kCells) && decodes_) check_tally();
  // Searches among cells that are out of order or missing would only say the same again.
  const bool whole = all_cells_seen_ && index_complete_ && !found_.has("V-ORDER");
  if (reaches(VerifyLevel::kDeep) && decodes_ && whole) check_deep();
  finish();
  return std::move(report_);
}

void Verifier::report(VerifyFinding finding) {
  if (found_.admit(finding.code) && report_.findings.size() < VerifyReport::kFindingsMax) {
    report_.findings.push_back(std::move(finding));
  } else {
    report_.findings_left_out += 1;
  }
}

// Neither sound nor unsound: it could not be read to its end.
void Verifier::end(const Status& status) {
  report_.status = status;
  report_.verdict = VerifyVerdict::kUnreadable;
  ended_ = true;
}

bool Verifier::go_on(uint64_t bytes) {
  if (ended_) return false;
  if (options_.progress == nullptr || options_.progress(bytes, tally_.cells)) return true;
  end(Status::aborted("the verification was cancelled"));
  return false;
}

VerifyFinding Verifier::finding(std::string code, std::string text) {
  VerifyFinding finding;
  finding.severity = code.starts_with("W-") ? VerifySeverity::kWarning : VerifySeverity::kError;
  finding.code = std::move(code);
  finding.text = std::move(text);
  return finding;
}

VerifyFinding Verifier::finding_at(std::string code, std::string text, const Walked& walked) {
  VerifyFinding finding = Verifier::finding(std::move(code), std::move(text));
  finding.offset = walked.offset;
  finding.disk_bytes = walked.header.disk_bytes();
  finding.block_kind = kBlockKindNames[static_cast<size_t>(walked.header.kind)];
  finding.data_ordinal = walked.ordinal;
  return finding;
}

VerifyFinding Verifier::risk_at(std::string code, std::string text, const Walked& walked) const {
  VerifyFinding finding = finding_at(std::move(code), std::move(text), walked);
  set_risk(finding, walked);
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

// Reports that the file did not open. The parts that need no index are checked all the same.
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
    report(in_trailer ? "V-TRAILER" : "V-OPEN", fmt::format("{}; at {}", text, status.place()));
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
  report("V-INDEX", fmt::format("{}; at {}", status.message(), status.place()));
}

void Verifier::check_sections() {
  for (const SectionBlock& section : parts().sections) {
    report_.blocks += 1;
    check_previous({section.offset, section.header, std::nullopt, std::nullopt});
    add_to_totals(section.header, &section == &parts().sections.front());
  }
  if (wrong_previous_ > 0 && !found_.has("V-HEADER")) {
    report(
        "W-PREV",
        fmt::format(
            "{} of {} back-pointers do not name the last block of their type; HBase steps backwards by them",
            wrong_previous_, report_.blocks));
  }
  for (const MetaBlockEntry& meta : parts().meta_blocks) {
    if (meta_offsets_.count(meta.offset) > 0) continue;
    report("V-META", fmt::format("meta block {} is not at offset {}", escaped(meta.name), meta.offset));
  }
}

void Verifier::check_ends() {
  for (; next_indexed_ < index_.size(); ++next_indexed_) {
    report("V-INDEX-GAP", fmt::format("the index names a data block at {}, where none begins",
                                      index_[next_indexed_].offset));
  }
  const Trailer& trailer = reader_->trailer();
  if (first_data_ < 0 || found_.has("V-HEADER")) return;
  if (trailer.first_data_block_offset != first_data_ || trailer.last_data_block_offset != last_data_) {
    report("V-OFFSETS",
           fmt::format("the trailer says that data blocks reach from {} to {}; they reach from {} to {}",
                       trailer.first_data_block_offset, trailer.last_data_block_offset, first_data_,
                       last_data_));
  }
  if (row_only_keys_ > 0) {
    report("W-INDEX-KEY",
           fmt::format(
               "{} of {} index keys are rows without family, timestamp and type; HBase cannot search them",
               row_only_keys_, index_.size()));
  }
}

void Verifier::finish() {
  const bool unsound =
      std::any_of(report_.findings.begin(), report_.findings.end(),
                  [](const VerifyFinding& each) { return each.severity == VerifySeverity::kError; });
  if (report_.verdict == VerifyVerdict::kUnreadable || report_.verdict == VerifyVerdict::kNotAnHFile) return;
  if (unsound) {
    report_.verdict = VerifyVerdict::kUnsound;
  } else if (reader_ != nullptr && !decodes_ && reaches(VerifyLevel::kCells)) {
    report_.verdict = VerifyVerdict::kNotSupported;
    report_.status = parts().encoding_status;
  }
}

}  // namespace cellar
