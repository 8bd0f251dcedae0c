// The check of a log: the judgement of the recovery itself, and a look at each segment.
#include "tools/repair/wal_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "engine/log/wal_reader.h"
#include "tools/frame/output.h"
#include "tools/frame/session.h"
#include "tools/store/store_state.h"

namespace cellar {

void RowSpans::add(const SeenRecord& record) {
  if (!record.readable || record.header.type != RecordType::kData) return;
  LogCells cells(record.payload, record.header.count, record.header.sequence);
  LogCell each;
  while (cells.next(each)) {
    Span& span = spans_[each.family_id];
    const std::string_view row = each.cell.row();
    if (span.cells == 0 || row < span.first) span.first = row;
    if (span.cells == 0 || row > span.last) span.last = row;
    span.cells += 1;
  }
}

std::vector<std::string> RowSpans::texts(const FamilyNames& names) const {
  std::vector<std::string> texts;
  for (const auto& [family, span] : spans_) {
    const std::string rows = span.first == span.last
                                 ? "row " + escaped(span.first)
                                 : fmt::format("rows {} to {}", escaped(span.first), escaped(span.last));
    texts.push_back(
        fmt::format("{}: {}, {}", shown_name(names.text(family)), counted(span.cells, "cell"), rows));
  }
  return texts;
}

namespace {

constexpr int kLooks = 4;

Status log_interruption() { return interrupted_status("the log was not read to its end"); }

// Reads the log as a recovery does, and counts the records that no file holds yet.
Status judge(Directory& wal, const ManifestState& state, WalCheck& check) {
  std::map<uint32_t, uint64_t> flushed;
  for (const TableRecord& table : state.tables)
    for (const FamilyRecord& family : table.families) flushed[family.id] = family.flushed_sequence;
  const LogFacts facts = state.log_facts(posix_file_system().boot_identity());
  const auto visit = [&](const LogRecord& record) -> Status {
    if (interrupted()) return log_interruption();
    LogCells cells(record.payload, record.count, record.sequence);
    LogCell each;
    uint64_t wanted = 0;
    while (cells.next(each)) {
      const auto family = flushed.find(each.family_id);
      if (family == flushed.end() && !state.is_dropped(each.family_id))
        return Status::corruption(
                   fmt::format("the log names family {}, which the manifest does not know", each.family_id))
            .at(fmt::format("wal/{}: offset {}", segment_name(record.segment), record.offset));
      if (family != flushed.end() && record.sequence > family->second) wanted += 1;
    }
    check.records += 1;
    check.last_number = record.lsn;
    check.last_sequence = record.sequence;
    check.recovered_cells += wanted;
    check.recovered_records += wanted > 0 ? 1 : 0;
    return cells.status().at(fmt::format("wal/{}: offset {}", segment_name(record.segment), record.offset));
  };
  CELLAR_TRY_ASSIGN(const LogSummary summary, read_log(wal, facts, visit));
  check.clean = summary.clean;
  check.torn_bytes = summary.torn_bytes;
  return {};
}

// Looks at all segments. It leaves out segments that a writer removes meanwhile.
Status look_at_segments(Directory& wal, const ManifestState& state, WalCheck& check) {
  CELLAR_TRY_ASSIGN(const std::vector<uint64_t> ids, list_segments(wal));
  RowSpans lost;
  bool after_damage = false;
  for (const uint64_t id : ids) {
    if (interrupted()) return log_interruption();
    const bool is_read = id >= state.log_start;
    // After damage in an earlier segment, a recovery reads nothing of the later ones.
    const bool all_lost = is_read && after_damage && !check.damage.ok();
    const auto visit = [&](const SeenRecord& record) {
      if (is_read && (all_lost || record.after_damage)) lost.add(record);
      return !interrupted();
    };
    Result<SegmentLook> look = look_at_segment(wal, segment_name(id), state.identity, id, visit);
    if (look.status().is(Code::kNotFound)) continue;
    CELLAR_TRY(look.status());
    if (is_read) {
      if (all_lost) check.lost.add(look->sound);
      check.lost.add(look->later);
      check.unreadable += look->unreadable;
      after_damage = after_damage || !look->header.ok() || look->has_bytes_after_end() ||
                     (!look->next && id != ids.back());
    }
    check.segments.push_back({std::move(*look), is_read});
  }
  if (!check.damage.ok()) check.rows_lost = lost.texts(FamilyNames(state));
  return {};
}

Result<WalCheck> look_once(Directory& root, const ManifestState& state) {
  WalCheck check;
  Result<std::unique_ptr<Directory>> wal = open_wal_directory(root, false);
  if (wal.status().is(Code::kNotFound)) {
    // A snapshot has no log, and neither has a store whose creation has just ended.
    const LogFacts facts = state.log_facts();
    if (facts.synced.segment != 0 || state.clean_close.segment != 0)
      check.damage = Status::corruption("the directory wal is missing, and acknowledged writes with it");
    check.clean = check.damage.ok();
    return check;
  }
  CELLAR_TRY(wal.status());
  const Status judged = judge(**wal, state, check);
  if (judged.is(Code::kAborted)) return judged;
  check.damage = judged;
  CELLAR_TRY(look_at_segments(**wal, state, check));
  return check;
}

}  // namespace

Result<WalCheck> check_wal(Directory& root) {
  CELLAR_TRY_ASSIGN(ManifestState state, load_store_state(root));
  CELLAR_TRY_ASSIGN(WalCheck check, look_once(root, state));
  for (int looks = 1; looks < kLooks && !check.damage.ok(); ++looks) {
    const uint64_t edit = state.edit;
    CELLAR_TRY_ASSIGN(state, load_store_state(root));
    CELLAR_TRY_ASSIGN(WalCheck again, look_once(root, state));
    const bool stands = state.edit == edit && again.damage.message() == check.damage.message() &&
                        again.damage.place() == check.damage.place();
    check = std::move(again);
    if (stands) break;
  }
  return check;
}

}  // namespace cellar
