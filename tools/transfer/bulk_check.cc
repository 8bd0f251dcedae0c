// BulkCheck: the files looked at once, then held against what HBase's bulk load asks, skips and refuses.
#include "tools/transfer/bulk_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/bytes.h"
#include "base/coding.h"
#include "hfile/block/file_parts.h"
#include "hfile/codec/codecs.h"
#include "hfile/format/comparator.h"
#include "hfile/read/hfile_reader.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar {
namespace {

constexpr size_t kFilesPerRegion = 32;  // hbase.mapreduce.bulkload.max.hfiles.perRegion.perFamily

std::string row_of(const std::string& flat_key) {
  CellView key;
  return parse_flat_key(flat_key.data(), flat_key.size(), key) ? std::string(key.row()) : std::string();
}

Result<BulkFacts> look_at(const BulkFile& file, VerifyLevel level) {
  BulkFacts facts;
  facts.file = file;
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> bytes, posix_file_system().open_file(file.path));
  VerifyOptions options;
  options.name = file.path;
  options.block_payload_bytes_max = block_bytes_max();
  options.level = level;
  options.on_cell = [&](const CellView& cell) { facts.census.add(cell); };
  facts.report = verify(std::move(bytes), options);
  facts.first_row = row_of(facts.census.first_key);
  facts.last_row = row_of(facts.census.last_key);
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> again, posix_file_system().open_file(file.path));
  HFileReaderOptions reading;
  reading.name = file.path;
  reading.block_payload_bytes_max = block_bytes_max();
  auto reader = HFileReader::open(std::move(again), std::move(reading));
  if (reader.ok()) facts.reader = std::move(reader).value();
  return facts;
}

// Returns which fact that HBase's reader requires is missing in the file info, or "".
std::string missing_fact(const HFileReader& file) {
  const FileInfo& info = file.info();
  for (const std::string_view key : {info_key::kAvgKeyLen, info_key::kAvgValueLen}) {
    const auto average = info.i32(key);
    if (!average.ok() || !*average)
      return fmt::format("{} is not there, in 4 bytes: HBase does not open it", key);
  }
  if (file.cell_format().mvcc && !info.has(info_key::kMaxMvcc))
    return "KEY_VALUE_VERSION is 1 and MAX_MEMSTORE_TS_KEY is not there: HBase does not open it";
  if (info.has(info_key::kBiggestCellKey) && !info.has(info_key::kBiggestCellLen))
    return "hfile.KEY_OF_BIGGEST_CELL without hfile.LEN_OF_BIGGEST_CELL: HBase does not open it";
  static const std::set<std::string, std::less<>> kEncodings = {"NONE", "PREFIX", "DIFF", "FAST_DIFF",
                                                                "ROW_INDEX_V1"};
  if (!kEncodings.contains(file.encoding_name()))
    return fmt::format("encoding {}, which HBase does not know", escaped(file.encoding_name()));
  const std::string& bloom = file.parts().bloom_type_name;
  static const std::set<std::string, std::less<>> kKnown = {"", "NONE", "ROW", "ROWCOL",
                                                            "ROWPREFIX_FIXED_LENGTH"};
  if (!kKnown.contains(bloom))
    return fmt::format("Bloom filter of type {}, which HBase does not know", escaped(bloom));
  if (bloom == "ROWPREFIX_FIXED_LENGTH" && !info.has(info_key::kBloomParam))
    return "its Bloom filter is of row prefixes, and BLOOM_FILTER_PARAM does not say how long they are";
  if (bloom == "ROWCOL" && !info.has(info_key::kLastBloomKey))
    return "its Bloom filter is ROWCOL, and LAST_BLOOM_KEY is not there";
  return {};
}

// Why HBase would not open the file; nothing when it would.
std::string objection_to_opening(const BulkFacts& file) {
  if (file.reader == nullptr)
    return file.report.status.ok() ? "it cannot be opened" : std::string(file.report.status.message());
  const Trailer& trailer = file.reader->trailer();
  if (trailer.major_version == 2 && trailer.minor_version < 3)
    return fmt::format("version 2.{}: HBase 2 reads 2.3 and 3", trailer.minor_version);
  if (file.reader->meta_order() || !is_standard_comparator(trailer.comparator))
    return fmt::format("comparator {}: tables are sorted by another", escaped(trailer.comparator));
  if (!file.reader->parts().encoding_status.ok())
    return std::string(file.reader->parts().encoding_status.message());
  return missing_fact(*file.reader);
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string_view bulk_level_name(BulkLevel level) {
  constexpr std::string_view kNames[] = {"ok", "note", "warn", "FAIL"};
  return kNames[static_cast<size_t>(level)];
}

BulkLevel BulkRule::level() const {
  BulkLevel gravest = BulkLevel::kOk;
  for (const BulkFinding& finding : findings) gravest = std::max(gravest, finding.level);
  return gravest;
}

BulkShape shape_of(const HFileReader& file) {
  BulkShape shape;
  shape.compression = codec_name(file.trailer().codec);
  shape.encoding = file.encoding_name();
  const std::string& bloom = file.parts().bloom_type_name;
  if (!bloom.empty()) shape.bloom = bloom;
  const std::string* parameter = file.info().find(info_key::kBloomParam);
  if (parameter != nullptr && shape.bloom.starts_with("ROWPREFIX") && parameter->size() == 4)
    shape.bloom_prefix = static_cast<int32_t>(load_be32(parameter->data()));
  return shape;
}

size_t BulkCheck::count(BulkLevel level) const {
  return static_cast<size_t>(
      std::ranges::count_if(rules_, [&](const BulkRule& rule) { return rule.level() == level; }));
}

BulkRule& BulkCheck::rule(std::string name, std::string text) {
  return rules_.emplace_back(BulkRule{std::move(name), std::move(text), {}});
}

Result<BulkCheck> BulkCheck::run(Session& session, const std::string& directory,
                                 const BulkCheckOptions& options) {
  BulkCheck check;
  CELLAR_TRY_ASSIGN(const BulkFiles found, find_bulk_files(directory));
  uint64_t total = 0;
  for (const BulkFile& file : found.files) {
    std::error_code unknown;
    const uintmax_t size = std::filesystem::file_size(file.path, unknown);
    total += unknown ? 0 : size;
  }
  Progress progress(session, "check " + shown_name(directory), total);
  uint64_t bytes = 0;
  uint64_t cells = 0;
  for (const BulkFile& file : found.files) {
    if (interrupted()) return interrupted_status("nothing was changed");
    CELLAR_TRY_ASSIGN(BulkFacts facts, look_at(file, options.level));
    bytes += facts.report.file_bytes;
    cells += facts.census.cells;
    progress.show(bytes, cells);
    check.files_.push_back(std::move(facts));
  }
  check.check_layout(found);
  check.check_openable();
  check.check_sound();
  check.check_families();
  check.check_rows();
  check.check_regions(options.splits);
  check.check_sequences();
  check.check_tags();
  check.check_times();
  check.check_codecs();
  check.check_permission();
  if (options.table) check.check_table(*options.table);
  return check;
}

void BulkCheck::check_layout(const BulkFiles& found) {
  std::set<std::string> families;
  for (const BulkFile& file : found.files) families.insert(file.family);
  BulkRule& layout =
      rule("layout", fmt::format("{}, {}, no name that HBase skips", counted(families.size(), "family"),
                                 counted(found.files.size(), "file")));
  if (found.files.empty())
    layout.findings.push_back({BulkLevel::kFail, "", "no files; HBase expects DIR/<family>/<file>"});
  for (const BulkStray& stray : found.strays)
    layout.findings.push_back({stray.matters ? BulkLevel::kFail : BulkLevel::kNote, stray.path, stray.why});
}

void BulkCheck::check_openable() {
  BulkRule& opens =
      rule("opens", "HBase's reader opens every file: version, comparator, facts of the file info");
  for (const BulkFacts& file : files_)
    if (std::string why = objection_to_opening(file); !why.empty())
      opens.findings.push_back({BulkLevel::kFail, file.file.path, std::move(why)});
}

void BulkCheck::check_sound() {
  const std::string level(files_.empty() ? "cells" : verify_level_name(files_.front().report.level));
  BulkRule& sound = rule("sound", fmt::format("every checksum, cell and count is right (level {})", level));
  for (const BulkFacts& file : files_) {
    if (file.reader == nullptr) continue;  // reported already
    for (const VerifyFinding& finding : file.report.findings) {
      if (finding.code == "V-INFO" && !missing_fact(*file.reader).empty()) continue;  // reported already
      BulkLevel grave = BulkLevel::kFail;
      if (finding.severity == VerifySeverity::kWarning) {
        if (finding.code == "W-PREV" || finding.code == "W-UNCHECKED" || finding.code == "W-BLOOM-IGNORED") {
          grave = BulkLevel::kWarn;
        } else if (finding.code != "W-INDEX-KEY") {  // rows as index keys end HBase's searches
          continue;                                  // another rule says it, or HBase does not mind
        }
      }
      sound.findings.push_back({grave, file.file.path, finding.code + ": " + finding.text});
      if (grave == BulkLevel::kFail) break;  // cellar verify says the rest
    }
    const bool judged =
        file.report.verdict == VerifyVerdict::kSound || file.report.verdict == VerifyVerdict::kUnsound;
    if (!judged) sound.findings.push_back({BulkLevel::kFail, file.file.path, file.report.status.to_text()});
  }
}

void BulkCheck::check_families() {
  BulkRule& family = rule("family", "one family per file, that of its directory");
  for (const BulkFacts& file : files_)
    for (const std::string& found : file.census.families)
      if (found != file.file.family)
        family.findings.push_back(
            {BulkLevel::kFail, file.file.path,
             fmt::format("it has cells of family \"{}\": HBase would load them, but never find them",
                         escaped(found))});
}

void BulkCheck::check_rows() {
  BulkRule& rows = rule("rows", "first and last key are there (HBase refuses a file without them)");
  for (const BulkFacts& file : files_) {
    if (file.reader == nullptr) continue;
    if (file.reader->cells() == 0) {
      rows.findings.push_back({BulkLevel::kWarn, file.file.path, "it has no cells: HBase passes it over"});
    } else if (!file.reader->info().has(info_key::kLastKey)) {
      rows.findings.push_back(
          {BulkLevel::kFail, file.file.path, "hfile.LASTKEY is not there: HBase refuses it"});
    }
  }
}

void BulkCheck::check_regions(const std::optional<RowSplits>& given) {
  const RowSplits splits = given.value_or(RowSplits());
  std::map<std::pair<std::string, size_t>, size_t> counts;
  BulkRule& regions = rule("regions", "");
  for (const BulkFacts& file : files_) {
    if (file.census.cells == 0) continue;
    const size_t first = splits.region_of(file.first_row);
    const size_t last = splits.region_of(file.last_row);
    for (size_t region = first; region <= last; ++region) ++counts[{file.file.family, region}];
    if (first != last)
      regions.findings.push_back(
          {BulkLevel::kWarn, file.file.path,
           fmt::format("its rows are in {} regions: HBase reads and rewrites it into halves first",
                       last - first + 1)});
  }
  size_t most = 0;
  for (const auto& [place, count] : counts) {
    most = std::max(most, count);
    if (count > kFilesPerRegion)
      regions.findings.push_back(
          {BulkLevel::kFail, "",
           fmt::format("{} files for family {} in one region: HBase refuses more than {}", count,
                       escaped(place.first), kFilesPerRegion)});
  }
  regions.text = fmt::format("every file inside one of {}, at most {} per region and family (limit {})",
                             counted(splits.regions(), "region"), counted(most, "file"), kFilesPerRegion);
}

void BulkCheck::check_sequences() {
  BulkRule& sequences = rule("sequences", "no cell has a sequence of its own (mvcc zero)");
  for (const BulkFacts& file : files_) {
    if (file.reader == nullptr) continue;
    const auto skips = file.reader->info().boolean(info_key::kSkipResetSequence);
    if (skips.ok() && skips->value_or(false)) {
      sequences.findings.push_back(
          {BulkLevel::kFail, file.file.path,
           "SKIP_RESET_SEQ_ID is set: its cells would keep the sequences of where they came from"});
    } else if (file.census.sequence_max > 0) {
      sequences.findings.push_back(
          {BulkLevel::kWarn, file.file.path,
           fmt::format("its cells have sequences up to {}: HBase gives them the load's",
                       file.census.sequence_max)});
    }
  }
}

void BulkCheck::check_tags() {
  BulkRule& tags = rule("tags", "no tags");
  for (const BulkFacts& file : files_) {
    if (file.census.tagged == 0) continue;
    if (const std::string objection = tag_objection(file.census); !objection.empty()) {
      tags.findings.push_back(
          {BulkLevel::kWarn, file.file.path, objection + " unless HBase is set up for it"});
    } else {
      tags.findings.push_back(
          {BulkLevel::kNote, file.file.path,
           fmt::format("{} with tags, such as times to live", counted(file.census.tagged, "cell"))});
    }
  }
}

void BulkCheck::check_times() {
  BulkRule& times = rule("timestamps", "every timestamp can be overwritten later");
  for (const BulkFacts& file : files_) {
    if (file.census.cells > 0 && file.census.times.min < 0)
      times.findings.push_back(
          {BulkLevel::kFail, file.file.path, "it has timestamps below 0: reads of them fail"});
    if (file.census.latest_timestamps > 0)
      times.findings.push_back({BulkLevel::kWarn, file.file.path,
                                fmt::format("{} with the timestamp LATEST: no put can replace them",
                                            counted(file.census.latest_timestamps, "cell"))});
  }
}

void BulkCheck::check_codecs() {
  std::set<std::string> codecs, encodings, rare;
  for (const BulkFacts& file : files_) {
    if (file.reader == nullptr) continue;
    const BulkShape shape = shape_of(*file.reader);
    codecs.insert(shape.compression);
    encodings.insert(shape.encoding);
    if (shape.compression != "NONE" && shape.compression != "GZ") rare.insert(shape.compression);
  }
  BulkRule& codec =
      rule("codec", fmt::format("no encryption, codec {}, encoding {}", joined(codecs), joined(encodings)));
  if (!rare.empty())
    codec.findings.push_back(
        {BulkLevel::kNote, "",
         fmt::format("the region servers need {}: hbase org.apache.hadoop.hbase.util.CompressionTest",
                     joined(rare))});
}

void BulkCheck::check_permission() {
  namespace fs = std::filesystem;
  constexpr fs::perms kWanted = fs::perms::others_read | fs::perms::others_write;
  BulkRule& permission = rule("permission", "everybody may read and write the files");
  std::map<int, size_t> modes;
  for (const BulkFacts& file : files_) {
    std::error_code error;
    const fs::perms mode = fs::status(file.file.path, error).permissions();
    if (!error && (mode & kWanted) != kWanted) ++modes[static_cast<int>(mode & fs::perms::all)];
  }
  for (const auto& [mode, count] : modes)
    permission.findings.push_back(
        {BulkLevel::kWarn, "",
         fmt::format("{} of mode {:04o}: the region server needs read AND write access",
                     counted(count, "file"), mode)});
}

void BulkCheck::check_table(const TableDescription& table) {
  BulkRule& fits = rule("table", "the table has every family, with the files' attributes");
  std::set<std::string> said;
  for (const BulkFacts& file : files_) {
    const std::string& name = file.file.family;
    const auto family = table.families.find(name);
    if (family == table.families.end()) {
      if (said.insert(name).second)
        fits.findings.push_back(
            {BulkLevel::kFail, "",
             fmt::format("the table has no family {}: HBase refuses all", escaped(name))});
      continue;
    }
    if (file.reader == nullptr) continue;
    const BulkShape shape = shape_of(*file.reader);
    const std::pair<const char*, std::string> here[] = {{"COMPRESSION", shape.compression},
                                                        {"DATA_BLOCK_ENCODING", shape.encoding},
                                                        {"BLOOMFILTER", shape.bloom}};
    for (const auto& [attribute, value] : here) {
      const auto there = family->second.find(attribute);
      if (there == family->second.end() || there->second == value) continue;
      const std::string text =
          fmt::format("family {}: {} {} here, {} in the table: kept until the next major compaction",
                      escaped(name), attribute, value, there->second);
      if (said.insert(text).second) fits.findings.push_back({BulkLevel::kNote, "", text});
    }
  }
}

}  // namespace cellar
