// cellar bulkload: a directory of HFiles: will HBase take it, how, and into a store of Cellar's.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/frame/help.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"
#include "tools/store/region_splits.h"
#include "tools/store/row_splits.h"
#include "tools/store/store.h"
#include "tools/transfer/bulk_check.h"
#include "tools/transfer/bulk_files.h"
#include "tools/transfer/bulk_plan.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFindingsShown = 5;  // of a rule, for people

std::string text_of(const BulkRule& rule) {
  if (rule.findings.empty()) return fmt::format("ok    {:<11} {}\n", rule.name, rule.text);
  std::string text;
  for (size_t i = 0; i < std::min(rule.findings.size(), kFindingsShown); ++i) {
    const BulkFinding& finding = rule.findings[i];
    text += fmt::format("{:<5} {:<11} {}{}{}\n", bulk_level_name(finding.level), i == 0 ? rule.name : "",
                        shown_name(finding.path), finding.path.empty() ? "" : ": ", finding.text);
  }
  if (rule.findings.size() > kFindingsShown)
    text += fmt::format("{:<17} … and {} more\n", "", human_count(rule.findings.size() - kFindingsShown));
  return text;
}

Json json_of(const BulkRule& rule) {
  Json json = {
      {"rule", rule.name}, {"level", lower_ascii(bulk_level_name(rule.level()))}, {"text", rule.text}};
  json["findings"] = Json::array();
  for (const BulkFinding& finding : rule.findings)
    json["findings"].push_back({{"level", lower_ascii(bulk_level_name(finding.level))},
                                {"path", escaped(finding.path)},
                                {"text", finding.text}});
  return json;
}

class BulkloadCommand final : public Command {
 public:
  explicit BulkloadCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kMove; }
  bool takes_clusters() const override { return true; }
  std::string_view summary() const override {
    return "Check HFiles for a bulk load, plan the load into HBase, or load them";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "check, plan or ingest")
        .operand("DIR", directory_, "a directory of <family>/<file>")
        .optional_operand("STORE", store_, "ingest: the store, or a cluster: hbase://MASTER:PORT")
        .optional_operand("TABLE", table_, "ingest: the table")
        .option("--table", planned_table_, "TABLE", "plan: the table in HBase")
        .option("--splits", splits_, "FILE",
                "first rows of its regions, one row key per line; ingest: with --create in a cluster")
        .option("--describe", describe_, "FILE", "check: what HBase's shell prints for describe 'TABLE'")
        .option("--staging", staging_, "PATH",
                "plan: directory of HDFS for the files (/staging/TABLE); ingest: where a cluster finds them "
                "(DIR)")
        .choice("--level", level_, {"deep", "cells"}, "check, ingest: how thoroughly files are verified")
        .choice(
            "--by", by_, {"link", "copy", "move"},
            "ingest: link: hard links where possible, copies in a cluster; move removes the files from DIR")
        .flag("--create", create_, "ingest: create the store, table and families if they do not exist")
        .formats({"table", "json"})
        .note(
            "check   prints one line per rule: ok, note, warn or FAIL; exit status 1 if one FAILs\n"
            "plan    prints the commands that create the table, copy the files and load them\n"
            "ingest  adopts all files atomically, in a single write; a cluster does so region by region,\n"
            "        and each file must lie in one region of it\n"
            "plan and ingest --create use the schema that export wrote next to the files, or else that of\n"
            "the HBase table, or else derive it from the files: VERSIONS is then the most of any column")
        .example("cellar bulkload check load --splits splits.txt --describe table.txt --level deep",
                 "would HBase load these files into that table, and are they undamaged?")
        .example("cellar bulkload plan load --table orders --splits splits.txt --staging /tmp/orders",
                 "the commands that load the files into HBase through a directory of HDFS")
        .more_example("cellar bulkload ingest load copy orders --create",
                      "into a new store, with the families of the files")
        .more_example("cellar bulkload ingest load shop orders --by copy --level cells",
                      "copy the files into an existing table, after every cell was checked");
  }

  Status run(Session& session) override {
    if (is_cluster(directory_)) return cluster_refusal(directory_);
    directory_ = without_slash(directory_);
    if (action_ == "check") return check(session);
    if (action_ == "plan") return plan(session);
    if (action_ == "ingest") return ingest(session);
    return unknown_action(action_, {"check", "plan", "ingest"});
  }

 private:
  Status only(std::initializer_list<std::pair<const char*, bool>> unfit) const {
    for (const auto& [name, given] : unfit)
      if (given)
        return Status::invalid_argument(fmt::format("bulkload {1} does not take {0}", name, action_));
    return {};
  }

  Status check(Session& session) {
    CELLAR_TRY(only({{"STORE", !store_.empty()},
                     {"--table", !planned_table_.empty()},
                     {"--create", create_},
                     {"--staging", !staging_.empty()},
                     {"--by", by_ != "link"}}));
    BulkCheckOptions options;
    parse_verify_level(level_, options.level);
    if (!splits_.empty()) {
      CELLAR_TRY_ASSIGN(options.splits, RowSplits::read(splits_));
    }
    if (!describe_.empty()) {
      CELLAR_TRY_ASSIGN(options.table, read_description(describe_));
    }
    CELLAR_TRY_ASSIGN(const BulkCheck checked, BulkCheck::run(session, directory_, options));
    print(session, checked);
    if (checked.count(BulkLevel::kFail) > 0) session.answer_negative();
    return {};
  }

  void print(Session& session, const BulkCheck& checked) const {
    if (session.format() == Format::kJson) {
      uint64_t cells = 0;
      Json rules = Json::array();
      for (const BulkRule& rule : checked.rules()) rules.push_back(json_of(rule));
      for (const BulkFacts& file : checked.files()) cells += file.census.cells;
      session.out().write(Json{{"schema", "cellar.bulkload/1"},
                               {"directory", escaped(directory_)},
                               {"files", checked.files().size()},
                               {"cells", cells},
                               {"loads", checked.count(BulkLevel::kFail) == 0},
                               {"rules", std::move(rules)}}
                              .dump(2) +
                          "\n");
      return;
    }
    for (const BulkRule& rule : checked.rules()) session.out().write(text_of(rule));
    session.out().flush();
    const size_t failures = checked.count(BulkLevel::kFail);
    const size_t warnings = checked.count(BulkLevel::kWarn);
    const std::string next = fmt::format("cellar bulkload plan {} --table TABLE", shown_name(directory_));
    session.talk(failures > 0 ? fmt::format("HBase would not load these files correctly: {} failed",
                                            counted(failures, "rule"))
                              : fmt::format("{} → {}", counted(warnings, "warning"), next));
  }

  Status plan(Session& session) {
    CELLAR_TRY(only({{"STORE", !store_.empty()},
                     {"--describe", !describe_.empty()},
                     {"--create", create_},
                     {"--by", by_ != "link"}}));
    if (planned_table_.empty())
      return Status::invalid_argument("--table is missing").hinting("--table NAME is the table in HBase");
    CELLAR_TRY(RowSplits::read(splits_).status());
    CELLAR_TRY_ASSIGN(const BulkFiles found, find_bulk_files(directory_));
    say_strays(session, found);
    CELLAR_TRY_ASSIGN(const BulkSummary summary, summarise(session, found));
    std::string path = planned_table_;
    std::ranges::replace(path, ':', '/');  // a namespace is a directory in HBase as well
    const BulkRecipe recipe{directory_, planned_table_, staging_.empty() ? "/staging/" + path : staging_,
                            splits_};
    CELLAR_TRY_ASSIGN(const BulkSchema schema, find_bulk_schema(session, directory_, summary));
    CELLAR_TRY_ASSIGN(const std::string text, recipe_text(recipe, schema, summary));
    if (session.format() == Format::kJson) {
      session.out().write(Json{{"schema", "cellar.bulkload.plan/1"},
                               {"directory", escaped(directory_)},
                               {"table", planned_table_},
                               {"schema_from", bulk_schema_source_name(schema.source)},
                               {"files", summary.files},
                               {"cells", summary.cells},
                               {"rows", summary.rows},
                               {"script", text}}
                              .dump(2) +
                          "\n");
    } else {
      session.out().write(text);
    }
    return {};
  }

  void say_strays(Session& session, const BulkFiles& found) const {
    for (const BulkStray& stray : found.strays)
      session.talk(fmt::format("{}   left out: {} {}", stray.matters ? "warn" : "note",
                               shown_name(stray.path), stray.why));
  }

  Status ingest(Session& session) {
    CELLAR_TRY(only(
        {{"--table", !planned_table_.empty()},
         {"--describe", !describe_.empty()},
         {"--splits without --create", !splits_.empty() && !create_},
         {"--splits into a store, whose tables have one region", !splits_.empty() && !is_cluster(store_)},
         {"--staging into a store", !staging_.empty() && !is_cluster(store_)}}));
    if (store_.empty() || table_.empty())
      return Status::invalid_argument(store_.empty() ? "STORE and TABLE are missing" : "TABLE is missing")
          .hinting("usage: cellar bulkload ingest DIR STORE TABLE");
    CELLAR_TRY_ASSIGN(const RowSplits splits, RowSplits::read(splits_));
    CELLAR_TRY_ASSIGN(const BulkFiles found, find_bulk_files(directory_));
    say_strays(session, found);
    if (found.files.empty())
      return Status::not_found("no files below " + shown_name(directory_) + "/<family>");
    for (const BulkFile& file : found.files) CELLAR_TRY(open_hfile(session, file.path).status());
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_engine(session, store_, create_ ? OpenFor::kCreating : OpenFor::kWriting));
    bool made_table = false;
    if (create_) CELLAR_TRY(make_missing(session, *engine, found, splits.rows(), made_table));
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(session, *engine, store_, table_));
    const Status taken = take_in(session, *table, found);
    if (!taken.ok()) {
      // As if nothing had been asked for. Some regions of a cluster may have their files.
      if (made_table && !is_cluster(store_)) static_cast<void>(engine->drop_table(table_).ok());
      return taken;
    }
    return engine->close();
  }

  // The options of the table from which the files came, or such that keep everything the files hold.
  Result<TableOptions> options_for(Session& session, const BulkFiles& found) const {
    CELLAR_TRY_ASSIGN(const BulkSummary summary, summarise(session, found));
    CELLAR_TRY_ASSIGN(BulkSchema schema, find_bulk_schema(session, directory_, summary));
    TableOptions& options = schema.options;
    if (schema.source == BulkSchema::Source::kFiles) {
      for (const auto& [name, family] : summary.families) {
        CELLAR_TRY_ASSIGN(FamilyOptions each, family_for(name, family));
        options.families.push_back(std::move(each));
      }
    }
    if (options.read_only) {
      options.read_only = false;
      session.talk(
          "note   READONLY is left out so that the table can ingest files: cellar alter sets it again");
    }
    return std::move(options);
  }

  // The table, or families of it.
  Status make_missing(Session& session, Engine& engine, const BulkFiles& found,
                      const std::vector<std::string>& splits, bool& made_table) const {
    CELLAR_TRY_ASSIGN(const TableOptions options, options_for(session, found));
    const std::vector<std::string> names = engine.list_tables();
    if (std::ranges::find(names, table_) == names.end()) {
      CELLAR_TRY(engine.create_table(table_, options, splits).status());
      made_table = true;
      session.talk(fmt::format("created table {} with {}{}", table_,
                               counted(options.families.size(), "family"), regions_text(splits)));
      return {};
    }
    if (!splits.empty())
      session.talk(
          fmt::format("note   --splits has no effect: table {} exists with its own regions", table_));
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine.open_table(table_));
    const TableInfo info = table->info();
    for (const FamilyOptions& family : options.families) {
      const auto same = [&](const FamilyInfo& each) { return each.options.name == family.name; };
      if (std::ranges::any_of(info.families, same)) continue;
      CELLAR_TRY(engine.alter_family(table_, family));
      session.talk(fmt::format("added family {}", escaped(family.name)));
    }
    return {};
  }

  // A cluster has no directory to which a path could be relative.
  std::string path_for_engine(const BulkFile& file) const {
    std::error_code unknown;
    const std::filesystem::path path = std::filesystem::absolute(file.path, unknown).lexically_normal();
    return is_cluster(store_) && !unknown ? path.string() : file.path;
  }

  Status take_in(Session& session, Table& table, const BulkFiles& found) const {
    IngestRequest request;
    for (const BulkFile& file : found.files) {
      CELLAR_TRY(check_family(session, table, file.family));
      request.files.push_back({file.family, path_for_engine(file)});
    }
    request.servers_directory = staging_;
    request.copy = by_ == "copy";
    request.move = by_ == "move";
    request.verify = level_ == "deep" ? HFileCheckLevel::kDeep : HFileCheckLevel::kCells;
    uint64_t bytes = 0;
    for (const BulkFile& file : found.files) {
      std::error_code unknown;
      const uintmax_t size = std::filesystem::file_size(file.path, unknown);
      bytes += unknown ? 0 : size;
    }
    Progress progress(session, "ingest " + shown_name(directory_), bytes);
    request.progress = [&](uint64_t, uint64_t bytes_done) {
      progress.show(bytes_done, 0);
      return !interrupted();
    };
    auto done = table.ingest(request);
    if (!done.ok()) {
      if (interrupted()) return interrupted_status("nothing was ingested");
      return done.status().is(Code::kCorruption)
                 ? session.name_failure("CEL-CORRUPTION", Exit::kNegative, done.status())
                 : done.status();
    }
    print(session, *done);
    return {};
  }

  void print(Session& session, const IngestInfo& done) const {
    Records records(session.out(), session.format(), "cellar.bulkload.ingest/1", "files");
    uint64_t linked = 0;
    for (const IngestFile& file : done.files) {
      linked += file.linked ? 1 : 0;
      records.bytes("source", file.path)
          .text("family", file.family)
          .text("file", file.name)
          .count("cells", file.cells)
          .size("bytes", file.bytes)
          .text("by", file.linked                           ? "link"
                      : is_cluster(store_) && by_ == "move" ? "move"
                                                            : "copy")
          .add();
    }
    records.count("cells", done.cells).count("sequence", done.sequence).finish();
    session.out().flush();
    for (const std::string& path : done.empty)
      session.talk(fmt::format("note   left out, because it has no cells: {}", path));
    for (const IngestTie& tie : done.ties)
      session.talk(
          fmt::format("warn   {} and {} hold different cells at {}, and neither is known to be newer: the "
                      "cells of the first are used",
                      escaped(tie.winner), escaped(tie.loser), tie.cell));
    for (const std::string& path : done.remained)
      session.talk(fmt::format("warn   could not be removed: {}", path));
    if (is_cluster(store_))
      return session.talk(fmt::format("loaded {} in {} in {}", counted(done.cells, "cell"),
                                      counted(done.files.size(), "file"), human_micros(done.micros)));
    session.talk(fmt::format("ingested {} in {} ({} linked, {} copied) as write {} in {}",
                             counted(done.cells, "cell"), counted(done.files.size(), "file"), linked,
                             done.files.size() - linked, done.sequence, human_micros(done.micros)));
  }

  std::string action_;
  std::string directory_;
  std::string store_;
  std::string table_;
  std::string planned_table_;
  std::string splits_;
  std::string describe_;
  std::string staging_;
  std::string level_;
  std::string by_;
  bool create_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_transfer_cmd_bulkload, "bulkload", BulkloadCommand)

}  // namespace cellar
