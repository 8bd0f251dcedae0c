// ForeignFile: verified, counted, and held against what the engine relies on.
#include "engine/jobs/foreign_file.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cell/cell_codec.h"
#include "engine/store/file_copy.h"
#include "hfile/check/cell_census.h"
#include "hfile/read/file_sequence.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

// Sees the cells while they are verified. The first that cannot be taken in decides.
class Inspection {
 public:
  explicit Inspection(const ForeignFileRules& rules)
      : rules_(rules), limits_{.value_bytes_max = rules.cell_bytes_max} {}

  void add(const CellView& cell) {
    census_.add(cell);
    if (fault_.ok()) fault_ = check(cell);
  }
  const CellCensus& census() const { return census_; }
  const Status& fault() const { return fault_; }

 private:
  Status check(const CellView& cell) const {
    if (cell.family() != rules_.family)
      return Status::invalid_argument(fmt::format("cell {} is of family \"{}\", not \"{}\"", key_text(cell),
                                                  escaped(cell.family()), escaped(rules_.family)));
    const uint64_t bytes = uint64_t{cell.key_size} + cell.value_size + cell.tags_size;
    if (bytes > rules_.cell_bytes_max)
      return Status::limit(fmt::format("cell {} has {} bytes, the limit is {} (cell_bytes_max)",
                                       key_text(cell), bytes, rules_.cell_bytes_max));
    if (covers_family(cell.cell_type) && !cell.qualifier().empty())
      return Status::invalid_argument(
          fmt::format("cell {}: a family marker has no qualifier", key_text(cell)));
    return check_cell(cell, limits_);
  }

  const ForeignFileRules& rules_;
  const CellLimits limits_;
  CellCensus census_;
  Status fault_;
};

Status verdict_of(const VerifyReport& report) {
  switch (report.verdict) {
    case VerifyVerdict::kSound:
      return {};
    case VerifyVerdict::kNotAnHFile:
      return Status::corruption("it is not an HFile: " + std::string(report.status.message()))
          .hinting("a reference or link of HBase points to an HFile elsewhere: name that HFile");
    case VerifyVerdict::kUnsound:
      for (const VerifyFinding& finding : report.findings)
        if (finding.severity == VerifySeverity::kError)
          return Status::corruption(fmt::format("it is damaged, {}: {}", finding.code, finding.text))
              .hinting("cellar verify lists all faults; cellar salvage keeps the readable cells");
      return report.status;
    default:
      return report.status;
  }
}

// Checks the facts that reads rely on without looking at cells, as far as verification does not compare them.
Status check_facts(const HFileReader& reader, const CellCensus& census) {
  if (reader.meta_order())
    return Status::not_supported("it is sorted for hbase:meta (comparator " + reader.trailer().comparator +
                                 ")");
  CELLAR_TRY_ASSIGN(const std::optional<bool> keeps_sequences,
                    reader.info().boolean(info_key::kSkipResetSequence));
  if (keeps_sequences.value_or(false))
    return Status::not_supported(
               "SKIP_RESET_SEQ_ID is set: its cells claim sequences of the region they came from")
        .hinting("rewrite the file without it: cellar rewrite");
  if (const std::string objection = tag_objection(census); !objection.empty())
    return Status::not_supported("its cells have " + objection);
  const std::optional<TimestampRange> times = reader.times();
  if (times && (times->min > census.times.min || times->max < census.times.max))
    return Status::corruption(
               fmt::format("TIMERANGE is {} to {}, but its markers reach from {} to {}: reads of a time "
                           "range would miss them",
                           times->min, times->max, census.times.min, census.times.max))
        .hinting("cellar rewrite writes a file with the right TIMERANGE");
  return {};
}

FileRecord record_of(const CellCensus& census, const HFileReader& reader) {
  FileRecord record;
  record.bytes = reader.file_bytes();
  record.trailer_crc = reader.end_sum();
  record.take_figures(census);
  record.encoding = lower_ascii(reader.encoding_name());
  return record;
}

Result<ForeignFile> examine(Directory& directory, std::string_view name, const std::string& source,
                            const ForeignFileRules& rules) {
  Inspection inspection(rules);
  VerifyOptions options;
  options.name = source;
  options.level = rules.level;
  options.block_payload_bytes_max = rules.block_payload_bytes_max;
  options.on_cell = [&](const CellView& cell) { inspection.add(cell); };
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> verified, directory.open(name));
  const VerifyReport report = verify(std::move(verified), options);
  CELLAR_TRY(verdict_of(report));
  CELLAR_TRY(inspection.fault());

  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, directory.open(name));
  HFileReaderOptions reading;
  reading.name = source;
  reading.block_payload_bytes_max = rules.block_payload_bytes_max;
  CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> reader,
                    HFileReader::open(std::move(file), std::move(reading)));
  CELLAR_TRY(check_facts(*reader, inspection.census()));
  ForeignFile found;
  found.record = record_of(inspection.census(), *reader);
  found.record.compression = lower_ascii(report.codec);
  CELLAR_TRY_ASSIGN(found.sequence, file_sequence(reader->info(), split_path(source).second));
  CELLAR_TRY_ASSIGN(const std::optional<int64_t> loaded, reader->info().i64(info_key::kBulkLoadTime));
  found.bulk_load_ms = loaded.value_or(INT64_MAX);
  return found;
}

}  // namespace

Result<ForeignFile> examine_foreign_file(Directory& directory, std::string_view name,
                                         const std::string& source, const ForeignFileRules& rules) {
  auto found = examine(directory, name, source, rules);
  if (!found.ok()) return found.status().at(source);
  return found;
}

}  // namespace cellar
