// SecondTables: reads the manifest's tables, and compares.
#include "engine/second/second_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/jobs/family_stores.h"
#include "engine/second/second_observer.h"

namespace cellar {
namespace {

// Why the families of a change, or their absence, would not do for the definition.
Status check_families(const std::string& source, const SecondDefinition& definition,
                      const TableChange& change) {
  for (const FamilyOptions& family : change.set_families) CELLAR_TRY(definition.check_family(source, family));
  for (const std::string& family : change.remove_families)
    if (definition.uses(family))
      return Status::invalid_argument(
          fmt::format("family {} cannot be removed: its second tables need it", escaped(family)));
  return {};
}

Status check_derived(const std::string& table, const TableChange& change) {
  if (!change.remove_families.empty())
    return Status::invalid_argument(fmt::format("the families of second table {} stay as they are", table));
  for (const FamilyOptions& family : change.set_families) {
    CELLAR_TRY(check_lasting(table, family));
    const FamilyOptions usual;
    if (family.max_versions != 1 || family.min_versions != usual.min_versions ||
        family.stamps != usual.stamps)
      return Status::invalid_argument(
          fmt::format("family {} of second table {} keeps max_versions=1, min_versions=0 and stamps=clock",
                      escaped(family.name), table));
  }
  return {};
}

}  // namespace

// Only sources whose second tables have changed get other observers: their writes in progress fail.
Status SecondTables::install() {
  const std::shared_ptr<const ManifestState> state = parts_.disk.manifest->current();
  std::map<std::string, Followed> follow;
  for (const TableRecord& table : state->tables) {
    // A reader may show older tables than it has read of.
    if (const auto known = parts_.catalog.lookup(table.name);
        known != nullptr && known->second() != table.second)
      known->set_second(table.second);
    if (!table.second) continue;
    SecondTable& second = follow[table.second->of].emplace_back(table.name, *table.second).second;
    second.built = false;
  }
  if (parts_.world.options.read_only) return {};
  for (const TableRecord& table : state->tables)
    if (follow[table.name] != followed_[table.name])
      CELLAR_TRY(follow_source(table.name, follow[table.name]));
  followed_ = std::move(follow);
  return {};
}

Status SecondTables::follow_source(const std::string& source, const Followed& seconds) {
  std::vector<ObserverList::Named> observers;
  for (const auto& [name, second] : seconds) {
    auto definition = SecondDefinition::parse(second);
    if (!definition.ok())
      return Status::corruption(
          fmt::format("the manifest's second table {}: {}", name, definition.status().message()));
    observers.push_back({name, std::make_shared<SecondObserver>(name, std::move(definition).value()), true});
  }
  const std::shared_ptr<TableState> table = parts_.catalog.lookup(source);
  CELLAR_ASSERT(table != nullptr);
  table->set_has_seconds(!observers.empty());
  parts_.observers.set_own(*table, std::move(observers));
  parts_.write_path.watch_anew();
  return {};
}

std::shared_ptr<const TableRecord> SecondTables::record(const std::string& table) const {
  const std::shared_ptr<const ManifestState> state = parts_.disk.manifest->current();
  return {state, state->table_named(table)};
}

std::vector<std::string> SecondTables::of(const std::string& table) const {
  std::vector<std::string> names;
  const std::shared_ptr<const ManifestState> state = parts_.disk.manifest->current();
  for (const TableRecord& each : state->tables)
    if (each.second && each.second->of == table) names.push_back(each.name);
  std::ranges::sort(names);
  return names;
}

Result<TableOptions> SecondTables::schema(const std::string& name, const SecondTable& second) const {
  CELLAR_TRY_ASSIGN(const SecondDefinition definition, SecondDefinition::parse(second));
  CELLAR_TRY(parts_.catalog.find(second.of).status());
  const std::shared_ptr<const TableRecord> source = record(second.of);
  CELLAR_ASSERT(source != nullptr);
  if (source->second || source->name == name)
    return Status::invalid_argument(fmt::format("table {} cannot be the source of {}: it is {}", source->name,
                                                name,
                                                source->second ? "a second table itself" : "the same table"))
        .hinting(source->second ? fmt::format("its source is {}", source->second->of) : "");
  std::vector<FamilyOptions> families;
  for (const FamilyRecord& family : source->families) {
    CELLAR_TRY_ASSIGN(FamilyOptions options, options_of(family));
    families.push_back(std::move(options));
  }
  return definition.schema(source->name, families);
}

Status SecondTables::drop_refusal(const std::string& table) const {
  return Status::invalid_argument(
             fmt::format("table {} has second tables: {}", table, fmt::join(of(table), ", ")))
      .hinting("drop those first");
}

Status SecondTables::check_truncate(const std::string& table) const {
  const std::shared_ptr<const TableRecord> known = record(table);
  if (known == nullptr || !known->second) return {};
  return Status::invalid_argument(
             fmt::format("table {} is a second table and cannot be emptied alone", table))
      .hinting(fmt::format("truncate {}, which empties both", known->second->of));
}

Status SecondTables::check_alter(const std::string& table, const TableChange& change) const {
  const std::shared_ptr<const ManifestState> state = parts_.disk.manifest->current();
  for (const TableRecord& each : state->tables) {
    if (!each.second) continue;
    if (each.name == table) CELLAR_TRY(check_derived(table, change));
    if (each.second->of != table) continue;
    CELLAR_TRY_ASSIGN(const SecondDefinition definition, SecondDefinition::parse(*each.second));
    Status fits = check_families(table, definition, change);
    if (!fits.ok()) return fits.with_context("second table " + each.name);
  }
  return {};
}

// All of a family of tables, as it was at one instant, or none of it.
Status SecondTables::check_restore(const std::vector<TableRecord>& content) const {
  const auto coming = [&](const std::string& name) -> const TableRecord* {
    const auto found = std::ranges::find(content, name, &TableRecord::name);
    return found == content.end() ? nullptr : &*found;
  };
  const std::shared_ptr<const ManifestState> state = parts_.disk.manifest->current();
  for (const TableRecord& table : state->tables) {
    if (!table.second) continue;
    const TableRecord* const again = coming(table.name);
    const bool with_source = coming(table.second->of) != nullptr;
    if (again == nullptr && !with_source) continue;
    if (again != nullptr && with_source && again->second == table.second) continue;
    return Status::invalid_argument(fmt::format("table {} and its second table {} would not agree: {}",
                                                table.second->of, table.name,
                                                again != nullptr && with_source
                                                    ? "the snapshot has another second table of that name"
                                                : with_source ? "the second one would keep what it has"
                                                              : "the source would keep what it has"))
        .hinting(fmt::format("drop {}, restore {}, and create the second table again", table.name,
                             table.second->of));
  }
  return {};
}

}  // namespace cellar
