// Makes and compares the tables of a copy.
#include "tools/transfer/copy_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
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

Result<std::shared_ptr<Table>> open_copy(Session& session, const TableOptions& from, Engine& to,
                                         const std::string& name, bool made) {
  CELLAR_TRY_ASSIGN(const bool exists, has_table(to, name));
  if (made && !exists) {
    TableOptions options = options_of_copy(from);
    options.read_only = false;  // until all cells are in it
    return to.create_table(name, options);
  }
  CELLAR_TRY_ASSIGN(std::shared_ptr<Table> table, open_table(session, to, to.status().path, name));
  if (made) return table;
  for (const FamilyOptions& family : from.families) CELLAR_TRY(check_family(session, *table, family.name));
  const std::vector<std::string> differences = schema_differences(from, table->info().options);
  if (!differences.empty())
    session.talk(fmt::format("note   table {} keeps its own options: {}", name, some_of(differences)));
  return table;
}

Status seal_copy(const TableOptions& from, Engine& to, const std::string& name) {
  if (!from.read_only) return {};
  TableChange change;
  change.read_only = true;
  return to.alter_table(name, change);
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
