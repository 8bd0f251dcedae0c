// Builds a FileTable from files and a descriptor.
#include "tools/hbase/hbase_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/bytes.h"
#include "engine/read/file_table.h"
#include "hfile/read/hfile_reader.h"
#include "tools/hbase/hbase_regions.h"
#include "tools/hbase/hfile_paths.h"
#include "tools/store/family_operand.h"
#include "tools/store/store.h"

namespace cellar {
namespace {

// Returns the read options in a family's descriptor. set_option() knows HBase's spellings.
Result<FamilyOptions> family_options(const HBaseFamilySchema& schema) {
  constexpr std::array<std::string_view, 5> kOfReads = {"VERSIONS", "MIN_VERSIONS", "TTL",
                                                        "KEEP_DELETED_CELLS", "NEW_VERSION_BEHAVIOR"};
  FamilyOptions family;
  family.name = schema.name;
  for (const auto& [name, value] : schema.attributes) {
    if (std::ranges::find(kOfReads, name) == kOfReads.end()) continue;
    if (const Status set = set_option(family, name, value); !set.ok())
      return Status::corruption(
          fmt::format("descriptor of family \"{}\": {}", escaped(schema.name), set.message()));
  }
  return family;
}

Result<std::vector<FamilyOptions>> families_of(const HBaseTableFiles& files) {
  std::vector<FamilyOptions> families;
  if (files.schema) {
    for (const HBaseFamilySchema& schema : files.schema->families) {
      CELLAR_TRY_ASSIGN(FamilyOptions family, family_options(schema));
      families.push_back(std::move(family));
    }
    return families;
  }
  std::set<std::string> names;
  for (const HBaseRegionFiles& region : files.regions)
    for (const auto& [name, list] : region.families) names.insert(name);
  for (const std::string& name : names) {
    FamilyOptions family;
    family.name = name;
    families.push_back(std::move(family));
  }
  return families;
}

Status assume(Session& session, const HBaseTableFiles& files, const std::vector<std::string>& assumed,
              std::vector<FamilyOptions>& families) {
  for (const std::string& text : assumed) {
    const auto at = std::ranges::find(families, family_name(text), &FamilyOptions::name);
    if (at == families.end()) {
      std::vector<std::string> names;
      for (const FamilyOptions& family : families) names.push_back(family.name);
      return no_such_family(session, files.name, std::string(family_name(text)), names);
    }
    CELLAR_TRY(parse_family(text, *at));
  }
  return {};
}

}  // namespace

void say_what_is_read(Session& session, const HBaseTableFiles& files) {
  for (const std::string& note : files.notes) session.talk("note   " + note);
  if (!files.all_flushed)
    session.talk("note   only files are read: data that HBase has only in memory or in its log is missing");
}

Status name_hbase_failure(Session& session, const Status& status) {
  if (status.is(Code::kNotFound)) return session.name_failure("CEL-HBASE-FILE", Exit::kCannot, status);
  return name_file_failure(session, status);
}

Result<std::shared_ptr<Table>> table_of_files(Session& session, HBaseTableFiles found, TableOptions table) {
  const auto files = std::make_shared<const HBaseTableFiles>(std::move(found));
  FileTableOptions options;
  options.name = files->name;
  options.table = std::move(table);
  for (const HBaseRegionFiles& region : files->regions) options.regions.push_back({region.start, region.end});
  options.open = [files, &session](
                     size_t region,
                     const std::string& family) -> Result<std::vector<std::shared_ptr<HFileReader>>> {
    const auto& of_region = files->regions[region].families;
    const auto at = of_region.find(family);
    if (at == of_region.end()) return std::vector<std::shared_ptr<HFileReader>>();
    CELLAR_TRY_ASSIGN(std::vector<std::shared_ptr<HFileReader>> readers, open_hbase_files(at->second));
    for (const std::shared_ptr<HFileReader>& reader : readers) tell_if_unchecked(session, *reader);
    return readers;
  };
  CELLAR_TRY_ASSIGN(std::shared_ptr<FileTable> made, FileTable::create(std::move(options)));
  return std::shared_ptr<Table>(std::move(made));
}

Result<std::shared_ptr<Table>> open_hbase_table(Session& session, const std::string& path, HBaseKind kind,
                                                const std::vector<std::string>& assumed) {
  Result<HBaseTableFiles> found = find_hbase_table(path, kind);
  if (!found.ok()) return name_hbase_failure(session, found.status());
  Result<std::vector<FamilyOptions>> families = families_of(*found);
  if (!families.ok()) return name_hbase_failure(session, families.status());
  CELLAR_TRY(assume(session, *found, assumed, *families));
  say_what_is_read(session, *found);
  if (!found->schema && assumed.empty())
    session.talk(
        "note   no table descriptor: families are read by HBase's defaults, 1 version and no time to live "
        "(--assume sets other options)");
  return table_of_files(session, std::move(*found), {.families = std::move(*families)});
}

}  // namespace cellar
