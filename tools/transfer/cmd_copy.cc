// cellar copy: tables from a store, a cluster or HFiles to a store or cluster, with their schema and all
// versions.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/hash.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hbase_dir.h"
#include "tools/query/scan_options.h"
#include "tools/store/store.h"
#include "tools/transfer/bulk_files.h"
#include "tools/transfer/copy_files.h"
#include "tools/transfer/copy_loads.h"
#include "tools/transfer/copy_schema.h"
#include "tools/transfer/table_copy.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

// How one table was copied.
struct CopiedTable {
  CopyProgress progress;
  bool resumed = false;
  std::optional<CopyComparison> comparison;
};

Json json_of(const RangeDigest& digest) {
  return Json{{"rows", digest.rows}, {"cells", digest.cells}, {"hash", fmt::format("{:016x}", digest.hash)}};
}

Json json_of(const CopiedTable& table) {
  Json json = {{"table", table.progress.table},     {"as", table.progress.as},
               {"created", table.progress.created}, {"resumed", table.resumed},
               {"rows", table.progress.rows},       {"cells", table.progress.cells},
               {"bytes", table.progress.bytes},     {"tags_left_out", table.progress.tags_left_out}};
  if (!table.comparison) return json;
  json["compared"] = {{"ranges", table.comparison->ranges},
                      {"rows", table.comparison->rows},
                      {"cells", table.comparison->cells},
                      {"ranges_different", table.comparison->different}};
  json["differences"] = Json::array();
  for (const RangeDifference& each : table.comparison->differences)
    json["differences"].push_back({{"start", escaped(each.start)},
                                   {"start_exclusive", !each.start_inclusive},
                                   {"stop", escaped(each.stop)},
                                   {"stop_inclusive", each.stop_inclusive},
                                   {"from", json_of(each.from)},
                                   {"to", json_of(each.to)}});
  return json;
}

std::string counts_of(const RangeDifference& range) {
  const auto counts = [](const RangeDigest& digest) {
    return fmt::format("{} and {}", counted(digest.rows, "row"), counted(digest.cells, "cell"));
  };
  const bool alike = range.from.rows == range.to.rows && range.from.cells == range.to.cells;
  return alike ? fmt::format("other cells, {} in each", counts(range.from))
               : fmt::format("{} became {}", counts(range.from), counts(range.to));
}

// Returns the words of a list so that different lists have different texts.
std::string text_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(escaped(word));
  return text;
}

// Names a store by its path and identity, and a cluster by its identity. A copy that goes on from another
// directory, or through another master, is known again.
std::string place_of(const std::string& path, Engine& engine) {
  const std::string identity = engine.status().identity;
  if (is_cluster(path)) return "cluster " + identity;
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  return fmt::format("{} ({})", error ? path : whole.string(), identity);
}

// Tells the copy by its request and where it goes.
uint64_t hash_of(const CopyRequest& request, std::string_view to) {
  uint64_t hash = hash64(to);
  for (const auto& [name, value] : request) hash = hash64(fmt::format("{:x} {} {}", hash, name, value));
  return hash;
}

class CopyCommand final : public Command {
 public:
  explicit CopyCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kMove; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Copy tables of stores, clusters and HFiles, with schema and all versions, and compare them";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("FROM", from_, "a store, a cluster: hbase://MASTER:PORT, or a directory of HFiles")
        .operand("TO", to_, "a store, which is created if it does not exist, or a cluster")
        .operands("TABLE", names_, "tables to copy; default: all", false)
        .option("--as", as_, "NAME", "name of the copy; for one table")
        .flag("--raw", raw_, "also copy delete markers and hidden cells that are still stored")
        .flag("--into-existing", into_existing_, "add the cells to tables that exist, whatever their options")
        .choice("--verify", verify_, {"after", "skip", "only"},
                "compare the visible cells: after the copy, not, or without a copy")
        .option("--state", state_, "FILE",
                "where progress is kept (TO.copy next to a store; none for a cluster)")
        .option("--batch", batch_, "SIZE",
                "bytes of a batch, 64k to 32m (4m), or of a bulk load, 1m to 1t (2g)");
    loads_.declare(arguments);
    rows_.declare_range(arguments);
    arguments
        .option_list("--column", rows_.read.columns, "COLUMN", "family:qualifier or family; may be repeated")
        .option_if("--time", rows_.read.time, "A..B", "only cells with timestamps in this range")
        .formats({"table", "json"})
        .note(
            "A copy that ended early goes on when the same command is run again. A range of rows that was\n"
            "written before is written again, with the same timestamps, so it changes nothing.\n"
            "Exit status 1: the tables differ. Cells of a cluster come without their times to live.")
        .example("cellar copy shop newshop", "all tables, to a new store")
        .example("cellar copy shop newshop orders --as orders2 --raw",
                 "a table under another name, with its delete markers")
        .more_example("cellar copy shop newshop orders --state orders.state --batch 1m",
                      "with a file for the progress, which a copy to a cluster needs to go on")
        .more_example(
            "cellar copy shop newshop orders --start user41 --start-exclusive --stop user43 --stop-inclusive",
            "a range of rows")
        .more_example("cellar copy shop newshop orders --prefix user4 --into-existing --verify skip",
                      "rows with a prefix, also into a table that exists, without the comparison")
        .more_example("cellar copy load newshop --as orders3",
                      "HFiles that export wrote, or a table, region or snapshot in HBase's own directory")
        .more_example("cellar copy shop hbase://master:16000 orders --staging files --regions 4",
                      "by bulk load, through a directory that the servers of the cluster share")
        .more_example(
            "cellar copy shop hbase://master:16000 orders --splits splits.txt --staging files \\\n      "
            "--servers-staging file:///mnt/share/files",
            "the same, where the servers find the directory elsewhere")
        .more_example(
            "cellar copy shop hbase://master:16000 --staging webhdfs://localhost:9870/load --scratch .",
            "by bulk load through HDFS, without a JVM")
        .more_example("cellar copy shop backup orders --verify only --column d --time 2020-01-01..",
                      "compare the cells of a family since a day");
  }

  // An interrupted call may fail with an error of its own.
  Status run(Session& session) override {
    const Status status = copy(session);
    if (status.ok() || status.is(Code::kAborted) || !interrupted()) return status;
    return interrupted_status(std::string(status.message())).hinting(status.hint());
  }

 private:
  // The state is read before TO is made: what is wrong with it must not leave an empty store.
  Status copy(Session& session) {
    CELLAR_TRY(check_arguments());
    const Progress clock(session, "copy", 0);
    CELLAR_TRY(open_from(session));
    tell_of_empty_range(session, plan_.scan);
    CELLAR_TRY_ASSIGN(CopyState state, CopyState::open(state_path(), request()));
    CELLAR_TRY(check_store_is_there(state));
    CELLAR_TRY(open_to(session));
    const std::string to_place = place_of(to_, *to_engine_);
    CELLAR_TRY(state.add_to_request("to", to_place));
    if (loads_.wanted()) {
      CELLAR_TRY_ASSIGN(place_, loads_.open_place(hash_of(request(), to_place), is_cluster(to_)));
    }
    Status status = copy_all(session, state);
    if (!status.ok() && has_begun(state)) session.talk("note   " + how_to_go_on(state));
    if (status.ok() && verify_ != "only") status = state.remove();
    if (status.ok()) report(session, clock.micros());
    const Status closed = close_both();
    return status.ok() ? closed : status;
  }

  Status check_store_is_there(const CopyState& state) const {
    std::error_code error;
    if (!state.was_there() || is_cluster(to_) ||
        std::filesystem::exists(std::filesystem::path(to_) / "CURRENT", error))
      return {};
    return Status::invalid_argument(
               fmt::format("the file tells how far a copy to {} is, and there is no store", shown_name(to_)))
        .at(state.path())
        .hinting("remove the file, and the copy begins again: rm " + shell_word(state.path()));
  }

  Status check_arguments() {
    from_kind_ = hbase_kind(from_);
    std::vector<std::string> once;  // a table that is named twice is copied once
    for (std::string& name : names_)
      if (std::ranges::find(once, name) == once.end()) once.push_back(std::move(name));
    names_ = std::move(once);
    CELLAR_TRY(loads_.check(is_cluster(to_), verify_ != "only"));
    CELLAR_TRY(take_batch());
    if (!as_.empty() && names_.size() != 1 && !of_files())
      return Status::invalid_argument("--as gives one table another name")
          .hinting("name the table: cellar copy FROM TO TABLE --as NAME");
    if (verify_ == "only" && (raw_ || into_existing_ || !state_.empty()))
      return Status::invalid_argument("--verify only copies nothing")
          .hinting("leave out --raw, --into-existing and --state");
    CELLAR_TRY(rows_.apply(plan_.scan));
    CELLAR_TRY(take_prefix());
    plan_.scan.raw(raw_).versions(UINT32_MAX);
    if (!raw_) return {};
    for (const std::string& column : rows_.read.columns)
      if (column.find(':') != std::string::npos)
        return Status::invalid_argument("--raw copies whole families: " + escaped(column) + " is a column")
            .hinting("leave out --raw, or name the family alone");
    return {};
  }

  // A load has a cost of its own, and its files are kept: a portion is larger than one of batches.
  Status take_batch() {
    constexpr uint64_t kLeast = 64u << 10;
    constexpr uint64_t kMost = 32u << 20;
    constexpr uint64_t kLoadLeast = 1u << 20;
    constexpr uint64_t kLoadMost = uint64_t{1} << 40;
    const bool loads = loads_.wanted();
    uint64_t bytes = loads ? uint64_t{2} << 30 : uint64_t{4} << 20;
    if (!batch_.empty()) {
      CELLAR_TRY_ASSIGN(bytes, for_argument("--batch", parse_size(batch_)));
    }
    if (bytes < (loads ? kLoadLeast : kLeast) || bytes > (loads ? kLoadMost : kMost))
      return Status::invalid_argument(loads ? "--batch: expected a size of files from 1m to 1t"
                                            : "--batch: expected a size from 64k to 32m");
    constexpr uint64_t kBatchesOfRange = 8;
    if (!loads) batch_bytes_ = bytes;
    plan_.portion_bytes = loads ? bytes : kBatchesOfRange * bytes;
    if (!loads) plan_.range_bytes = plan_.portion_bytes;
    return {};
  }

  // Replaces the prefix by the ends of a range, which ranges of rows can cut off.
  Status take_prefix() {
    Scan& scan = plan_.scan;
    const std::string prefix = scan.prefix();
    if (prefix.empty()) return {};
    if (!scan.stop().empty() || !(scan.start().empty() || scan.start().starts_with(prefix)))
      return Status::invalid_argument("--prefix, --start and --stop contradict each other")
          .hinting("give a --start that begins with the prefix, or leave out --prefix");
    const KeyRange range = keys_with_prefix(prefix);
    if (scan.start().empty()) scan.start(range.start);
    scan.prefix({}).stop(range.stop);
    return {};
  }

  Status open_from(Session& session) {
    if (of_files()) return open_files(session);
    CELLAR_TRY_ASSIGN(from_engine_, open_engine(session, from_, OpenFor::kLooking));
    from_place_ = place_of(from_, *from_engine_);
    return choose_tables(session);
  }

  bool of_files() const { return from_kind_ != HBaseKind::kNone; }

  // The directory is itself a table.
  Status open_files(Session& session) {
    if (!is_one_table(from_kind_))
      return Status::not_supported(
                 fmt::format("{} is {}, not a table", shown_name(from_), hbase_kind_name(from_kind_)))
          .hinting("name the directory of a table, ROOT/data/default/TABLE, or of a snapshot");
    CELLAR_TRY_ASSIGN(CopiedFiles files, open_copied_files(session, from_, from_kind_));
    const std::string& name = files.table->name();
    if (!names_.empty() && (names_.size() > 1 || names_[0] != name))
      return Status::invalid_argument(
                 fmt::format("{} is itself a table, {}", shown_name(from_), escaped(name)))
          .hinting("leave out TABLE; --as NAME gives the copy another name");
    from_place_ = std::move(files.place);
    from_starts_ = std::move(files.region_starts);
    return take_table(session, std::move(files.table));
  }

  // The servers' own tables are not copied.
  Status choose_tables(Session& session) {
    std::vector<std::string> names = names_;
    if (names.empty()) {
      names = from_engine_->list_tables();
      std::erase_if(names, [](const std::string& name) { return name.starts_with("hbase:"); });
    }
    if (names.empty())
      return Status::not_found(fmt::format("{} has no tables", shown_name(from_)))
          .hinting("cellar list shows the tables of a store or cluster");
    for (const std::string& name : names) {
      CELLAR_TRY_ASSIGN(std::shared_ptr<Table> table, open_table(session, *from_engine_, from_, name));
      CELLAR_TRY(take_table(session, std::move(table)));
    }
    return {};
  }

  Status take_table(Session& session, std::shared_ptr<Table> table) {
    CELLAR_TRY(check_columns(session, *table, rows_.read.columns));
    if (raw_) CELLAR_TRY(check_markers_fit(table->info().options));
    tables_.push_back(std::move(table));
    return {};
  }

  // FROM is open already: a mistake there must not leave an empty store here.
  Status open_to(Session& session) {
    if (hbase_kind(to_) != HBaseKind::kNone)
      return Status::not_supported(
                 fmt::format("{} holds HFiles: copy writes into a store or a running cluster",
                             shown_name(to_)))
          .hinting("cellar export STORE TABLE --to hfile -o DIR writes a table as HFiles");
    const bool writes = verify_ != "only";
    CELLAR_TRY_ASSIGN(to_engine_, open_engine(session, to_, writes ? OpenFor::kCreating : OpenFor::kLooking));
    plan_.compare_tags = !is_cluster(from_) && !is_cluster(to_);
    plan_.strict_versions = plan_.compare_tags;
    return {};
  }

  Status close_both() {
    tables_.clear();
    const Status closed = of_files() ? Status() : from_engine_->close();
    const Status other = to_engine_->close();
    return closed.ok() ? other : closed;
  }

  std::string state_path() const {
    if (!state_.empty() || is_cluster(to_) || verify_ == "only") return state_;
    const std::string path = without_slash(to_);
    const std::string name = std::filesystem::path(path).filename().string();
    if (name != "." && name != "..") return path + ".copy";
    std::error_code error;
    return without_slash(std::filesystem::weakly_canonical(path, error).string()) + ".copy";
  }

  // Times are those that were meant when the copy began: "now-7d" is another one an hour later.
  CopyRequest request() const {
    const Scan& scan = plan_.scan;
    return {{"from", from_place_},
            {"tables", text_of(names_)},
            {"as", as_},
            {"raw", raw_ ? "true" : "false"},
            {"into_existing", into_existing_ ? "true" : "false"},
            {"start", scan.start()},
            {"start_exclusive", scan.start_inclusive() ? "false" : "true"},
            {"stop", scan.stop()},
            {"stop_inclusive", scan.stop_inclusive() ? "true" : "false"},
            {"columns", text_of(rows_.read.columns)},
            {"times", fmt::format("{}..{}", scan.time_from(), scan.time_until())}};
  }

  bool has_begun(CopyState& state) const {
    return std::ranges::any_of(tables_, [&](const std::shared_ptr<Table>& table) {
      return state.of(table->name(), name_of_copy(*table)).cells > 0;
    });
  }
  std::string name_of_copy(const Table& table) const { return as_.empty() ? table.name() : as_; }

  static std::string how_to_go_on(const CopyState& state) {
    return state.is_kept()
               ? fmt::format("{} tells how far the copy is: run the same command to go on",
                             shown_name(state.path()))
               : "without --state nothing tells how far the copy is: --into-existing begins again";
  }

  // All tables are checked before the first cell is copied.
  Status copy_all(Session& session, CopyState& state) {
    if (verify_ != "only") {
      for (const std::shared_ptr<Table>& table : tables_)
        CELLAR_TRY(check_target(session, *table, state).status());
    }
    for (const std::shared_ptr<Table>& table : tables_) {
      CopiedTable& copied = copied_.emplace_back();
      CopyProgress& progress = state.of(table->name(), name_of_copy(*table));
      if (verify_ != "only") CELLAR_TRY(copy_table(session, *table, progress, state, copied));
      copied.progress = progress;
    }
    if (verify_ == "skip") return {};
    for (size_t i = 0; i < tables_.size(); ++i) CELLAR_TRY(verify_table(session, *tables_[i], copied_[i]));
    return {};
  }

  // Returns whether the table of the copy exists. A second call does and says no more than the first one.
  Result<bool> check_target(Session& session, Table& from, CopyState& state) {
    const TableInfo info = from.info();
    const std::string name = name_of_copy(from);
    CopyProgress& progress = state.of(from.name(), name);
    if (progress.from_id != 0 && progress.from_id != info.id)
      return Status::invalid_argument(
                 fmt::format("table {} is another one than that whose copy began", from.name()))
          .at(state.path())
          .hinting("remove the file, and the copy begins again: rm " + shell_word(state.path()));
    CELLAR_TRY_ASSIGN(const bool exists, has_table(*to_engine_, name));
    if (!exists) {
      if (progress.cells > 0) tell_of_new_beginning(session, name, "is gone");
      progress = {.table = from.name(), .as = name, .from_id = info.id};
      return false;
    }
    progress.from_id = info.id;
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, to_engine_->open_table(name));
    // Nothing of it was copied: another program may have made the table.
    if (progress.cells == 0 && progress.to_id != table->info().id) progress.created = false;
    if (progress.creates && !progress.created) {
      CELLAR_TRY_ASSIGN(progress.created, is_untouched(info.options, *table));
      progress.creates = progress.created;
    }
    if (!progress.created) CELLAR_TRY(check_existing(info.options, table->info().options, name));
    CELLAR_TRY(check_progress(session, info.options, *table, progress));
    return true;
  }

  Status check_existing(const TableOptions& from, const TableOptions& to, const std::string& name) const {
    if (!into_existing_) return refuse_existing(from, to, name);
    return raw_ ? check_markers_fit(to) : Status();
  }

  // The table may have lost what was copied. A copy that goes on in its middle would leave a gap.
  Status check_progress(Session& session, const TableOptions& from, Table& to, CopyProgress& progress) const {
    const uint32_t id = to.info().id;
    const bool another = progress.to_id != id;
    progress.to_id = id;
    if (progress.cells == 0) return {};
    CELLAR_TRY_ASSIGN(const bool holds_last, has_row(to, progress.last));
    if (!another && holds_last) return {};
    tell_of_new_beginning(session, to.name(), another ? "was made anew" : "lost rows that were copied");
    if (progress.created) CELLAR_TRY(unseal_copy(from, *to_engine_, to.name()));
    progress = {.table = progress.table,
                .as = progress.as,
                .from_id = progress.from_id,
                .to_id = id,
                .creates = progress.creates,
                .created = progress.created};
    return {};
  }

  static void tell_of_new_beginning(Session& session, const std::string& table, std::string_view why) {
    session.talk(fmt::format("note   table {} {}, and its copy begins again", table, why));
  }

  // The state tells that the copy makes a table before the table exists. So a table that another program
  // makes meanwhile is not taken for the copy's own.
  Result<std::shared_ptr<Table>> open_target(Session& session, Table& from, CopyProgress& progress,
                                             CopyState& state) {
    const TableOptions options = from.info().options;
    CELLAR_TRY_ASSIGN(const bool exists, check_target(session, from, state));
    if (exists) {
      if (loads_.cut_regions() && !progress.created)
        session.talk(fmt::format("note   table {} exists and keeps its own regions", progress.as));
      CELLAR_TRY(state.save());
      return open_copy(session, options, *to_engine_, progress.as, progress.created);
    }
    progress.creates = true;
    CELLAR_TRY(state.save());
    std::vector<std::string> splits;
    if (is_cluster(to_)) {
      CELLAR_TRY_ASSIGN(splits, loads_.splits_for(from, from_starts_));
    }
    CELLAR_TRY_ASSIGN(std::shared_ptr<Table> made, make_copy(options, *to_engine_, progress.as, splits));
    progress.created = true;
    progress.to_id = made->info().id;
    CELLAR_TRY(state.save());
    return made;
  }

  Status copy_table(Session& session, Table& from, CopyProgress& progress, CopyState& state,
                    CopiedTable& copied) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> to, open_target(session, from, progress, state));
    copied.resumed = progress.done || !progress.next.empty();
    if (copied.resumed)
      session.talk(fmt::format("note   {}: {} were copied before, going on {}", progress.table,
                               counted(progress.rows, "row"),
                               progress.done ? "after the last row" : "at row " + escaped(progress.next)));
    if (!progress.done) {
      CELLAR_TRY_ASSIGN(const std::unique_ptr<CopySink> sink, make_sink(session, to));
      const Status status = copy_cells(session, from, plan_, *sink, progress, [&] { return state.save(); });
      // The write's own hint is to read the row first. A copy may write it again.
      if (status.is(Code::kDurabilityUnknown))
        return Status::with_code(status.code(), std::string(status.message())).hinting(how_to_go_on(state));
      CELLAR_TRY(status);
    }
    return progress.created ? seal_copy(from.info().options, *to_engine_, progress.as) : Status();
  }

  Result<std::unique_ptr<CopySink>> make_sink(Session& session, const std::shared_ptr<Table>& to) {
    if (place_ != nullptr) return make_load_sink(session, *to, *place_);
    if (is_cluster(to_)) return make_cluster_sink(to, batch_bytes_);
    return make_store_sink(*to_engine_, to, batch_bytes_);
  }

  Status verify_table(Session& session, Table& from, CopiedTable& copied) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> to,
                      open_table(session, *to_engine_, to_, name_of_copy(from)));
    CELLAR_TRY(check_families(session, from.info().options, *to_engine_, *to, rows_.read.columns));
    CELLAR_TRY_ASSIGN(copied.comparison, compare_tables(session, from, *to, plan_));
    if (copied.comparison->different > 0) session.answer_negative();
    return {};
  }

  void report(Session& session, int64_t micros) const {
    if (session.format() == Format::kJson) {
      Json tables = Json::array();
      for (const CopiedTable& each : copied_) tables.push_back(json_of(each));
      session.out().write(
          Json{{"schema", "cellar.copy/1"}, {"tables", std::move(tables)}, {"micros", micros}}.dump(2) +
          "\n");
      return;
    }
    for (const CopiedTable& each : copied_) {
      if (!each.comparison) continue;
      for (const RangeDifference& range : each.comparison->differences)
        session.out().write(
            fmt::format("differs  {}{}  {}\n", each.progress.table, words_of_range(range), counts_of(range)));
    }
    session.out().flush();
    for (const CopiedTable& each : copied_) tell(session, each);
    session.talk(fmt::format("took {}", human_micros(micros)));
  }

  // Returns the options of a command that copies the range again.
  std::string words_of_range(const RangeDifference& range) const {
    std::string words = " ";
    const auto add = [&](std::string_view option, std::string_view value) {
      words += fmt::format(" {} {}", option, shell_word(value));
    };
    if (!range.start.empty()) add("--start", escaped(range.start));
    if (!range.start_inclusive) words += " --start-exclusive";
    if (!range.stop.empty()) add("--stop", escaped(range.stop));
    if (range.stop_inclusive) words += " --stop-inclusive";
    for (const std::string& column : rows_.read.columns) add("--column", column);
    if (rows_.read.time) add("--time", words_of_time(plan_.scan));
    if (!as_.empty()) add("--as", as_);
    return words + (raw_ ? " --raw" : "") + " --into-existing";
  }

  // The times that were meant when the command began.
  static std::string words_of_time(const Scan& scan) {
    const bool open = scan.time_until() == Scan().time_until();
    return fmt::format("{}ms..{}", scan.time_from(), open ? "" : fmt::format("{}ms", scan.time_until()));
  }

  void tell(Session& session, const CopiedTable& table) const {
    const std::string& name = table.progress.table;
    if (verify_ != "only")
      session.talk(fmt::format("copied {} with {} ({}) of {}{}", counted(table.progress.rows, "row"),
                               counted(table.progress.cells, "cell"), human_bytes(table.progress.bytes), name,
                               table.progress.as == name ? "" : " as " + table.progress.as));
    if (table.progress.tags_left_out > 0)
      session.talk(fmt::format("warn   {} of {} lost tags, which a cluster takes only as times to live",
                               counted(table.progress.tags_left_out, "cell"), name));
    if (!table.comparison) return;
    const CopyComparison& compared = *table.comparison;
    session.talk(compared.different == 0
                     ? fmt::format("compared {} with {} of {}: they are equal", counted(compared.rows, "row"),
                                   counted(compared.cells, "cell"), name)
                     : fmt::format("compared {}: differences in {} of {}", name,
                                   human_count(compared.different), counted(compared.ranges, "range")));
    if (compared.surplus > 0)
      session.talk(
          fmt::format("note   {} with more cells in {} than in {}: a copy removes no cells, cellar "
                      "deleteall does",
                      counted(compared.surplus, "range"), shown_name(to_), shown_name(from_)));
  }

  std::string from_;
  HBaseKind from_kind_ = HBaseKind::kNone;  // of a directory of HFiles
  std::string from_place_;
  std::string to_;
  std::vector<std::string> names_;
  std::string as_;
  bool raw_ = false;
  bool into_existing_ = false;
  std::string verify_;
  std::string state_;
  std::string batch_;
  CopyLoads loads_;
  ScanOptions rows_;
  uint64_t batch_bytes_ = 0;
  CopyPlan plan_;
  std::vector<std::string> from_starts_;  // of the regions, for HFiles
  std::unique_ptr<Engine> from_engine_;   // null for HFiles
  std::unique_ptr<Engine> to_engine_;
  std::unique_ptr<LoadPlace> place_;            // of files to load, or null
  std::vector<std::shared_ptr<Table>> tables_;  // of FROM
  std::vector<CopiedTable> copied_;             // in the same order
};

}  // namespace

CELLAR_PLUGIN(Command, tools_transfer_cmd_copy, "copy", CopyCommand)

}  // namespace cellar
