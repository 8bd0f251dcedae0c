// Recognises the kind of a directory by its entries; then reads a table region by region, family by family.
#include "tools/hbase/hbase_dir.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "tools/hbase/file_look.h"
#include "tools/hbase/hbase_legacy.h"
#include "tools/hbase/hbase_regions.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kDescriptorBytesMax = 64u << 20;

// Names of the entries of a directory, sorted.
struct Listing {
  std::vector<std::string> files;
  std::vector<std::string> directories;
  std::vector<std::string> links;  // symbolic links, and everything else that is neither a file nor a
                                   // directory
};

Result<Listing> list(const std::string& path) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator at(path, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const fs::file_type type = at->symlink_status(error).type();
    std::vector<std::string>& names = type == fs::file_type::regular     ? listing.files
                                      : type == fs::file_type::directory ? listing.directories
                                                                         : listing.links;
    names.push_back(at->path().filename().string());
  }
  if (error) return Status::io_error(path + ": " + error.message());
  std::ranges::sort(listing.files);
  std::ranges::sort(listing.directories);
  std::ranges::sort(listing.links);
  return listing;
}

bool is_hidden(std::string_view name) { return name.starts_with('.') || name.starts_with('_'); }

// Returns whether a file in a directory of files is a half or a link.
bool stands_for_another(const std::string& path, const std::string& name) {
  const std::optional<HBaseFileName> meaning = parse_hbase_reference_name(name);
  if (!meaning) return false;
  const Result<std::string> bytes = read_small_file(path, 64u << 10);
  if (!bytes.ok()) return false;
  return meaning->parent.empty() ? bytes->empty() : parse_hbase_reference(*bytes).ok();
}

bool holds_store_files(const std::string& path) {
  const Result<Listing> listing = list(path);
  return listing.ok() && std::ranges::any_of(listing->files, [&](const std::string& name) {
           const std::string file = path + "/" + name;
           return !is_hidden(name) &&
                  (look_at_file(file) != FileLook::kOther || stands_for_another(file, name));
         });
}

template <class Test>
bool any_below(const std::string& path, const Test& test) {
  const Result<Listing> listing = list(path);
  return listing.ok() && std::ranges::any_of(listing->directories, [&](const std::string& name) {
           return is_hbase_family_name(name) && !is_hidden(name) && test(path + "/" + name);
         });
}

bool looks_like_a_table(const std::string& path) { return is_plain_directory(path + "/.tabledesc"); }
bool looks_like_a_region(const std::string& path) { return is_plain_file(path + "/.regioninfo"); }
bool holds_families(const std::string& path) { return any_below(path, holds_store_files); }
bool holds_tables(const std::string& path) { return any_below(path, looks_like_a_table); }

bool looks_like_a_root(const std::string& path) {
  return is_plain_file(path + "/hbase.version") || is_plain_file(path + "/hbase.id") ||
         is_plain_directory(path + "/.hbase-snapshot") || is_plain_directory(path + "/archive/data") ||
         is_plain_directory(path + "/-ROOT-") || any_below(path + "/data", holds_tables);
}

// Region directories have characteristic names; families rarely have such names.
bool holds_regions(const std::string& path) {
  return any_below(path, [](const std::string& below) {
    return looks_like_a_region(below) || (is_hbase_region_name(fs::path(below).filename().string()) &&
                                          !holds_store_files(below) && holds_families(below));
  });
}

// ---- one table

void leave_out(std::vector<std::string>& notes, const std::string& why,
               const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::string more = names.size() == 1 ? "" : fmt::format(", and {} more", names.size() - 1);
  notes.push_back(fmt::format("left out, {}: {}{}", why, names.front(), more));
}

// TableReader: reads the directory of one table, or of a part of it.
class TableReader {
 public:
  TableReader(HBasePlaces places, HBaseTableFiles& to) : places_(std::move(places)), table_(to) {}

  Status family(const std::string& path) {
    HBaseRegionFiles region;
    // The files of one family may have been copied anywhere. If the path does not name the family, the cells
    // do.
    std::string name = fs::path(places_.directory()).filename().string();
    std::vector<HBaseStoreFile> files;
    CELLAR_TRY(read_family(path, name, places_.table().has_value(), files));
    if (!places_.table()) {
      CELLAR_TRY_ASSIGN(name, family_of_cells(files, name));
    }
    region.families[name] = std::move(files);
    table_.regions.push_back(std::move(region));
    return {};
  }

  Status region(const std::string& path) {
    HBaseRegionFiles region;
    region.name = fs::path(places_.directory()).filename().string();
    CELLAR_TRY(read_region(path, looks_like_a_region(path), region));
    table_.regions.push_back(std::move(region));
    return {};
  }

  Status table(const std::string& path) {
    CELLAR_TRY_ASSIGN(const Listing listing, list(path));
    std::vector<DescribedRegion> described;
    for (const std::string& name : listing.directories) {
      if (is_hidden(name) || !is_hbase_region_name(name)) continue;
      const std::string directory = path + "/" + name;
      if (!looks_like_a_region(directory)) {
        if (!holds_families(directory)) continue;
        return Status::not_supported(
                   fmt::format("region {} has no .regioninfo: its rows are not known", name))
            .hinting("name the region's directory itself to read it alone");
      }
      CELLAR_TRY_ASSIGN(const std::string bytes,
                        read_small_file(directory + "/.regioninfo", kDescriptorBytesMax));
      Result<HBaseRegion> region = parse_hbase_region(bytes);
      if (!region.ok() && is_legacy_region(bytes)) return legacy_refusal(path);
      if (!region.ok()) return region.status().with_context(directory + "/.regioninfo");
      described.push_back({name, std::move(*region)});
    }
    for (const std::string& name : listing.links)
      if (is_hbase_region_name(name))
        return Status::not_supported(path + "/" + name + " is a symbolic link, which is not followed");
    CELLAR_TRY_ASSIGN(const std::vector<DescribedRegion> live,
                      live_regions(std::move(described), table_.notes));
    for (const DescribedRegion& each : live) {
      HBaseRegionFiles region{each.name, each.region.start, each.region.end, {}};
      CELLAR_TRY(read_region(path + "/" + each.name, true, region));
      table_.regions.push_back(std::move(region));
    }
    return {};
  }

  Status snapshot(const std::string& path) {
    CELLAR_TRY_ASSIGN(const std::string description,
                      read_small_file(path + "/.snapshotinfo", kDescriptorBytesMax));
    CELLAR_TRY_ASSIGN(table_.all_flushed, parse_hbase_snapshot_flushed(description));
    if (places_.root().empty())
      return Status::not_supported(path + " is a snapshot without the files it names")
          .hinting("name it below HBase's root: ROOT/.hbase-snapshot/NAME, next to ROOT/archive");
    const std::string file = path + "/data.manifest";
    if (!is_plain_file(file))
      return Status::not_found("the snapshot has no data.manifest: it was not completed").at(path);
    CELLAR_TRY_ASSIGN(const std::string bytes, read_small_file(file, 1u << 30));
    Result<HBaseSnapshotManifest> manifest = parse_hbase_snapshot(bytes);
    if (!manifest.ok()) return manifest.status().with_context(file);
    return take_snapshot(std::move(*manifest));
  }

  // Reads the descriptor of the table, if the table's directory is known and may be read.
  Status schema() {
    const std::string directory = places_.table_directory();
    return directory.empty() ? Status() : schema_in(directory);
  }
  Status schema_in(const std::string& table_directory) {
    return read_schema(table_directory + "/.tabledesc");
  }

 private:
  Status take_snapshot(HBaseSnapshotManifest manifest) {
    const HBaseTableName table = manifest.schema.table;
    table_.name = table.text();
    table_.schema = std::move(manifest.schema);
    std::vector<DescribedRegion> described;
    for (size_t i = 0; i < manifest.regions.size(); ++i) {
      const HBaseRegion& region = manifest.regions[i].region;
      if (region.replica == 0 && !region.split) described.push_back({region.encoded_name(), region, i});
    }
    CELLAR_TRY_ASSIGN(const std::vector<DescribedRegion> live,
                      live_regions(std::move(described), table_.notes));
    for (const DescribedRegion& each : live) {
      HBaseRegionFiles region{each.name, each.region.start, each.region.end, {}};
      for (const HBaseSnapshotFamily& family : manifest.regions[each.number].families) {
        std::vector<HBaseStoreFile>& files = region.families[family.name];
        for (const HBaseSnapshotFile& file : family.files) {
          CELLAR_TRY_ASSIGN(HBaseStoreFile found, file_of_snapshot(table, each.name, family.name, file));
          files.push_back(std::move(found));
        }
      }
      table_.regions.push_back(std::move(region));
    }
    return {};
  }

  Result<HBaseStoreFile> file_of_snapshot(const HBaseTableName& table, const std::string& region,
                                          const std::string& family, const HBaseSnapshotFile& file) {
    HBaseStoreFile found;
    const std::optional<HBaseFileName> meaning = parse_hbase_reference_name(file.name);
    if (!meaning) {
      CELLAR_TRY_ASSIGN(found.path, places_.find(&table, region, family, file.name));
      found.name = file.name;
    } else {
      if (!meaning->parent.empty() && !file.half)
        return Status::corruption(
            fmt::format("the snapshot does not say which half {} is", escaped(file.name)));
      HBaseFileName of_table = *meaning;
      if (!of_table.link) of_table.link = HBaseFileName::Link{table, meaning->parent};
      CELLAR_TRY_ASSIGN(found, places_.resolve(of_table, file.name, family, file.half));
    }
    std::error_code error;
    if (const uintmax_t bytes = fs::file_size(found.path, error); file.bytes && bytes != *file.bytes)
      return Status::corruption(
                 fmt::format("the file has {} bytes, the snapshot's manifest says {}", bytes, *file.bytes))
          .at(found.path);
    return found;
  }

  Status read_schema(const std::string& directory) {
    if (!is_plain_directory(directory)) return {};
    CELLAR_TRY_ASSIGN(const Listing listing, list(directory));
    // For example ".tableinfo.0000000003.1234". The greatest number counts, unless that file is incomplete.
    for (auto name = listing.files.rbegin(); name != listing.files.rend(); ++name) {
      if (!name->starts_with(".tableinfo.")) continue;
      CELLAR_TRY_ASSIGN(const std::string bytes,
                        read_small_file(directory + "/" + *name, kDescriptorBytesMax));
      Result<HBaseTableSchema> schema = parse_hbase_table_schema(bytes);
      if (!schema.ok()) {
        table_.notes.push_back(fmt::format("left out, incomplete: {}/{}", directory, *name));
        continue;
      }
      table_.schema = std::move(*schema);
      return {};
    }
    return {};
  }

  Status read_region(const std::string& path, bool strict, HBaseRegionFiles& region) {
    CELLAR_TRY_ASSIGN(const Listing listing, list(path));
    std::vector<std::string> unknown;
    for (const std::string& name : listing.directories) {
      if (is_hidden(name) || !is_hbase_family_name(name)) continue;
      if (table_.schema && table_.schema->find(name) == nullptr) {
        unknown.push_back(path + "/" + name);
        continue;
      }
      CELLAR_TRY(read_family(path + "/" + name, name, strict, region.families[name]));
    }
    leave_out(table_.notes, "no family of the table", unknown);
    for (const std::string& name : listing.links)
      if (is_hbase_family_name(name) && !is_hidden(name))
        return Status::not_supported(path + "/" + name + " is a symbolic link, which is not followed");
    return {};
  }

  // `strict`: the directory is in a region, and HBase chose the names. Otherwise people may have copied files
  // there under any name.
  Status read_family(const std::string& path, const std::string& family, bool strict,
                     std::vector<HBaseStoreFile>& files) {
    CELLAR_TRY_ASSIGN(const Listing listing, list(path));
    CELLAR_TRY_ASSIGN(const std::optional<HBaseFileList> tracked, file_list_of(path, table_.schema));
    std::vector<std::string> others, hidden, untracked, empty;
    for (const std::string& name : listing.files) {
      const std::string file = path + "/" + name;
      std::error_code error;
      if (is_hidden(name)) {
        if (!name.ends_with(".crc")) hidden.push_back(file);
      } else if (tracked && std::ranges::find(tracked->names, name) == tracked->names.end()) {
        untracked.push_back(file);
      } else if (stands_for_another(file, name)) {
        CELLAR_TRY_ASSIGN(HBaseStoreFile half,
                          places_.resolve(*parse_hbase_reference_name(name), file, family, {}));
        files.push_back(std::move(half));
      } else if (strict && fs::file_size(file, error) == 0) {
        empty.push_back(file);
      } else if (strict) {
        if (is_hbase_file_name(name))
          files.push_back({name, file, {}});
        else
          others.push_back(file);
      } else {
        const FileLook look = look_at_file(file);
        if (look == FileLook::kRemains) return remains_refusal(file);
        if (look == FileLook::kHFile)
          files.push_back({name, file, {}});
        else
          others.push_back(file);
      }
    }
    for (const std::string& name : listing.links)
      if (!is_hidden(name))
        return Status::not_supported(path + "/" + name + " is a symbolic link, which is not followed");
    if (tracked)
      for (const std::string& name : tracked->names)
        if (std::ranges::find(listing.files, name) == listing.files.end())
          return Status::not_found(fmt::format("HFile {} of HBase's list of files is missing", escaped(name)))
              .at(path);
    leave_out(table_.notes, strict ? "no store file by its name" : "not an HFile", others);
    leave_out(table_.notes, "hidden", hidden);
    leave_out(table_.notes, "not in HBase's list of files", untracked);
    leave_out(table_.notes, "empty", empty);
    return {};
  }

  HBasePlaces places_;
  HBaseTableFiles& table_;
};

}  // namespace

HBaseKind hbase_kind(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error) || is_store(path)) return HBaseKind::kNone;
  if (is_plain_file(path + "/.snapshotinfo")) return HBaseKind::kSnapshot;
  if (looks_like_a_table(path)) return HBaseKind::kTable;
  if (looks_like_a_region(path)) return HBaseKind::kRegion;
  if (looks_like_a_root(path)) return HBaseKind::kRoot;
  if (fs::path(path).filename() == ".hbase-snapshot") return HBaseKind::kSnapshots;
  if (holds_store_files(path)) return HBaseKind::kFamily;
  if (holds_tables(path)) return HBaseKind::kNamespace;
  if (holds_regions(path)) return HBaseKind::kTable;
  if (holds_families(path)) return HBaseKind::kRegion;
  return HBaseKind::kNone;
}

std::string_view hbase_kind_name(HBaseKind kind) {
  constexpr std::string_view kNames[] = {"nothing of HBase",
                                         "the directory of a family",
                                         "a region of HBase",
                                         "a table of HBase",
                                         "a snapshot of HBase",
                                         "a namespace of HBase",
                                         "HBase's directory of snapshots",
                                         "a root directory of HBase"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<std::string> hbase_tables(const std::string& path, HBaseKind kind) {
  std::vector<std::string> names;
  const auto add_namespace = [&](const std::string& directory, const std::string& space) {
    const Result<Listing> tables = list(directory);
    for (size_t i = 0; tables.ok() && i < tables->directories.size(); ++i)
      if (looks_like_a_table(directory + "/" + tables->directories[i]))
        names.push_back(HBaseTableName{space, tables->directories[i]}.text());
  };
  if (kind == HBaseKind::kNamespace) add_namespace(path, "default");
  if (kind != HBaseKind::kRoot) return names;
  const Result<Listing> spaces = list(path + "/data");
  for (size_t i = 0; spaces.ok() && i < spaces->directories.size(); ++i)
    if (spaces->directories[i] != "hbase")
      add_namespace(path + "/data/" + spaces->directories[i], spaces->directories[i]);
  return names;
}

std::vector<std::string> hbase_snapshots(const std::string& root) {
  std::vector<std::string> names;
  const Result<Listing> listing = list(root + "/.hbase-snapshot");
  for (size_t i = 0; listing.ok() && i < listing->directories.size(); ++i)
    if (!is_hidden(listing->directories[i])) names.push_back(listing->directories[i]);
  return names;
}

Result<HBaseTableFiles> find_hbase_table(const std::string& path, HBaseKind kind) {
  CELLAR_TRY_ASSIGN(HBasePlaces places, HBasePlaces::of(path));
  if (kind == HBaseKind::kTable) places.set_table_directory();
  HBaseTableFiles table;
  table.name = places.table() ? places.table()->text() : fs::path(places.directory()).filename().string();
  const std::string directory = places.directory();
  TableReader reader(std::move(places), table);
  if (kind == HBaseKind::kSnapshot) {
    CELLAR_TRY(reader.snapshot(directory));
  } else {
    CELLAR_TRY(reader.schema());
    if (table.schema) table.name = table.schema->table.text();
    if (kind == HBaseKind::kTable) {
      CELLAR_TRY(reader.table(directory));
    } else if (kind == HBaseKind::kRegion) {
      CELLAR_TRY(reader.region(directory));
    } else {
      CELLAR_TRY(reader.family(directory));
    }
  }
  return table;
}

Result<std::optional<HBaseTableSchema>> find_hbase_schema(const std::string& path) {
  CELLAR_TRY_ASSIGN(HBasePlaces places, HBasePlaces::of(path));
  std::string directory = places.table_directory();
  if (directory.empty() && looks_like_a_region(places.directory()))
    directory = fs::path(places.directory()).parent_path().string();
  HBaseTableFiles table;
  if (!directory.empty()) CELLAR_TRY(TableReader(std::move(places), table).schema_in(directory));
  return std::move(table.schema);
}

}  // namespace cellar
