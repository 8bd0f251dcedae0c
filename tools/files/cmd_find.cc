// cellar find: every place that mentions a row.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text_width.h"
#include "hfile/read/hfile_reader.h"
#include "tools/files/find_printer.h"
#include "tools/frame/command.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"
#include "tools/store/store_state.h"

namespace cellar {
namespace {

// A store among the operands. Places point into its state.
struct SearchedStore {
  std::string path;
  ManifestState state;
  const TableRecord* only = nullptr;  // null: all tables
};

class FindCommand final : public Command {
 public:
  explicit FindCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kFiles; }
  std::string_view summary() const override {
    return "Find all places that mention a row; exit status 1 if there are none";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ROW", row_, "row key; \\xHH stands for a byte")
        .operands("PATH", paths_, "HFiles, directories of them, or stores (their log, too)", true)
        .option_if("--column", column_, "COLUMN", "only this column (family:qualifier) or family of the row")
        .option_if("--table", table_, "TABLE", "stores: only this table")
        .flag("--thorough", thorough_, "read the blocks even if the Bloom filter denies the row");
    shown_.declare(arguments, false);
    arguments.formats({"table", "json", "jsonl"})
        .note(
            "A store is read without its lock: another process may have it open.\n"
            "A Bloom filter that denies what --thorough finds is an error (V-BLOOM-MISS, exit status 1).\n"
            "With --column, markers for the whole family are not shown: they have no qualifier.")
        .example("cellar find row-003 versions.hfile weblog.hfile",
                 "the files that have the row, and its cells in each")
        .example("cellar find user42 shop --table orders --column d:mail --thorough --decode qualifier=text",
                 "every version of a value in a store and its log, without using filters");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const ValueRules rules, shown_.rules(session));
    CELLAR_TRY_ASSIGN(target_.row, for_argument("ROW", parse_bytes(row_)));
    if (target_.row.empty()) return Status::invalid_argument("ROW is empty: a row key has at least 1 byte");
    if (column_) {
      CELLAR_TRY_ASSIGN(target_.column, for_argument("--column", parse_column(*column_)));
    }
    CELLAR_TRY(collect(session));
    size_t width = 0;
    for (const FindPlace& place : places_) width = std::max(width, text_width(place.path));
    FindPrinter printer(session.out(), session.format(), target_, std::min<size_t>(width, 72), rules);
    for (const FindPlace& place : places_) {
      if (session.stopping()) break;
      printer.begin(place);
      if (place.log) {
        search_log_of(session, place, printer);
      } else {
        search_one(session, place, printer);
      }
    }
    totals_.complete = failure_.ok() && !interrupted();
    printer.finish(totals_);
    return conclude(session);
  }

 private:
  // Collects the places to search, in order.
  Status collect(Session& session) {
    bool any_store = false;
    for (const std::string& path : paths_) {
      if (is_store(path)) {
        any_store = true;
        CELLAR_TRY(collect_store(session, path));
        continue;
      }
      CELLAR_TRY_ASSIGN(const std::vector<std::string> files,
                        find_all_hfiles(session, {path}, Remains::kTake));
      for (const std::string& file : files) places_.push_back({file, false, "", ""});
    }
    if (table_ && !any_store) {
      return session.name_failure(
          "CEL-USAGE", Exit::kUsage,
          Status::invalid_argument("--table applies to stores, and no PATH is a store")
              .hinting("cellar find --help"));
    }
    return {};
  }

  Status collect_store(Session& session, const std::string& path) {
    CELLAR_TRY_ASSIGN(ManifestState state, read_store_state(session, path));
    stores_.push_back(std::make_unique<SearchedStore>(SearchedStore{path, std::move(state), nullptr}));
    SearchedStore& store = *stores_.back();
    if (table_) {
      CELLAR_TRY_ASSIGN(store.only, table_of_state(session, store.state, path, *table_));
    }
    places_.push_back({path + (path.ends_with('/') ? "wal" : "/wal"), true, "", ""});
    store_of_log_.push_back(&store);
    for (const TableRecord& table : store.state.tables) {
      if (store.only != nullptr && store.only != &table) continue;
      for (const FamilyRecord& family : table.families) {
        if (target_.column && target_.column->family != family.name) continue;
        for (const std::string& file : files_of_family(path, table, family))
          places_.push_back({file, false, table.name, family.name});
      }
    }
    return {};
  }

  void search_one(Session& session, const FindPlace& place, FindPrinter& printer) {
    Progress progress(session, "find " + place.path, 0);
    FileSearch search;
    Status status;
    const Result<std::shared_ptr<HFileReader>> file = open_hfile(session, place.path);
    if (file.ok()) {
      status = search_file(
          **file, target_, thorough_,
          [&](const FoundCell& found) {
            printer.add(found);
            progress.step(0, ++totals_.found);
            return !session.stopping();
          },
          search);
    } else {
      status = file.status();
      if (!place.table.empty() && status.is(Code::kNotFound))
        status = status.hinting("the store is open elsewhere and has replaced the file: look again");
    }
    printer.end(search, status);
    totals_.files += 1;
    totals_.files_outside += search.verdict == FindVerdict::kOutside ? 1 : 0;
    totals_.files_denied += search.verdict == FindVerdict::kBloomNo ? 1 : 0;
    if (!status.ok()) note_failure(status);
    if (search.bloom_lies() && lying_.empty()) lying_ = place.path;
  }

  void search_log_of(Session& session, const FindPlace& place, FindPrinter& printer) {
    const SearchedStore& store = *store_of_log_[logs_searched_++];
    const Status status =
        search_log(store.path, store.state, store.only, target_, [&](const LogMention& mention) {
          printer.add(mention);
          ++totals_.found;
          return !session.stopping();
        });
    printer.end_log(status);
    if (!status.ok()) note_failure(status.with_context(place.path));
  }

  void note_failure(const Status& status) {
    if (failure_.ok()) failure_ = status;
  }

  Status conclude(Session& session) {
    session.out().flush();
    if (interrupted())
      return interrupted_status(fmt::format("{} were found", counted(totals_.found, "cell")));
    if (!failure_.ok()) return name_file_failure(session, failure_);
    if (!lying_.empty()) {
      return session.name_failure(
          "V-BLOOM-MISS", Exit::kNegative,
          Status::corruption("the Bloom filter denies the row, which is in the file")
              .at(lying_)
              .hinting("cellar verify --level deep checks the filter; a major compaction rewrites the file"));
    }
    if (totals_.found == 0 && !session.out().is_lost()) {
      session.talk(fmt::format("not found: {} looked at, {} outside their range, {} denied by Bloom filters",
                               counted(totals_.files, "file"), totals_.files_outside, totals_.files_denied));
      session.answer_negative();
    }
    return {};
  }

  std::string row_;
  std::vector<std::string> paths_;
  std::optional<std::string> column_;
  std::optional<std::string> table_;
  bool thorough_ = false;
  RowTarget target_;
  std::vector<std::unique_ptr<SearchedStore>> stores_;
  std::vector<FindPlace> places_;
  std::vector<SearchedStore*> store_of_log_;  // of each place that is a log, in order
  size_t logs_searched_ = 0;
  FindTotals totals_;
  Status failure_;
  std::string lying_;
  ShownParts shown_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_files_cmd_find, "find", FindCommand)

}  // namespace cellar
