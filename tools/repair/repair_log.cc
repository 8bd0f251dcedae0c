// The log of a damaged store: judged first as a recovery would, then walked by hand.
#include "tools/repair/repair_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "engine/log/wal_reader.h"
#include "engine/manifest/file_order.h"
#include "tools/frame/output.h"
#include "tools/frame/session.h"
#include "tools/repair/log_place.h"
#include "tools/repair/wal_check.h"

namespace cellar {
namespace {

std::string place_of(uint64_t segment) {
  return std::string(kWalDirectoryName) + "/" + segment_name(segment);
}

// The segments that stay: `first` to `last`, the last one up to `end`.
struct Walk {
  uint64_t first = 0;
  uint64_t last = 0;  // 0: none stays
  uint64_t end = 0;
  bool cut = false;       // bytes of `last` after `end` go
  bool whole = true;      // nothing that counts stands after it
  uint64_t fault_at = 0;  // the segment with the damage
  uint64_t fault_offset = 0;
  std::string fault = {};
};

class LogPlanner {
 public:
  LogPlanner(Directory& root, const StoreSurvey& survey, const std::vector<LostFile>& lost_files,
             RepairPlan& plan)
      : root_(root), survey_(survey), lost_files_(lost_files), plan_(plan) {}

  Status run() {
    if (survey_.edits_lost) add_families_of_log(survey_, plan_);
    const Status judged = judge();
    if (judged.is(Code::kAborted)) return judged;
    if (!judged.ok()) CELLAR_TRY(cut(judged));
    begin_somewhere();
    write_again();
    CELLAR_TRY(check_feeds(!judged.ok()));
    return {};
  }

 private:
  Status judge() const;
  Status cut(const Status& judged);
  Walk choose_walk() const;
  Walk walk_from(uint64_t first) const;
  uint64_t start_of_log() const;
  uint64_t flushed_everywhere() const;
  void take(const Walk& walk);
  Status count_losses(const Walk& walk);
  std::string loss_text(const Walk& walk, uint64_t unreadable) const;
  void count_missing(const Walk& walk);
  void drop(uint64_t segment);
  bool stays(const SegmentLook& look) const;
  void begin_somewhere();
  void write_again();
  Status check_feeds(bool was_cut);
  std::optional<uint64_t> reaches_back_to() const;

  Directory& root_;
  const StoreSurvey& survey_;
  const std::vector<LostFile>& lost_files_;
  RepairPlan& plan_;
  RecordRange lost_;
};

// Reads the log as the opening of the store does.
Status LogPlanner::judge() const {
  const ManifestState& state = plan_.state;
  if (!survey_.has_wal) {
    const bool had_log = state.log_facts().synced.segment != 0 || state.clean_close.segment != 0;
    return had_log ? Status::corruption("the directory wal is missing, and acknowledged writes with it")
                   : Status();
  }
  if (std::ranges::any_of(plan_.move, [](const std::string& name) { return name.starts_with("wal/"); }))
    return Status::corruption("a segment is not a file");
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(root_, false));
  LogFacts facts = state.log_facts(posix_file_system().boot_identity());
  if (survey_.edits_lost) facts.manifest_edit = UINT64_MAX;
  const auto visit = [&](const LogRecord& record) -> Status {
    if (interrupted()) return interrupted_status("nothing was changed");
    LogCells cells(record.payload, record.count, record.sequence);
    LogCell each;
    while (cells.next(each))
      if (state.family(each.family_id).second == nullptr && !state.is_dropped(each.family_id))
        return Status::corruption(
            fmt::format("the log names family {}, which the manifest does not know", each.family_id));
    return cells.status();
  };
  return read_log(*wal, facts, visit).status();
}

// After lost edits the log may begin later than the manifest says. It then begins at the oldest segment
// that is left, or at a segment with records that continues no other.
uint64_t LogPlanner::start_of_log() const {
  uint64_t start = plan_.state.log_start;
  if (!survey_.edits_lost || survey_.segments.empty()) return start;
  bool any = false;
  for (const SegmentLook& look : survey_.segments) {
    if (look.id < plan_.state.log_start) continue;
    const bool begins_anew = look.header.ok() && look.facts.first_lsn != 0 && look.sound.first_number != 0;
    if (!any || begins_anew) start = look.id;
    any = true;
  }
  return start;
}

// Everything up to this sequence is in store files.
uint64_t LogPlanner::flushed_everywhere() const {
  uint64_t sequence = UINT64_MAX;
  for (const TableRecord& table : plan_.state.tables)
    for (const FamilyRecord& family : table.families) sequence = std::min(sequence, family.flushed_sequence);
  return sequence;
}

Walk LogPlanner::walk_from(uint64_t first) const {
  Walk walk;
  walk.first = first;
  LogPosition tail;
  const auto fault = [&](uint64_t segment, uint64_t offset, std::string_view text) {
    walk.whole = false;
    walk.fault_at = segment;
    walk.fault_offset = offset;
    walk.fault = text;
    return walk;
  };
  for (uint64_t id = first;; ++id) {
    const SegmentLook* const look = survey_.segment(id);
    if (look == nullptr) {
      const bool later = !survey_.segments.empty() && survey_.segments.back().id > id;
      return later ? fault(id, 0, "the segment is missing") : walk;
    }
    if (!look->header.ok()) {
      const bool counts = look->has_bytes_after_end() && look->written_end > kFileHeaderBytes;
      return counts || id != survey_.segments.back().id ? fault(id, 0, look->header.message()) : walk;
    }
    const bool continues =
        look->continues && LogPosition{look->continues->segment, look->continues->bytes, look->continues->lsn,
                                       look->continues->chain} == tail;
    if (id != first && !continues && look->written_end > kFileHeaderBytes)
      return fault(id, kFileHeaderBytes, "the segment does not continue the one before");
    const bool empty = look->sound.first_number == 0;
    if (!empty || id == first) {
      walk.last = empty ? walk.last : id;
      walk.end = look->end;
      tail = {id, look->end, look->sound.last_number + 1, look->chain};
    }
    if (look->has_bytes_after_end()) {
      walk.cut = !empty;
      return fault(id, look->end, look_text(look->at_end));
    }
    if (empty && id != survey_.segments.back().id) return fault(id, look->end, "records are missing");
  }
}

// The walk from the start of the log. If all that stands before a later segment is in store files, the log
// may begin there: then the damage costs nothing.
Walk LogPlanner::choose_walk() const {
  const Walk from_start = walk_from(start_of_log());
  if (from_start.whole) return from_start;
  const uint64_t flushed = flushed_everywhere();
  for (const SegmentLook& look : survey_.segments) {
    if (look.id <= from_start.fault_at || !look.header.ok() || !look.before || *look.before > flushed)
      continue;
    const Walk later = walk_from(look.id);
    if (later.whole) return later;
  }
  return from_start;
}

Status LogPlanner::cut(const Status& judged) {
  const Walk walk = choose_walk();
  const std::string where(judged.place());
  std::string text(judged.message());
  std::string place = where.substr(0, where.find(':'));
  if (!walk.whole && walk.fault_at != 0) {
    place = place_of(walk.fault_at);
    text = fmt::format("offset {}: {}", walk.fault_offset, walk.fault);
  }
  if (place.empty()) place = std::string(kWalDirectoryName);
  plan_.damage.push_back({"log", place, text});
  take(walk);
  return count_losses(walk);
}

void LogPlanner::drop(uint64_t segment) {
  plan_.keep.push_back(place_of(segment));
  plan_.drop_segments.push_back(segment);
}

void LogPlanner::take(const Walk& walk) {
  ManifestState& state = plan_.state;
  const uint64_t newest = survey_.segments.empty() ? 0 : survey_.segments.back().id;
  uint64_t dropped = 0;
  for (const SegmentLook& look : survey_.segments) {
    const bool stays = walk.last != 0 && look.id >= walk.first && look.id <= walk.last;
    const bool of_feeds = look.id < plan_.state.log_start && state.feeds.is_retained(look.id);
    if (stays || of_feeds || look.id < plan_.state.log_start) continue;
    drop(look.id);
    dropped += 1;
  }
  if (walk.last == 0) {
    state.log_start = std::max(newest, state.log_start) + 1;
    plan_.steps.push_back({"cut", std::string(kWalDirectoryName), "no record of the log counts any more"});
  } else {
    state.log_start = walk.first;
    const SegmentLook* const last = survey_.segment(walk.last);
    uint64_t end = walk.end;
    bool rewrite = walk.cut;
    // A record CLOSE would demand the segment that it names.
    if (last->next && *last->next != 0) {
      end -= record_bytes(kClosePayloadBytes);
      rewrite = true;
    }
    if (rewrite) {
      plan_.cut_segment = walk.last;
      plan_.cut_bytes = end;
      plan_.keep.push_back(place_of(walk.last));
    }
    plan_.steps.push_back({"cut", place_of(walk.last),
                           fmt::format("the log ends after record {}, sequence {}", last->sound.last_number,
                                       std::max(last->sound.last_sequence, last->before.value_or(0)))});
  }
  if (dropped != 0)
    plan_.steps.push_back({"move", std::string(kWalDirectoryName),
                           fmt::format("{} after the end of the log", counted(dropped, "segment"))});
  state.log_synced = {};
  state.clean_close = {};
  std::erase_if(state.sealed, [&](const SealedEnd& sealed) {
    return sealed.segment < state.log_start || (walk.last != 0 && sealed.segment >= walk.last);
  });
}

// Reads the records that are lost once more, for their rows.
Status LogPlanner::count_losses(const Walk& walk) {
  if (!survey_.has_wal) {
    count_missing(walk);
    return {};
  }
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> wal, open_wal_directory(root_, false));
  std::map<uint32_t, RiskOfLoss> losses;  // by family
  uint64_t unreadable = 0;
  const auto add = [&](const SeenRecord& record) {
    lost_.add(record.header);
    if (record.header.type != RecordType::kData) return;
    unreadable += record.readable ? 0 : 1;
    LogCells cells(record.payload, record.header.count, record.header.sequence);
    LogCell each;
    while (record.readable && cells.next(each)) {
      const auto [table, family] = plan_.state.family(each.family_id);
      if (family == nullptr || record.header.sequence <= family->flushed_sequence) continue;
      RiskOfLoss& risk = losses[each.family_id];
      const std::string row(each.cell.row());
      if (risk.cells == 0 || row < risk.first_row) risk.first_row = row;
      if (risk.cells == 0 || row > risk.last_row) risk.last_row = row;
      if (risk.cells == 0) risk.first_sequence = record.header.sequence;
      risk.last_sequence = record.header.sequence;
      risk.family = table->name + "/" + family->name;
      risk.place = place_of(record.segment);
      risk.cells += 1;
    }
  };
  bool bytes_lost = false;
  for (const SegmentLook& look : survey_.segments) {
    if (look.id < walk.first) continue;
    const bool all = walk.last == 0 || look.id > walk.last;
    bytes_lost = bytes_lost || (all && look.written_end > kFileHeaderBytes) || look.has_bytes_after_end();
    const auto visit = [&](const SeenRecord& record) {
      if (all || record.after_damage) add(record);
      return !interrupted();
    };
    CELLAR_TRY(look_at_segment(*wal, segment_name(look.id), survey_.identity, look.id, visit).status());
  }
  if (interrupted()) return interrupted_status("nothing was changed");
  for (auto& [id, risk] : losses) {
    risk.text = "writes of the log after its damage";
    plan_.at_risk.push_back(std::move(risk));
  }
  if (lost_.records != 0 || bytes_lost) {
    RiskOfLoss rest;
    rest.place = place_of(walk.fault_at);
    rest.first_sequence = lost_.first_sequence;
    rest.last_sequence = lost_.last_sequence;
    rest.cells = lost_.cells;
    rest.text = loss_text(walk, unreadable);
    plan_.at_risk.push_back(std::move(rest));
  }
  count_missing(walk);
  return {};
}

// "7 records of the log after its damage; the cells of 1 record cannot be read; 2 records are missing".
std::string LogPlanner::loss_text(const Walk& walk, uint64_t unreadable) const {
  std::string text = counted(lost_.records, "record") + " of the log after its damage";
  if (unreadable != 0) text += fmt::format("; the cells of {} cannot be read", counted(unreadable, "record"));
  const SegmentLook* const last = survey_.segment(walk.last);
  const uint64_t kept = last != nullptr ? last->sound.last_number : 0;
  if (lost_.first_number > kept + 1 && kept != 0)
    text += fmt::format("; {} at the damage", counted(lost_.first_number - kept - 1, "more record"));
  if (lost_.first_number == 0) text += ", and bytes that are no whole record";
  return text;
}

// Records that the manifest knows, and that are not there at all.
void LogPlanner::count_missing(const Walk& walk) {
  const uint64_t known = std::max(survey_.base.log_facts().synced.lsn, survey_.base.clean_close.lsn);
  const SegmentLook* const last = survey_.segment(walk.last);
  const uint64_t found = std::max(last != nullptr ? last->sound.last_number : 0, lost_.last_number);
  if (known <= found + 1) return;
  RiskOfLoss missing;
  missing.place = std::string(kWalDirectoryName);
  missing.last_sequence = survey_.base.last_sequence;
  missing.text = fmt::format("records {} to {} of the log, which the manifest knows: they are missing",
                             found + 1, known - 1);
  plan_.at_risk.push_back(std::move(missing));
}

bool LogPlanner::stays(const SegmentLook& look) const {
  return look.id >= plan_.state.log_start && look.header.ok() &&
         std::ranges::find(plan_.drop_segments, look.id) == plan_.drop_segments.end();
}

// The segment at which the log begins must be there. After lost edits it may be a later one than the
// manifest says. If none is left, the log begins anew.
void LogPlanner::begin_somewhere() {
  for (const SegmentLook& look : survey_.segments) {
    if (!stays(look)) continue;
    plan_.state.log_start = look.id;
    return;
  }
  const LogFacts known = survey_.base.log_facts();
  const uint64_t newest = survey_.segments.empty() ? 0 : survey_.segments.back().id;
  plan_.state.log_start = std::max({plan_.state.log_start, newest + 1, uint64_t{1}});
  plan_.new_segment = plan_.state.log_start;
  plan_.new_segment_record =
      std::max({survey_.newest_record_seen + 1, known.synced.lsn, known.clean_close.lsn, uint64_t{1}});
  plan_.state.log_synced = {};
  plan_.state.clean_close = {};
  plan_.state.sealed.clear();
  if (plan_.is_needed())
    plan_.steps.push_back(
        {"write", place_of(plan_.new_segment), "an empty segment, with which the log begins"});
}

// The sequence after which the log that stays holds every logged write; nothing without a log.
std::optional<uint64_t> LogPlanner::reaches_back_to() const {
  const SegmentLook* const first = survey_.segment(plan_.state.log_start);
  return first != nullptr && stays(*first) ? first->before : std::nullopt;
}

// Lets the log write the cells of lost files again.
void LogPlanner::write_again() {
  const std::optional<uint64_t> from = reaches_back_to();
  uint64_t newest = 0;  // that the log still has
  for (const SegmentLook& look : survey_.segments)
    if (stays(look)) newest = std::max(newest, look.sound.last_sequence);
  for (const LostFile& file : lost_files_) {
    RiskOfLoss risk;
    risk.family = file.family;
    risk.place = file.place;
    risk.first_row = std::string(first_row_of(file.record));
    risk.last_row = std::string(last_row_of(file.record));
    risk.first_sequence = file.record.sequence_min;
    risk.last_sequence = file.record.sequence_max;
    risk.cells = file.record.cells;
    const uint64_t first = file.record.adopted_as != 0 ? 0 : file.record.sequence_min;
    if (from && first > *from) {
      risk.text = newest >= file.record.sequence_max
                      ? "the log still holds these writes, but not those that skipped it"
                      : fmt::format("the log still holds these writes up to sequence {}", newest);
      for (TableRecord& table : plan_.state.tables)
        for (FamilyRecord& family : table.families)
          if (family.id == file.family_id)
            family.flushed_sequence = std::min(family.flushed_sequence, first - 1);
      plan_.steps.push_back({"write", file.place,
                             fmt::format("{} is written again from the log, after "
                                         "sequence {}",
                                         file.family, first - 1)});
    } else if (survey_.edits_lost) {
      risk.text = "a lost edit may have replaced the file, by one that is taken in";
    } else {
      risk.text = file.record.deletes == 0
                      ? "the cells of the file"
                      : fmt::format(
                            "the cells of the file; {} in it hid older cells, which may be visible "
                            "again",
                            counted(file.record.deletes, "delete marker"));
    }
    plan_.at_risk.push_back(std::move(risk));
  }
}

// Feeds read the segments that are kept for them, then the log.
Status LogPlanner::check_feeds(bool was_cut) {
  FeedBook& feeds = plan_.state.feeds;
  if (feeds.feeds.empty() && feeds.retained.empty()) return {};
  std::string fault;
  uint64_t good_from = 0;  // retained segments below it cannot be used
  for (const LogSegment& each : feeds.retained) {
    const SegmentLook* const look = survey_.segment(each.id);
    const bool whole = look != nullptr && look->header.ok() && look->end >= each.bytes;
    if (whole) continue;
    good_from = each.id + 1;
    plan_.damage.push_back({"feed", place_of(each.id),
                            look == nullptr ? "a segment that is kept for feeds is missing"
                                            : "a segment that is kept for feeds is damaged"});
    if (look != nullptr) drop(each.id);
  }
  std::erase_if(feeds.retained, [&](const LogSegment& each) { return each.id < good_from; });
  const uint64_t first = feeds.retained.empty() ? plan_.state.log_start : feeds.retained.front().id;
  const SegmentLook* const look = survey_.segment(first);
  const bool usable = look != nullptr && look->header.ok() && look->before;
  for (FeedRecord& feed : feeds.feeds) {
    const uint64_t newest = std::max(survey_.base.last_sequence, survey_.newest_sequence_seen);
    const bool misses_first = (was_cut || good_from != 0 || survey_.edits_lost) &&
                              (usable ? feed.acknowledged < *look->before : feed.acknowledged < newest);
    const bool misses_last = lost_.records != 0 && feed.acknowledged < lost_.last_sequence;
    if (feed.lost || !(misses_first || misses_last)) continue;
    feed.lost = true;
    plan_.steps.push_back({"leave out", "feed " + feed.name,
                           "the feed is lost, because it would miss writes: drop it and make a new one"});
  }
  return {};
}

}  // namespace

Status plan_log(Directory& root, const StoreSurvey& survey, const std::vector<LostFile>& lost_files,
                RepairPlan& plan) {
  return LogPlanner(root, survey, lost_files, plan).run();
}

}  // namespace cellar
