// Tables, descriptions and states as text and JSON.
#include "tools/store/store_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/text_printer.h"
#include "base/text_width.h"
#include "tools/frame/operands.h"
#include "tools/frame/output.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;

// A cluster tells neither identifiers nor files nor sizes. A store numbers its families from 1.
bool is_of_cluster(const FamilyInfo& family) { return family.id == 0; }

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
              {"run", file.run},
              {"level", file.level},
              {"major", file.major},
              {"created_ms", file.created_ms}};
}

// Numbers and booleans as such. Values that applications keep in a schema are text, whatever they look like.
Json json_of_option(const std::string& name, const std::string& value) {
  if (name.starts_with("metadata.") || name.starts_with("configuration.")) return value;
  if (value == "true" || value == "false") return value == "true";
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (!value.empty() && error == std::errc() && end == value.data() + value.size()) return number;
  return value;
}

template <class Options>
Json json_of_options(const Options& options) {
  Json json = Json::object();
  for (const auto& [name, value] : option_list(options)) json[name] = json_of_option(name, value);
  return json;
}

Json json_of(const FamilyInfo& family) {
  if (is_of_cluster(family))
    return Json{{"name", family.options.name}, {"options", json_of_options(family.options)}};
  Json files = Json::array();
  for (const StoreFileInfo& file : family.files) files.push_back(json_of(file));
  return Json{{"name", family.options.name},
              {"id", family.id},
              {"options", json_of_options(family.options)},
              {"memtables", family.memtables},
              {"memtable_cells", family.memtable_cells},
              {"memtable_bytes", family.memtable_bytes},
              {"files", std::move(files)},
              {"bytes_put", family.bytes_put},
              {"bytes_flushed", family.bytes_flushed},
              {"bytes_compacted", family.bytes_compacted},
              {"bytes_compacted_from", family.bytes_compacted_from},
              {"flushes", family.flushes},
              {"compactions", family.compactions},
              {"write_amplification", family.write_amplification()}};
}

Json json_of(const TableInfo& table, uint64_t regions) {
  Json families = Json::array();
  for (const FamilyInfo& family : table.families) families.push_back(json_of(family));
  const Json options = json_of_options(table.options);
  Json json = {{"name", table.name}};
  if (table.id != 0) json["id"] = table.id;
  json["durability"] = options["durability"];
  json["options"] = options;
  if (regions != 0) json["regions"] = regions;
  json["families"] = std::move(families);
  if (const auto& second = table.second)
    json["second_table"] = {
        {"of", second->of}, {"key", second->key}, {"columns", second->columns}, {"built", second->built}};
  return json;
}

std::string range_text(const StoreFileInfo& file) {
  return readable(file.first_row) + " … " + readable(file.last_row);
}

// All options, some to a line.
std::string options_text(const FamilyOptions& family) {
  std::string text;
  size_t column = 0;
  for (const auto& [name, value] : option_list(family)) {
    const std::string option = fmt::format("{}={}", escaped(name), escaped(value));
    constexpr size_t kColumns = 80;
    if (column > 0) text += column + option.size() > kColumns ? ",\n               " : ", ";
    column = column + option.size() > kColumns ? option.size() : column + option.size() + 2;
    text += option;
  }
  return text;
}

// Returns how much was put into the family and written for it. Returns an empty text if nothing was put.
std::string written_text(const FamilyInfo& family) {
  if (family.bytes_put == 0) return {};
  return fmt::format(
      "    written    {} put; {} by {}, {} by {}: {:.1f} bytes to log and files for each byte put\n",
      human_bytes(family.bytes_put), human_bytes(family.bytes_flushed), counted(family.flushes, "flush"),
      human_bytes(family.bytes_compacted), counted(family.compactions, "compaction"),
      family.write_amplification());
}

Json json_of(const std::vector<Trouble>& troubles) {
  Json all = Json::array();
  for (const Trouble& each : troubles)
    all.push_back({{"what", each.what},
                   {"status", each.status.to_text()},
                   {"since_ms", each.since_ms},
                   {"tries", each.tries},
                   {"writes_wait", each.writes_wait}});
  return all;
}

Json memory_json(const EngineStatus& status) {
  return Json{{"total_bytes", status.memory_bytes},
              {"memtable_bytes", status.memtable_bytes},
              {"memtable_frozen_bytes", status.memtable_frozen_bytes},
              {"memtable_held_bytes", status.memtable_held_bytes},
              {"memtable_spare_bytes", status.memtable_spare_bytes},
              {"memtable_budget_bytes", status.memtable_budget_bytes},
              {"cache_used_bytes", status.cache_used_bytes},
              {"cache_pinned_bytes", status.cache_pinned_bytes},
              {"cache_capacity_bytes", status.cache_capacity_bytes},
              {"reader_bytes", status.reader_bytes},
              {"job_bytes", status.job_bytes},
              {"log_preallocated_bytes", status.log_preallocated_bytes}};
}

// The parts of the memory, one to a line.
std::string memory_text(const EngineStatus& status) {
  std::string text;
  const auto line = [&](std::string_view name, uint64_t bytes, const std::string& note) {
    text += fmt::format("    {:<17} {:>10}{}{}\n", name, human_bytes(bytes), note.empty() ? "" : "  ", note);
  };
  line("memtables", status.memtable_bytes,
       fmt::format("of {}; {} wait for a flush", human_bytes(status.memtable_budget_bytes),
                   human_bytes(status.memtable_frozen_bytes)));
  line("flushed memtables", status.memtable_held_bytes, "that scanners, snapshots or rows still use");
  line("spare blocks", status.memtable_spare_bytes, "of the process, for the next memtables");
  line("cache", status.cache_used_bytes,
       fmt::format("of {}; {} are indexes and filters", human_bytes(status.cache_capacity_bytes),
                   human_bytes(status.cache_pinned_bytes)));
  line("open files", status.reader_bytes, "");
  line("jobs", status.job_bytes, "buffers of flushes and compactions");
  return text;
}

Json json_of(const EngineStatus& status, const RecoveryReport& report) {
  return Json{{"schema", "cellar.status/1"},
              {"path", status.path},
              {"identity", status.identity},
              {"health", status.health.ok() ? "ok" : status.health.to_text()},
              {"troubles", json_of(status.troubles)},
              {"last_sequence", status.last_sequence},
              {"log_segments", status.log_segments},
              {"log_bytes", status.log_bytes},
              {"memtable_bytes", status.memtable_bytes},
              {"memory", memory_json(status)},
              {"store_files", status.store_files},
              {"store_bytes", status.store_bytes},
              {"recovery",
               {{"clean", report.clean},
                {"segments_read", report.segments_read},
                {"records_replayed", report.records_replayed},
                {"cells_replayed", report.cells_replayed},
                {"cells_skipped", report.cells_skipped},
                {"torn_bytes", report.torn_bytes},
                {"micros", report.micros}}}};
}

std::string text_of(const EngineStatus& status, const RecoveryReport& report, size_t tables) {
  std::string text = fmt::format("store {}\n", status.path);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<11} {}\n", name, value);
  };
  line("identity", status.identity);
  line("health", status.health.ok() ? "ok" : status.health.to_text());
  for (const Trouble& each : status.troubles)
    line("trouble",
         fmt::format("{}, {}: {}", each.what, counted(each.tries, "failed try"), each.status.to_text()));
  line("tables", std::to_string(tables));
  line("files", fmt::format("{}, {}", status.store_files, human_bytes(status.store_bytes)));
  line("in memory", fmt::format("{} of cells that are not in files yet", human_bytes(status.memtable_bytes)));
  line("memory", human_bytes(status.memory_bytes));
  text += memory_text(status);
  line("log", fmt::format("{}, {}", counted(status.log_segments, "segment"), human_bytes(status.log_bytes)));
  line("last write", fmt::format("number {}", human_count(status.last_sequence)));
  line("opening", fmt::format("{}; {} with {} read from the log in {}",
                              report.clean ? "it was closed properly" : "it was not closed properly",
                              counted(report.records_replayed, "record"),
                              counted(report.cells_replayed, "cell"), human_micros(report.micros)));
  if (report.torn_bytes > 0)
    line("torn", human_bytes(report.torn_bytes) + " after the last complete record of the log");
  return text;
}

}  // namespace

std::string description_text(const TableInfo& table, bool with_files, uint64_t regions) {
  std::string text = fmt::format("table {}\n", table.name);
  if (const std::string options = to_text(table.options); !options.empty())
    text += fmt::format("  options      {}\n", escaped(options));
  if (regions != 0) text += fmt::format("  regions      {}\n", human_count(regions));
  if (const auto& second = table.second) {
    const std::string copies = second->columns.empty() ? "" : ", with " + second->columns;
    text += fmt::format("  second table of {} by {}{}{}\n", second->of, second->key, copies,
                        second->built ? "" : "; not built");
  }
  for (const FamilyInfo& family : table.families) {
    uint64_t bytes = 0;
    uint64_t cells = 0;
    for (const StoreFileInfo& file : family.files) {
      bytes += file.bytes;
      cells += file.cells;
    }
    text +=
        fmt::format("\n  family {}\n    options    {}\n", family.options.name, options_text(family.options));
    if (is_of_cluster(family)) continue;
    text += fmt::format("    on disk    {}, {}, {}\n", counted(family.files.size(), "file"),
                        counted(cells, "cell"), human_bytes(bytes));
    text += fmt::format("    in memory  {}, {}\n", counted(family.memtable_cells, "cell"),
                        human_bytes(family.memtable_bytes));
    text += written_text(family);
    if (!with_files || family.files.empty()) continue;
    std::vector<std::vector<std::string>> rows = {{"    file", "cells", "bytes", "written", "rows"}};
    for (const StoreFileInfo& file : family.files) {
      rows.push_back({"    " + file.name, human_count(file.cells), human_bytes(file.bytes),
                      time_text(file.created_ms), range_text(file)});
    }
    if (std::ranges::any_of(family.files, [](const StoreFileInfo& file) { return file.level != 0; })) {
      rows.front().insert(rows.front().begin() + 1, "level");
      for (size_t i = 0; i < family.files.size(); ++i)
        rows[i + 1].insert(rows[i + 1].begin() + 1, std::to_string(family.files[i].level));
    }
    text += aligned_table(rows);
  }
  return text;
}

std::string description_json(const std::vector<TableInfo>& tables, Format format,
                             const std::vector<uint64_t>& regions) {
  Json all = Json::array();
  for (size_t i = 0; i < tables.size(); ++i)
    all.push_back(json_of(tables[i], regions.empty() ? 0 : regions[i]));
  return Json{{"schema", "cellar.describe/1"}, {"tables", std::move(all)}}.dump(json_indent(format)) + "\n";
}

Status print_table_list(Session& session, Engine& engine, const std::vector<std::string>& tables) {
  const bool has_files = !is_cluster(engine.status().path);
  Records records(session.out(), session.format(), "cellar.list/1", "tables");
  for (const std::string& name : tables) {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine.open_table(name));
    std::vector<std::string> families;
    uint64_t files = 0;
    uint64_t bytes = 0;
    uint64_t in_memory = 0;
    for (const FamilyInfo& family : table->info().families) {
      families.push_back(family.options.name);
      files += family.files.size();
      in_memory += family.memtable_cells;
      for (const StoreFileInfo& file : family.files) bytes += file.bytes;
    }
    records.text("table", name).list("families", families, ",");
    if (has_files) records.count("files", files).size("bytes", bytes).count("cells_in_memory", in_memory);
    records.add();
  }
  records.finish();
  return {};
}

void print_status(Session& session, Engine& engine) {
  const EngineStatus status = engine.status();
  const RecoveryReport& report = engine.recovery_report();
  if (session.format() == Format::kTable) {
    session.out().write(text_of(status, report, engine.list_tables().size()));
  } else {
    Json json = json_of(status, report);
    json["tables"] = engine.list_tables();
    session.out().write(json.dump(json_indent(session.format())) + "\n");
  }
  if (!status.health.ok()) session.answer_negative();
}

}  // namespace cellar
