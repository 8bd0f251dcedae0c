// cellar describe: tables, families, options and files.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/text_printer.h"
#include "cellar/engine.h"
#include "tools/command.h"
#include "tools/store.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const StoreFileInfo& file) {
  return Json{{"name", file.name},
              {"bytes", file.bytes},
              {"cells", file.cells},
              {"deletes", file.deletes},
              {"first_row", escaped(file.first_row)},
              {"last_row", escaped(file.last_row)},
              {"time_min", file.time_min},
              {"time_max", file.time_max},
              {"sequence_max", file.sequence_max},
              {"major", file.major},
              {"created_ms", file.created_ms}};
}

Json json_of(const TableInfo& table) {
  Json families = Json::array();
  for (const FamilyInfo& family : table.families) {
    Json options = Json::object();
    for (const auto& [name, value] : option_list(family.options)) options[name] = value;
    Json files = Json::array();
    for (const StoreFileInfo& file : family.files) files.push_back(json_of(file));
    families.push_back(Json{{"name", family.options.name},
                            {"id", family.id},
                            {"options", std::move(options)},
                            {"memtables", family.memtables},
                            {"memtable_cells", family.memtable_cells},
                            {"memtable_bytes", family.memtable_bytes},
                            {"files", std::move(files)}});
  }
  return Json{{"name", table.name},
              {"id", table.id},
              {"durability", table.durability ? std::string(durability_name(*table.durability)) : "default"},
              {"families", std::move(families)}};
}

std::string range_text(const StoreFileInfo& file) {
  return escaped(file.first_row) + " … " + escaped(file.last_row);
}

// All options, some to a line.
std::string options_text(const FamilyOptions& family) {
  std::string text;
  size_t column = 0;
  for (const auto& [name, value] : option_list(family)) {
    const std::string option = fmt::format("{}={}", name, value);
    constexpr size_t kColumns = 80;
    if (column > 0) text += column + option.size() > kColumns ? ",\n               " : ", ";
    column = column + option.size() > kColumns ? option.size() : column + option.size() + 2;
    text += option;
  }
  return text;
}

std::string text_of(const TableInfo& table, bool with_files) {
  std::string text = fmt::format("table {}\n", table.name);
  for (const FamilyInfo& family : table.families) {
    uint64_t bytes = 0;
    uint64_t cells = 0;
    for (const StoreFileInfo& file : family.files) {
      bytes += file.bytes;
      cells += file.cells;
    }
    text +=
        fmt::format("\n  family {}\n    options    {}\n", family.options.name, options_text(family.options));
    text += fmt::format("    on disk    {}, {}, {}\n", counted(family.files.size(), "file"),
                        counted(cells, "cell"), human_bytes(bytes));
    text += fmt::format("    in memory  {}, {}\n", counted(family.memtable_cells, "cell"),
                        human_bytes(family.memtable_bytes));
    if (!with_files || family.files.empty()) continue;
    std::vector<std::vector<std::string>> rows = {{"    file", "cells", "bytes", "written", "rows"}};
    for (const StoreFileInfo& file : family.files) {
      rows.push_back({"    " + file.name, human_count(file.cells), human_bytes(file.bytes),
                      time_text(file.created_ms), range_text(file)});
    }
    text += aligned_table(rows);
  }
  return text;
}

class DescribeCommand final : public Command {
 public:
  explicit DescribeCommand(const PluginParams&) {}
  CommandGroup group() const override { return CommandGroup::kStore; }
  std::string_view summary() const override { return "Families of tables, their options and their files"; }

  void declare(Arguments& arguments) override {
    arguments.operand("STORE", store_, "directory of the store")
        .optional_operand("TABLE", table_, "one table; without it all of them")
        .flag("--files", files_, "each store file with its rows (always in JSON)")
        .formats({"table", "json"})
        .example("cellar describe shop orders")
        .example("cellar describe shop orders --files");
  }

  Status run(Session& session) override {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, open_store(session, store_, OpenFor::kLooking));
    std::vector<std::string> names = engine->list_tables();
    if (!table_.empty()) names = {table_};
    Json tables = Json::array();
    std::string text;
    for (const std::string& name : names) {
      CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, open_table(session, *engine, store_, name));
      const TableInfo info = table->info();
      tables.push_back(json_of(info));
      text += (text.empty() ? "" : "\n") + text_of(info, files_);
    }
    if (session.format() == Format::kJson) {
      text = Json{{"schema", "cellar.describe/1"}, {"tables", std::move(tables)}}.dump(2) + "\n";
    }
    session.out().write(text);
    return engine->close();
  }

 private:
  std::string store_;
  std::string table_;
  bool files_ = false;
};

}  // namespace

CELLAR_PLUGIN(Command, tools_cmd_describe, "describe", DescribeCommand)

}  // namespace cellar
