// cellar second-table: the rows of a table in a second order, which the engine keeps.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/engine.h"
#include "tools/frame/command.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

class SecondTableCommand final : public Command {
 public:
  explicit SecondTableCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override {
    return "Keep a table's rows in a second order: create, build, verify, list";
  }

  void declare(Arguments& arguments) override {
    arguments.operand("ACTION", action_, "create, build, verify or list")
        .operand("STORE", store_, "directory of the store")
        .optional_operand("TABLE", table_, "name of the second table; required except for list")
        .optional_operand("SOURCE", source_, "the table whose rows it has; for create")
        .option("--key", key_, "PARTS", "what its keys are made of: d:mail, row; for create")
        .option("--columns", columns_, "COLUMNS",
                "columns and families that it copies: d:name, e; for create")
        .formats({"table", "json", "jsonl", "csv"})
        .note(
            "create  makes the table and builds it. From then on each write to SOURCE writes to both.\n"
            "build   goes on with a build that was interrupted\n"
            "verify  compares all rows of both tables; exit code 1 if they differ\n"
            "list    shows all second tables\n"
            "A part of the key is row, row[4:12], FAMILY:QUALIFIER (its value) or FAMILY:* (each "
            "qualifier),\n"
            "with a form (text, blob, int64, raw) and desc after it. The family row of a second table holds\n"
            "the row of SOURCE. `cellar drop` removes a second table.")
        .example("cellar second-table create shop by_mail orders --key 'd:mail, row' --columns d:name",
                 "find the rows of orders by a mail address")
        .example("cellar second-table verify shop by_mail", "compare all of its rows with those of orders")
        .more_example("cellar scan shop by_mail --key mail=user42@example.org", "who has this address");
  }

  Status run(Session& session) override {
    const std::vector<std::string> actions = {"create", "build", "verify", "list"};
    if (std::ranges::find(actions, action_) == actions.end()) return unknown_action(action_, actions);
    if (action_ == "list") return list(session);
    if (table_.empty()) return usage("TABLE is missing", "cellar second-table list STORE shows them");
    if (action_ == "create" && (source_.empty() || key_.empty()))
      return usage("create needs a source and --key",
                   "cellar second-table create STORE TABLE SOURCE --key 'd:mail, row'");
    if (action_ != "create" && !(source_ + key_ + columns_).empty())
      return usage(action_ + " takes a store and a table alone");
    const OpenFor how = action_ == "verify" ? OpenFor::kLooking : OpenFor::kWriting;
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_engine(session, store_, how));
    if (action_ == "verify") return verify(session, *engine);
    if (action_ == "create")
      CELLAR_TRY(engine->create_second_table(table_, {source_, key_, columns_}).status());
    const Status built = build(session, *engine);
    // A table that cannot be built does not stay. After an interrupt `build` goes on.
    if (!built.ok() && !interrupted() && action_ == "create") CELLAR_TRY(engine->drop_table(table_));
    CELLAR_TRY(built);
    return engine->close();
  }

 private:
  Status build(Session& session, Engine& engine) {
    uint64_t rows = 0;
    {
      Progress progress(session, "building " + table_);
      const auto on_way = [&](uint64_t done) {
        progress.show({.cells = rows = done});
        return !interrupted();
      };
      const Status built = engine.build_second_table(table_, on_way);
      if (built.is(Code::kAborted) && interrupted())
        return interrupted_status("`cellar second-table build` begins the build again");
      CELLAR_TRY(built);
    }
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine.open_table(table_));
    if (session.format() != Format::kTable) print(session, {table});
    session.talk(rows == 0 ? fmt::format("second table {} is built", table_)
                           : fmt::format("built second table {} from {}", table_, counted(rows, "row")));
    return {};
  }

  static Status usage(std::string text, std::string hint = {}) {
    return Status::invalid_argument(std::move(text)).hinting(std::move(hint));
  }

  // Prints those of the tables that are second ones.
  static void print(Session& session, const std::vector<std::shared_ptr<Table>>& tables) {
    Records records(session.out(), session.format(), "cellar.second_tables/1", "second_tables");
    for (const std::shared_ptr<Table>& table : tables) {
      const std::optional<SecondTable> second = table->info().second;
      if (!second) continue;
      records.text("table", table->name()).text("source", second->of).text("key", second->key);
      records.text("columns", second->columns).text("state", second->built ? "built" : "not built");
      records.add();
    }
    records.finish();
  }

  Status list(Session& session) {
    if (!(table_ + source_ + key_ + columns_).empty()) return usage("list takes a store alone");
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_engine(session, store_, OpenFor::kLooking));
    std::vector<std::shared_ptr<Table>> tables;
    for (const std::string& name : engine->list_tables())
      if (auto table = engine->open_table(name); table.ok())
        tables.push_back(*table);  // or dropped meanwhile
    print(session, tables);
    return engine->close();
  }

  Result<SecondTableCheck> compare(Session& session, Engine& engine) {
    Progress progress(session, "verifying " + table_);
    const auto on_way = [&](uint64_t rows) {
      progress.show({.cells = rows});
      return !interrupted();
    };
    auto check = engine.verify_second_table(table_, on_way);
    if (!check.ok() && interrupted()) return interrupted_status("nothing was changed");
    return check;
  }

  Status verify(Session& session, Engine& engine) {
    CELLAR_TRY_ASSIGN(const SecondTableCheck check, compare(session, engine));
    Records records(session.out(), session.format(), "cellar.second_table_check/1", "checks");
    records.text("table", table_).count("source_rows", check.source_rows).count("keys", check.keys);
    records.count("missing", check.missing).count("differing", check.differing);
    records.count("surplus", check.surplus);
    records.add();
    records.finish();
    for (const std::string& example : check.examples) session.talk("note   " + example);
    if (!check.agrees()) session.answer_negative();
    return engine.close();
  }

  std::string action_;
  std::string store_;
  std::string table_;
  std::string source_;
  std::string key_;
  std::string columns_;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_store_cmd_second_table, "second-table", SecondTableCommand)

}  // namespace cellar
