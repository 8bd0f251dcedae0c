// SpaceSurvey: the files are merged under the judge of compactions, and nothing is written.
#include "tools/files/space_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "cell/cell_key.h"
#include "cell/compaction_judge.h"
#include "cell/merging_cursor.h"
#include "cell/walk.h"
#include "engine/jobs/family_stores.h"
#include "engine/store/family_config.h"
#include "hfile/read/hfile_reader.h"
#include "tools/frame/output.h"
#include "tools/store/store_state.h"

namespace cellar {
namespace {

// Asks the judge of a compaction, and adds each cell to the part that its answer names.
class SpaceJudge {
 public:
  SpaceJudge(const RewriteRules& rules, FamilySpace& space) : judge_(rules), space_(space) {}

  Verdict judge(const CellView& cell, Place place) {
    const Verdict verdict = judge_.judge(cell, place);
    SpacePart& part = space_.parts[static_cast<size_t>(use_of(cell))];
    ++part.cells;
    part.cell_bytes += uint64_t{cell.key_size} + cell.value_size + cell.tags_size;
    ++space_.cells_read;
    return verdict;
  }
  const CellView& target() const { return judge_.target(); }

 private:
  // The judge has counted the cell by its reason: the figure that has grown names it.
  SpaceUse use_of(const CellView& cell) {
    const auto& now = judge_.dropped();
    const auto grown = std::ranges::mismatch(now, before_).in1;
    const auto drop = grown == now.end() ? Drop::kKeep : static_cast<Drop>(grown - now.begin());
    before_ = now;
    switch (drop) {
      case Drop::kKeep:
        return is_delete(cell.type()) ? SpaceUse::kKeptMarkers : SpaceUse::kLive;
      case Drop::kExpired:
      case Drop::kCellTtl:
        return SpaceUse::kExpired;
      case Drop::kMasked:
        return SpaceUse::kDeleted;
      case Drop::kDuplicate:
        return SpaceUse::kOverwritten;
      case Drop::kVersions:
        return SpaceUse::kOldVersions;
      case Drop::kMarker:
        return SpaceUse::kMarkers;
    }
    CELLAR_ASSERT(false && "a reason without a name");
    return SpaceUse::kLive;
  }

  CompactionJudge judge_;
  FamilySpace& space_;
  std::array<uint64_t, kDropReasons> before_{};
};

Result<std::shared_ptr<HFileReader>> open_file(const std::string& path, const FileRecord& record) {
  const size_t slash = path.rfind('/');
  CELLAR_ASSERT(slash != std::string::npos);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> directory,
                    posix_file_system().open_directory(path.substr(0, slash), false));
  CELLAR_TRY_ASSIGN(std::unique_ptr<ReadableFile> file, directory->open(path.substr(slash + 1)));
  HFileReaderOptions options;
  options.name = path;
  if (record.adopted_as != 0) options.sequence_override = record.adopted_as;
  return HFileReader::open(std::move(file), std::move(options));
}

// Walks all cells under the judge. Returns early after `cells_max` cells, at the end of a row.
Status walk_cells(CellCursor& cursor, const RewriteRules& rules, uint64_t cells_max, FamilySpace& space) {
  SpaceJudge judge(rules, space);
  Walk<SpaceJudge> walk(cursor, judge);
  OwnedCell first;
  first_of_row(first, {});
  walk.position(first.view());
  while (walk.settle() != nullptr) {
    if (cells_max != 0 && space.cells_read >= cells_max) return {};
    walk.enter_row();
    while (walk.next_in_row() != nullptr) {
    }
  }
  return walk.status();
}

// Raises what was read to all cells, and gives each part its share of the files.
void scale(FamilySpace& space) {
  if (space.cells_read == 0) return;
  const double whole =
      static_cast<double>(std::max(space.cells, space.cells_read)) / static_cast<double>(space.cells_read);
  double cell_bytes = 0;
  for (SpacePart& part : space.parts) {
    part.cells = static_cast<uint64_t>(static_cast<double>(part.cells) * whole);
    part.cell_bytes = static_cast<uint64_t>(static_cast<double>(part.cell_bytes) * whole);
    cell_bytes += static_cast<double>(part.cell_bytes);
  }
  CELLAR_ASSERT(cell_bytes > 0);
  for (SpacePart& part : space.parts)
    part.bytes = static_cast<uint64_t>(static_cast<double>(space.bytes) *
                                       static_cast<double>(part.cell_bytes) / cell_bytes);
}

// The options of the family that keep what reads do not show, and the time at which expired files leave.
void add_reasons(const FamilyOptions& family, const FamilyRecord& record, int64_t now_ms,
                 FamilySpace& space) {
  const auto say = [&](std::string sentence) { space.reasons.push_back(std::move(sentence)); };
  const uint64_t markers = space.part(SpaceUse::kKeptMarkers).cells;
  if (family.keep_deleted_cells != KeepDeleted::kFalse)
    say("keep_deleted_cells keeps deleted cells and their markers");
  if (family.time_to_purge_deletes_ms > 0 && markers > 0)
    say(fmt::format("time_to_purge_deletes_ms={} keeps young markers", family.time_to_purge_deletes_ms));
  if (family.max_versions > 1)
    say(fmt::format("max_versions={} keeps up to so many versions of a column", family.max_versions));
  if (family.ttl_s == kForever) return;
  if (family.min_versions > 0)
    say(fmt::format("min_versions={} keeps expired versions", family.min_versions));
  const int64_t ttl_ms = family.ttl_s * 1000;
  int64_t next_ms = INT64_MAX;
  for (const FileRecord& file : record.files)
    if (file.time_max <= INT64_MAX - ttl_ms) next_ms = std::min(next_ms, file.time_max + ttl_ms);
  if (space.part(SpaceUse::kExpired).cells > 0 && next_ms != INT64_MAX && next_ms >= now_ms)
    say("files with expired cells also have live ones; the next file expires as a whole at " +
        time_text(next_ms));
}

}  // namespace

std::string_view space_use_name(SpaceUse use) {
  constexpr std::array<std::string_view, kSpaceUses> kNames = {
      "live", "old versions", "overwritten", "deleted", "markers", "kept markers", "expired"};
  CELLAR_ASSERT(static_cast<size_t>(use) < kNames.size());
  return kNames[static_cast<size_t>(use)];
}

uint64_t FamilySpace::reclaimable_bytes() const {
  uint64_t bytes_dropped = 0;
  for (size_t i = 0; i < kSpaceUses; ++i) {
    const auto use = static_cast<SpaceUse>(i);
    if (use != SpaceUse::kLive && use != SpaceUse::kKeptMarkers) bytes_dropped += parts[i].bytes;
  }
  CELLAR_ASSERT(bytes_dropped <= bytes);
  return bytes_dropped;
}

Result<FamilySpace> survey_family(const std::string& store, const TableRecord& table,
                                  const FamilyRecord& family, int64_t now_ms, uint64_t cells_max) {
  FamilySpace space{.table = table.name, .family = family.name, .files = family.files.size()};
  CELLAR_TRY_ASSIGN(const FamilyOptions options, options_of(family));
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const FamilyConfig> config, FamilyConfig::create(options));
  RewriteRules rules;
  rules.family = config->rules;
  rules.now_ms = now_ms;
  rules.all_files = true;
  rules.purge_deletes_ms = options.time_to_purge_deletes_ms;
  rules.oldest_put_ts = INT64_MAX;
  std::vector<MergeSource> sources;
  std::set<uint64_t> runs;
  for (auto file = family.files.rbegin(); file != family.files.rend(); ++file) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<HFileReader> reader,
                      open_file(store_file_path(store, table, family, *file), *file));
    sources.push_back({reader->cursor({.fill_cache = false, .sequential = true, .span_cells = 32}),
                       static_cast<uint32_t>(sources.size())});
    rules.oldest_put_ts = std::min(rules.oldest_put_ts, file->earliest_put);
    space.bytes += file->bytes;
    space.cells += file->cells;
    if (file->run != 0) {
      runs.insert(file->run);
    } else {
      ++space.runs;
    }
  }
  space.runs += runs.size();
  if (!sources.empty()) {
    const std::unique_ptr<CellCursor> merged = make_merging_cursor(std::move(sources));
    CELLAR_TRY(walk_cells(*merged, rules, cells_max, space));
  }
  scale(space);
  add_reasons(options, family, now_ms, space);
  return space;
}

}  // namespace cellar
