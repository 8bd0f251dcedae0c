// Makes and compares the tables of a copy.
#include "tools/transfer/copy_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "tools/frame/operands.h"
#include "tools/store/schema_text.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

constexpr std::string_view kServersPrefix = "CELLAR.";  // of the notes of `cellar serve`

// Adds the options of which the two have different values. An option that one of them lacks is empty there.
template <class Options>
void add_differences(std::vector<std::string>& to, std::string_view place, const Options& from,
                     const Options& other) {
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (auto& [name, value] : option_list(from)) values[name].first = value;
  for (auto& [name, value] : option_list(other)) values[name].second = value;
  for (const auto& [name, pair] : values) {
    if (pair.first == pair.second) continue;
    const auto shown = [](const std::string& value) { return value.empty() ? "not set" : escaped(value); };
    to.push_back(
        fmt::format("{}{} is {} and {}", place, escaped(name), shown(pair.first), shown(pair.second)));
  }
}

std::string some_of(const std::vector<std::string>& differences) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < std::min(differences.size(), kMost); ++i)
    text += (i == 0 ? "" : "; ") + differences[i];
  return differences.size() > kMost ? fmt::format("{}; and {} more", text, differences.size() - kMost) : text;
}

}  // namespace

TableOptions options_of_copy(const TableOptions& from) {
  TableOptions options = from;
  std::erase_if(options.metadata, [](const auto& note) { return note.first.starts_with(kServersPrefix); });
  return options;
}

std::vector<std::string> schema_differences(const TableOptions& from, const TableOptions& to) {
  std::vector<std::string> differences;
  add_differences(differences, "", options_of_copy(from), options_of_copy(to));
  for (const FamilyOptions& family : from.families) {
    const std::string place = fmt::format("family {}: ", escaped(family.name));
    if (const FamilyOptions* const other = find_family(to, family.name); other != nullptr)
      add_differences(differences, place, family, *other);
    else
      differences.push_back(place + "it is missing");
  }
  for (const FamilyOptions& family : to.families)
    if (find_family(from, family.name) == nullptr)
      differences.push_back(
          fmt::format("family {}: it is only in the table that exists", escaped(family.name)));
  return differences;
}

namespace {

// A table takes writes until all cells are in it.
TableOptions options_to_fill(const TableOptions& from) {
  TableOptions options = options_of_copy(from);
  options.read_only = false;
  return options;
}

Result<bool> has_cells(Table& table, Scan scan) {
  scan.raw(true).versions(UINT32_MAX).limit(1).fill_cache(false);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table.scan(scan));
  const bool found = scanner->next();
  CELLAR_TRY(scanner->status());
  return found;
}

}  // namespace

Result<bool> is_untouched(const TableOptions& from, Table& table) {
  if (!schema_differences(options_to_fill(from), options_to_fill(table.info().options)).empty()) return false;
  CELLAR_TRY_ASSIGN(const bool used, has_cells(table, Scan()));
  return !used;
}

Result<bool> has_row(Table& table, const std::string& row) {
  Scan scan;
  scan.start(row).stop(row, true);
  return has_cells(table, std::move(scan));
}

Result<bool> has_table(Engine& engine, const std::string& name) {
  const Result<std::shared_ptr<Table>> table = engine.open_table(name);
  if (table.ok()) return true;
  if (table.status().is(Code::kNotFound)) return false;
  return table.status();
}

Status refuse_existing(const TableOptions& from, const TableOptions& to, const std::string& name) {
  const std::vector<std::string> differences = schema_differences(from, to);
  const std::string how = differences.empty() ? "with the same options"
                                              : fmt::format("with other options: {}", some_of(differences));
  return Status::invalid_argument(fmt::format("table {} exists already, {}", name, how))
      .hinting("--into-existing adds the cells to it; --as NAME makes another table");
}

Status check_families(Session& session, const TableOptions& from, Engine& to, const Table& table,
                      const std::vector<std::string>& columns) {
  std::vector<std::string> names;
  for (const FamilyOptions& family : from.families)
    if (columns.empty()) names.push_back(family.name);
  for (const std::string& text : columns) {
    CELLAR_TRY_ASSIGN(const ColumnOperand column, for_argument("--column", parse_column(text)));
    names.push_back(column.family);
  }
  const TableOptions existing = table.info().options;
  for (const std::string& name : names) {
    if (find_family(existing, name) != nullptr) continue;
    const std::string place = to.status().path;
    return session.name_failure(
        "CEL-FAMILY", Exit::kCannot,
        Status::not_found(
            fmt::format("table {} of {} has no family \"{}\", which the table has that is copied",
                        table.name(), place, escaped(name)))
            .hinting(fmt::format("cellar alter {} {} {} adds it", shell_word(place), shell_word(table.name()),
                                 shell_word(escaped(name)))));
  }
  return {};
}

Result<std::shared_ptr<Table>> make_copy(const TableOptions& from, Engine& to, const std::string& name,
                                         const std::vector<std::string>& splits) {
  return to.create_table(name, options_to_fill(from), splits);
}

Result<std::shared_ptr<Table>> open_copy(Session& session, const TableOptions& from, Engine& to,
                                         const std::string& name, bool made) {
  CELLAR_TRY_ASSIGN(std::shared_ptr<Table> table, open_table(session, to, to.status().path, name));
  CELLAR_TRY(check_families(session, from, to, *table, {}));
  const TableOptions existing = table->info().options;
  const std::vector<std::string> differences =
      made ? schema_differences(options_to_fill(from), options_to_fill(existing))
           : schema_differences(from, existing);
  if (!differences.empty())
    session.talk(fmt::format("note   table {} keeps its own options: {}", name, some_of(differences)));
  return table;
}

namespace {

Status set_read_only(Engine& engine, const std::string& table, bool read_only) {
  TableChange change;
  change.read_only = read_only;
  return engine.alter_table(table, change);
}

}  // namespace

Status seal_copy(const TableOptions& from, Engine& to, const std::string& name) {
  return from.read_only ? set_read_only(to, name, true) : Status();
}

Status unseal_copy(const TableOptions& from, Engine& to, const std::string& name) {
  return from.read_only ? set_read_only(to, name, false) : Status();
}

Status check_markers_fit(const TableOptions& table) {
  for (const FamilyOptions& family : table.families) {
    if (family.delete_order != MarkerOrder::kSequence) continue;
    return Status::not_supported(
               fmt::format("--raw cannot copy family {}, whose markers hide what was written before them: a "
                           "copy writes in another order",
                           escaped(family.name)))
        .hinting("leave out --raw: then the visible cells are copied");
  }
  return {};
}

}  // namespace cellar
