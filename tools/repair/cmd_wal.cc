// cellar wal: the records of a store's log, and whether the log is sound.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/coding.h"
#include "base/plugins.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/repair/log_look.h"
#include "tools/repair/log_place.h"
#include "tools/repair/wal_check.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

std::string_view type_text(RecordType type) {
  switch (type) {
    case RecordType::kData:
      return "data";
    case RecordType::kPrev:
      return "prev";
    case RecordType::kClose:
      return "close";
    case RecordType::kEdit:
      return "edit";
  }
  return "";
}

std::string_view state_of(const SeenRecord& record) {
  if (!record.after_damage) return "sound";
  return record.readable ? "after damage" : "unreadable";
}

// Prints records, or their cells.
class RecordPrinter {
 public:
  RecordPrinter(Session& session, bool cells, const std::string& table, uint64_t from, uint64_t limit)
      : session_(session),
        records_(session.out(), session.format(), "cellar.wal/1", cells ? "cells" : "records"),
        cells_(cells),
        table_(table),
        from_(from),
        limit_(limit) {}

  // Returns false if enough was printed.
  bool add(const SeenRecord& record, const FamilyNames& names) {
    if (session_.stopping() || is_full()) return false;
    if (record.header.lsn < from_) return true;
    const bool has_cells = record.readable && record.header.type == RecordType::kData;
    if (!table_.empty() && !(has_cells && mentions_table(record, names))) return true;
    given_ += 1;
    if (cells_) {
      if (has_cells) print_cells(record, names);
    } else {
      print_record(record, names);
    }
    return true;
  }
  bool is_full() const { return limit_ != 0 && given_ >= limit_; }
  uint64_t given() const { return given_; }
  Records& records() { return records_; }

 private:
  bool mentions_table(const SeenRecord& record, const FamilyNames& names) const {
    LogCells cells(record.payload, record.header.count, record.header.sequence);
    LogCell each;
    while (cells.next(each))
      if (names.table(each.family_id) == table_) return true;
    return false;
  }

  static std::vector<std::string> families_of(const SeenRecord& record, const FamilyNames& names) {
    std::vector<std::string> families;
    LogCells cells(record.payload, record.header.count, record.header.sequence);
    LogCell each;
    while (cells.next(each)) {
      std::string name = names.text(each.family_id);
      if (std::ranges::find(families, name) == families.end()) families.push_back(std::move(name));
    }
    return families;
  }

  void print_record(const SeenRecord& record, const FamilyNames& names) {
    const RecordHeader& header = record.header;
    const bool has_cells = record.readable && header.type == RecordType::kData;
    records_.count("segment", record.segment).count("offset", record.offset).count("record", header.lsn);
    records_.text("type", type_text(header.type)).count("sequence", header.sequence);
    records_.count("bytes", record_bytes(header.len)).count("cells", header.count);
    records_.list("families", has_cells ? families_of(record, names) : std::vector<std::string>(), " ");
    if (has_cells && record.payload.size() >= kLogTimeBytes)
      records_.time("written", static_cast<int64_t>(load_le64(record.payload.data())));
    else
      records_.text("written", "");
    records_.text("state", state_of(record)).add();
  }

  void print_cells(const SeenRecord& record, const FamilyNames& names) {
    LogCells cells(record.payload, record.header.count, record.header.sequence);
    LogCell each;
    while (cells.next(each) && !session_.stopping()) {
      const CellView& cell = each.cell;
      if (!table_.empty() && names.table(each.family_id) != table_) continue;
      records_.count("record", record.header.lsn).count("sequence", record.header.sequence);
      records_.text("table", names.table(each.family_id)).bytes("family", cell.family());
      records_.bytes("row", cell.row()).bytes("qualifier", cell.qualifier()).time("ts", cell.timestamp);
      records_.text("type", type_name(cell.type())).bytes("value", cell.value_bytes());
      records_.text("state", state_of(record)).add();
    }
    if (!cells.status().ok())
      session_.talk(fmt::format("note   record {}: {}", record.header.lsn, cells.status().message()));
  }

  Session& session_;
  Records records_;
  const bool cells_;
  const std::string table_;
  const uint64_t from_;
  const uint64_t limit_;
  uint64_t given_ = 0;
};

std::string end_text(const SegmentLook& look) {
  if (!look.header.ok()) return std::string(look.header.message());
  if (look.next) return look.has_bytes_after_end() ? "bytes after its end" : "closed";
  return look.at_end == Look::kNothing ? "open" : std::string(look_text(look.at_end));
}

class WalCommand final : public Command {
 public:
  explicit WalCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override { return "Show the log of a store, or check it for damage"; }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "dump or verify")
        .operands("STORE", paths_, "directory of a store; dump also takes segments of a log (wal/*.log)",
                  true)
        .option_if("--from", from_, "RECORD", "dump: begin with the record of this number")
        .option("--table", table_, "TABLE", "dump: only records with cells of this table")
        .option_count("--limit", limit_, "dump: at most N records")
        .flag("--cells", cells_, "dump: print the cells of the records, one a line")
        .note(
            "dump    prints the records of all segments. It goes on after damage: records there have the\n"
            "        state \"after damage\", or \"unreadable\". No recovery reads them.\n"
            "verify  tells how far each segment is sound, and what opening the store would recover or lose.\n"
            "        Exit status 1: the log is damaged, and the store does not open.\n"
            "The store is read without its lock: another process may have it open. Nothing is written.")
        .example("cellar wal dump shop --from 2 --limit 10", "ten records of the log")
        .example("cellar wal dump shop --table orders --cells", "the cells of a table that are in the log")
        .example("cellar wal verify shop", "is the log sound?");
  }

  Status run(Session& session) override {
    if (action_ == "dump") return dump(session);
    if (action_ != "verify") return unknown_action(action_, {"dump", "verify"});
    if (from_ || !table_.empty() || limit_ != 0 || cells_)
      return Status::invalid_argument("wal verify takes no options of dump")
          .hinting("--from, --table, --limit and --cells choose what wal dump prints");
    if (paths_.size() != 1) return Status::invalid_argument("wal verify takes one store");
    return verify(session, paths_.front());
  }

 private:
  Status dump(Session& session) {
    uint64_t from = 0;
    if (from_) {
      CELLAR_TRY_ASSIGN(from, for_argument("--from", parse_count(*from_)));
    }
    std::vector<LogPlace> places;
    for (const std::string& path : paths_) {
      CELLAR_TRY_ASSIGN(LogPlace place, find_log(session, path));
      const std::vector<std::string> tables = place.names.tables();
      if (!table_.empty() && std::ranges::find(tables, table_) == tables.end())
        return no_such_table(session, path, table_, tables);
      places.push_back(std::move(place));
    }
    RecordPrinter printer(session, cells_, table_, from, limit_);
    for (const LogPlace& place : places) CELLAR_TRY(dump_segments(session, place, printer));
    printer.records().count("segments_read", segments_).count("damaged_segments", damaged_).finish();
    if (interrupted()) return interrupted_status("the log was not printed to its end");
    session.talk(fmt::format("{} in {}", counted(printer.given(), "record"), counted(segments_, "segment")));
    if (damaged_ != 0) session.answer_negative();
    return {};
  }

  Status dump_segments(Session& session, const LogPlace& place, RecordPrinter& printer) {
    for (const LogPlace::Segment& segment : place.segments) {
      if (printer.is_full() || session.stopping()) return {};
      const auto visit = [&](const SeenRecord& record) { return printer.add(record, place.names); };
      const Result<SegmentLook> look =
          look_at_segment(*place.wal, segment.name, place.identity, segment.id, visit);
      if (look.status().is(Code::kNotFound)) continue;  // a writer has removed it meanwhile
      CELLAR_TRY(look.status());
      segments_ += 1;
      const bool full = printer.is_full();
      const bool damaged = !look->header.ok() || (look->has_bytes_after_end() && !full);
      if (!damaged) continue;
      damaged_ += look->at_end == Look::kTorn && look->later.first_number == 0 ? 0 : 1;
      session.talk(fmt::format("note   {}/{}: {} at offset {}", place.path, segment.name, end_text(*look),
                               look->header.ok() ? look->end : 0));
    }
    return {};
  }

  Status verify(Session& session, const std::string& path) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, posix_file_system().open_directory(path, false));
    if (const Status store = require_store(*root); !store.ok())
      return session.name_failure("CEL-NOT-STORE", Exit::kCannot,
                                  store.is(Code::kNotFound)
                                      ? no_store_at(path)
                                      : with_hint_at_repair(path, store.with_context("store " + path)));
    const Result<WalCheck> check = check_wal(*root);
    if (check.status().is(Code::kCorruption))
      return session.name_failure("CEL-CORRUPTION", Exit::kNegative,
                                  with_hint_at_repair(path, check.status().with_context("store " + path)));
    CELLAR_TRY(check.status());
    print(session, *check);
    if (!check->damage.ok()) session.answer_negative();
    return {};
  }

  static void print(Session& session, const WalCheck& check) {
    Records records(session.out(), session.format(), "cellar.wal/1", "segments");
    for (const WalCheck::Segment& each : check.segments) {
      const SegmentLook& look = each.look;
      records.count("segment", look.id).count("bytes", look.bytes).count("sound_to", look.end);
      records.count("records", look.sound.records).count("cells", look.sound.cells);
      records.count("first_record", look.sound.first_number).count("last_record", look.sound.last_number);
      records.count("first_sequence", look.sound.first_sequence);
      records.count("last_sequence", look.sound.last_sequence).text("end", end_text(look));
      records.flag("recovery_reads", each.is_read).add();
    }
    records.flag("sound", check.damage.ok())
        .flag("clean", check.clean)
        .count("recovery_records", check.records);
    records.count("last_record", check.last_number).count("last_sequence", check.last_sequence);
    records.count("recovered_records", check.recovered_records);
    records.count("recovered_cells", check.recovered_cells).count("torn_bytes", check.torn_bytes);
    if (!check.damage.ok()) {
      records.text("damage", check.damage.message()).text("place", check.damage.place());
      records.count("lost_records", check.lost.records).count("lost_cells", check.lost.cells);
      records.count("lost_first_sequence", check.lost.first_sequence);
      records.count("lost_last_sequence", check.lost.last_sequence);
      records.count("lost_unreadable", check.unreadable).list("lost_rows", check.rows_lost, "; ");
    }
    records.finish();
    if (session.format() == Format::kTable)
      session.out().write_verdict(verdict_text(check), check.damage.ok() ? Style::kGood : Style::kBad);
  }

  static std::string verdict_text(const WalCheck& check) {
    const std::string wanted =
        fmt::format("opening the store recovers {} with {} that no store file holds",
                    counted(check.recovered_records, "record"), counted(check.recovered_cells, "cell"));
    if (check.damage.ok()) {
      std::string text = check.clean ? "ok    the log was closed with the store\n"
                                     : "ok    the store is open, or was not closed properly\n";
      if (check.torn_bytes != 0)
        text += fmt::format("      it ends with {} of a write that was not acknowledged\n",
                            counted(check.torn_bytes, "byte"));
      return text + "      " + wanted + "\n";
    }
    std::string text = fmt::format("BAD   {}\n      {}\n", shown_name(check.damage.message()),
                                   shown_name(check.damage.place()));
    text += fmt::format("      sound up to record {}, sequence {}\n", check.last_number, check.last_sequence);
    if (check.lost.first_number != 0)
      text += fmt::format("      after the damage: {}, sequences {} to {}, {}; {} of them unreadable\n",
                          counted(check.lost.records, "record"), check.lost.first_sequence,
                          check.lost.last_sequence, counted(check.lost.cells, "cell"),
                          human_count(check.unreadable));
    for (const std::string& rows : check.rows_lost) text += "      " + rows + "\n";
    return text;
  }

  std::string action_;
  std::vector<std::string> paths_;
  std::optional<std::string> from_;
  std::string table_;
  uint64_t limit_ = 0;
  bool cells_ = false;
  uint64_t segments_ = 0;
  uint64_t damaged_ = 0;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_repair_cmd_wal, "wal", WalCommand)

}  // namespace cellar
