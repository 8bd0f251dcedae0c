// Finds the schema of a directory of HFiles, and opens its table.
#include "tools/transfer/copy_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "tools/hbase/hbase_table.h"
#include "tools/store/schema_file.h"
#include "tools/store/schema_text.h"
#include "tools/transfer/bulk_files.h"
#include "tools/transfer/bulk_plan.h"

namespace cellar {
namespace {

// Sets the options to those that were written down with the files. An export also tells the table's name.
Status take_schema(Session& session, const std::string& path, HBaseTableFiles& files, TableOptions& options) {
  CELLAR_TRY_ASSIGN(std::optional<ExportedSchema> exported, read_schema_file(path));
  if (exported) {
    files.name = exported->table;
    files.all_flushed = true;
    options = std::move(exported->options);
  } else if (files.schema) {
    options = options_of_descriptor(session, *files.schema);
  }
  return {};
}

// Adds the families of which nothing is known but their files.
Status add_families(Session& session, const HBaseTableFiles& files, TableOptions& options) {
  BulkFiles unknown;
  for (const HBaseRegionFiles& region : files.regions)
    for (const auto& [name, of_family] : region.families) {
      if (find_family(options, name) != nullptr) continue;
      for (const HBaseStoreFile& file : of_family) unknown.files.push_back({name, file.path});
    }
  if (unknown.files.empty()) return {};
  CELLAR_TRY_ASSIGN(const BulkSummary summary, summarise(session, unknown));
  for (const auto& [name, family] : summary.families) {
    CELLAR_TRY_ASSIGN(FamilyOptions added, family_for(name, family));
    session.talk(
        fmt::format("note   no schema tells of family {}: all versions in its files are kept, {} at most",
                    escaped(name), added.max_versions));
    options.families.push_back(std::move(added));
  }
  return {};
}

std::string place_of(const std::string& path, const HBaseTableFiles& files) {
  uint64_t hash = 0;
  std::error_code error;
  for (const HBaseRegionFiles& region : files.regions)
    for (const auto& [name, of_family] : region.families)
      for (const HBaseStoreFile& file : of_family) {
        const uintmax_t bytes = std::filesystem::file_size(file.path, error);
        hash = hash64(fmt::format("{:x} {} {} {} {}", hash, region.name, name, file.name, error ? 0 : bytes));
      }
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  return fmt::format("HFiles {} ({:016x})", error ? path : whole.string(), hash);
}

}  // namespace

Result<CopiedFiles> open_copied_files(Session& session, const std::string& path, HBaseKind kind) {
  Result<HBaseTableFiles> found = find_hbase_table(path, kind);
  if (!found.ok()) return name_hbase_failure(session, found.status());
  TableOptions options;
  CELLAR_TRY(take_schema(session, path, *found, options));
  CELLAR_TRY(add_families(session, *found, options));
  if (options.families.empty()) return Status::not_found(fmt::format("{} has no files of a table", path));
  say_what_is_read(session, *found);
  CopiedFiles files;
  files.place = place_of(path, *found);
  for (const HBaseRegionFiles& region : found->regions) files.region_starts.push_back(region.start);
  CELLAR_TRY_ASSIGN(files.table, table_of_files(session, std::move(*found), std::move(options)));
  return files;
}

}  // namespace cellar
