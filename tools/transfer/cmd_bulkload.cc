// cellar bulkload: a directory of HFiles: will HBase take it, how, and into a store of Cellar's.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/hbase/hfile_paths.h"
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
  std::string_view summary() const override {
    return "HFiles laid out for a bulk load: check them, plan the load into HBase, or ingest them";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "check, plan or ingest")
        .operand("DIR", directory_, "a directory of <family>/<file>")
        .optional_operand("STORE", store_, "ingest: the store that takes the files")
        .optional_operand("TABLE", table_, "ingest: its table")
        .option("--table", planned_table_, "TABLE", "plan: the table in HBase")
        .option("--splits", splits_, "FILE", "check, plan: where its regions begin, a row key a line")
        .option("--describe", describe_, "FILE", "check: what HBase's shell prints for describe 'TABLE'")
        .option("--staging", staging_, "PATH", "plan: where the files go first (/staging/TABLE)")
        .choice("--level", level_, {"deep", "cells"}, "check, ingest: how thoroughly files are verified")
        .choice("--by", by_, {"link", "copy", "move"},
                "ingest: a hard link where possible, or a copy; move removes DIR's")
        .flag("--create", create_,
              "ingest: make store, table and families that are missing, as the files are")
        .formats({"table", "json"})
        .note(
            "check   one line a rule: ok, note, warn or FAIL; exit status 1 when one FAILs\n"
            "plan    the commands that create the table, copy the files and load them\n"
            "ingest  adopts the files as one write, all or none\n"
            "plan and ingest --create take the schema that export wrote beside the files, else that of the\n"
            "HBase table of the region, else what the files show: VERSIONS is then the most of any column")
        .example("cellar bulkload check load --splits splits.txt --describe table.txt --level deep",
                 "would HBase take these files into that table, and are they sound?")
        .example("cellar bulkload plan load --table orders --splits splits.txt --staging /tmp/orders",
                 "the commands that bring them into HBase, by way of a directory of HDFS")
        .more_example("cellar bulkload ingest load copy orders --create",
                      "into a new store, with the families that the files show")
        .more_example("cellar bulkload ingest load shop orders --by copy --level cells",
                      "into a table that is there, leaving the files as they are, once every cell was read");
  }

  Status run(Session& session) override {
    directory_ = without_slash(directory_);
    if (action_ == "check") return check(session);
    if (action_ == "plan") return plan(session);
    if (action_ == "ingest") return ingest(session);
    return unknown_action(action_, {"check", "plan", "ingest"});
  }

 private:
  Status only(std::initializer_list<std::pair<const char*, bool>> unfit) const {
    for (const auto& [name, given] : unfit)
      if (given) return Status::invalid_argument(fmt::format("{} is not for bulkload {}", name, action_));
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
    session.talk(failures > 0 ? fmt::format("HBase would not load this as it is meant: {} failed",
                                            counted(failures, "rule"))
                              : fmt::format("{} → {}", counted(warnings, "warning"), next));
  }

  Status plan(Session& session) {
    CELLAR_TRY(only({{"STORE", !store_.empty()},
                     {"--describe", !describe_.empty()},
                     {"--create", create_},
                     {"--by", by_ != "link"}}));
    if (planned_table_.empty()) return Status::invalid_argument("--table is missing");
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
    CELLAR_TRY(only({{"--table", !planned_table_.empty()},
                     {"--describe", !describe_.empty()},
                     {"--splits", !splits_.empty()},
                     {"--staging", !staging_.empty()}}));
    if (store_.empty() || table_.empty()) return Status::invalid_argument("STORE and TABLE are missing");
    CELLAR_TRY_ASSIGN(const BulkFiles found, find_bulk_files(directory_));
    say_strays(session, found);
    if (found.files.empty())
      return Status::not_found("there is no file below " + shown_name(directory_) + "/<family>");
    for (const BulkFile& file : found.files) CELLAR_TRY(open_hfile(session, file.path).status());
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine,
                      open_store(session, store_, create_ ? OpenFor::kCreating : OpenFor::kWriting));
    bool made_table = false;
    if (create_) CELLAR_TRY(make_missing(session, *engine, found, made_table));
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(session, *engine, store_, table_));
    const Status taken = take_in(session, *table, found);
    if (!taken.ok()) {
      if (made_table) static_cast<void>(engine->drop_table(table_).ok());  // as if nothing had been asked for
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
      session.talk("note   READONLY is left out, for the table takes files: cellar alter sets it again");
    }
    return std::move(options);
  }

  // The table, or families of it.
  Status make_missing(Session& session, Engine& engine, const BulkFiles& found, bool& made_table) const {
    CELLAR_TRY_ASSIGN(const TableOptions options, options_for(session, found));
    const std::vector<std::string> names = engine.list_tables();
    if (std::ranges::find(names, table_) == names.end()) {
      CELLAR_TRY(engine.create_table(table_, options).status());
      made_table = true;
      session.talk(fmt::format(
          "created table {} with {}", table_,
          options.families.size() == 1 ? "1 family" : fmt::format("{} families", options.families.size())));
      return {};
    }
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

  Status take_in(Session& session, Table& table, const BulkFiles& found) const {
    IngestRequest request;
    for (const BulkFile& file : found.files) {
      CELLAR_TRY(check_family(session, table, file.family));
      request.files.push_back({file.family, file.path});
    }
    request.by = by_ == "copy" ? IngestBy::kCopy : by_ == "move" ? IngestBy::kMove : IngestBy::kLink;
    request.verify = level_ == "deep" ? HFileCheckLevel::kDeep : HFileCheckLevel::kCells;
    Progress progress(session, "ingest " + shown_name(directory_), 0);
    request.progress = [&](uint64_t, uint64_t bytes) {
      progress.show(bytes, 0);
      return !interrupted();
    };
    auto done = table.ingest(request);
    if (!done.ok()) {
      if (interrupted()) return interrupted_status("nothing was taken in");
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
    for (const IngestedFile& file : done.files) {
      linked += file.linked ? 1 : 0;
      records.bytes("source", file.source)
          .text("family", file.family)
          .text("file", file.name)
          .count("cells", file.cells)
          .size("bytes", file.bytes)
          .text("by", file.linked ? "link" : "copy")
          .add();
    }
    records.count("cells", done.cells).count("sequence", done.sequence).finish();
    session.out().flush();
    for (const std::string& path : done.empty)
      session.talk(fmt::format("note   left out, it has no cells: {}", path));
    for (const IngestTie& tie : done.ties)
      session.talk(
          fmt::format("warn   {} and {} hold different cells at {}, and nothing says which is newer: the "
                      "first one's count",
                      escaped(tie.winner), escaped(tie.loser), tie.cell));
    for (const std::string& path : done.remained)
      session.talk(fmt::format("warn   could not be removed: {}", path));
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
