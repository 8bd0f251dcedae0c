// HBasePlaces: composes paths below the root from checked names, and opens nothing else.
#include "tools/hbase/hbase_places.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "base/bytes.h"
#include "cellar/file_system.h"
#include "hfile/format/trailer.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kReferenceBytesMax = 64u << 10;
// Data directories below a root, in search order.
constexpr std::string_view kDataDirectories[] = {"data", "archive/data", ".tmp/data", "mobdir/data"};

std::vector<std::string> parts_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  return parts;
}

fs::file_type type_of(const std::string& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type();
}

bool ends_with(const std::vector<std::string>& parts, size_t end, std::string_view name) {
  return end > 0 && parts[end - 1] == name;
}

}  // namespace

bool is_plain_file(const std::string& path) { return type_of(path) == fs::file_type::regular; }
bool is_plain_directory(const std::string& path) { return type_of(path) == fs::file_type::directory; }

Result<std::string> read_small_file(const std::string& path, uint64_t bytes_max) {
  if (type_of(path) == fs::file_type::symlink)
    return Status::not_supported(path + " is a symbolic link, which is not followed");
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, posix_file_system().open_file(path));
  if (file->size() > bytes_max)
    return Status::limit(fmt::format("{} has {} bytes, more than such a file can have", path, file->size()));
  std::string bytes(file->size(), '\0');
  CELLAR_TRY(file->read(0, bytes.size(), bytes.data()));
  return bytes;
}

Result<HBasePlaces> HBasePlaces::of(const std::string& directory) {
  std::error_code error;
  const fs::path real = fs::canonical(directory, error);
  if (error) return Status::with_code(Code::kIoError, directory + ": " + error.message());
  HBasePlaces places;
  places.directory_ = real.string();
  const std::vector<std::string> parts = parts_of(real);
  // Finds the innermost "data" with a namespace and a table below it, or a snapshot, or the root itself.
  fs::path above;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool data = parts[i] == "data" && i + 2 < parts.size();
    const bool snapshot = parts[i] == ".hbase-snapshot" && i + 2 == parts.size();
    if (snapshot) places.root_ = above.string();
    HBaseTableName table;
    if (data) {
      table.space = parts[i + 1];
      table.name = parts[i + 2];
    }
    if (data && is_hbase_table_name(table)) {
      const bool archived = ends_with(parts, i, "archive");
      const bool temporary = ends_with(parts, i, ".tmp") || ends_with(parts, i, "mobdir");
      places.root_ = (archived || temporary ? above.parent_path() : above).string();
      places.table_ = table;
      places.region_ = i + 3 < parts.size() ? parts[i + 3] : "";
      places.is_table_ = i + 3 == parts.size();
    }
    above /= parts[i];
  }
  if (is_plain_directory(places.directory_ + "/.hbase-snapshot") ||
      is_plain_directory(places.directory_ + "/data"))
    places.root_ = places.directory_;
  return places;
}

std::string HBasePlaces::table_directory() const {
  if (is_table_) return directory_;
  if (root_.empty() || !table_ || region_.empty()) return {};
  // The region's directory is this directory or its parent: a family's directory is one level deeper.
  fs::path up = directory_;
  while (up.has_relative_path() && up.filename() != region_) up = up.parent_path();
  return up.has_relative_path() ? up.parent_path().string() : std::string();
}

Result<std::string> HBasePlaces::find(const HBaseTableName* table, std::string_view region,
                                      std::string_view family, std::string_view hfile) const {
  if (!is_hbase_region_name(region) || !is_hbase_family_name(family) || !is_hbase_file_name(hfile))
    return Status::corruption(fmt::format("invalid names of HBase: region \"{}\", family \"{}\", file \"{}\"",
                                          escaped(region), escaped(family), escaped(hfile)));
  const std::string below = fmt::format("/{}/{}/{}", region, family, hfile);
  std::vector<std::string> candidates;
  if (const std::string own = table_directory(); table == nullptr && !own.empty())
    candidates.push_back(own + below);
  if (table == nullptr && table_) table = &*table_;
  if (!root_.empty() && table != nullptr && is_hbase_table_name(*table))
    for (const std::string_view data : kDataDirectories)
      candidates.push_back(fmt::format("{}/{}/{}/{}{}", root_, data, table->space, table->name, below));
  for (const std::string& path : candidates) {
    if (type_of(path) == fs::file_type::not_found || type_of(path) == fs::file_type::none) continue;
    std::error_code error;
    if (!is_plain_file(path) || fs::canonical(path, error).string() != path || error)
      return Status::not_supported(path + " is reached through a symbolic link, which is not followed");
    return path;
  }
  if (candidates.empty())
    return Status::not_found(fmt::format("HFile {} of region {} is not in {}", hfile, region, directory_))
        .hinting(
            "name the table's directory, or a directory below HBase's root, ROOT/data/NAMESPACE/TABLE/…");
  return Status::not_found(fmt::format("HFile {} of table {}, region {}, family {} is missing", hfile,
                                       table != nullptr ? table->text() : "itself", region, escaped(family)))
      .at(candidates.front())
      .hinting(root_.empty() ? "a copy of the table must hold all of its regions"
                             : "it is looked for below data/ and archive/ of " + root_);
}

Result<HBaseStoreFile> HBasePlaces::resolve(const HBaseFileName& meaning, const std::string& path,
                                            std::string_view family, std::optional<HBaseHalf> half) const {
  HBaseStoreFile file;
  file.name = fs::path(path).filename().string();
  if (!meaning.parent.empty() && !half) {
    CELLAR_TRY_ASSIGN(const std::string bytes, read_small_file(path, kReferenceBytesMax));
    Result<HBaseHalf> read = parse_hbase_reference(bytes);
    if (!read.ok()) return read.status().with_context(path);
    half = std::move(*read);
  }
  file.half = std::move(half);
  const bool linked = meaning.link.has_value();
  Result<std::string> target = linked
                                   ? find(&meaning.link->table, meaning.link->region, family, meaning.hfile)
                                   : find(nullptr, meaning.parent, family, meaning.hfile);
  if (!target.ok())
    return target.status().with_context(
        fmt::format("{} {}", path, meaning.parent.empty() ? "is a link" : "is half of a file"));
  file.path = std::move(*target);
  return file;
}

Result<HBaseStoreFile> hbase_file_behind(const std::string& path) {
  const fs::path file(path);
  const std::optional<HBaseFileName> meaning = parse_hbase_reference_name(file.filename().string());
  std::error_code error;
  if (!meaning || !is_plain_file(path) || fs::file_size(file, error) > kReferenceBytesMax)
    return HBaseStoreFile{file.filename().string(), path, {}};
  // A link is an empty file, and a half is a valid reference. Any other file only happens to have such a
  // name.
  Result<std::string> bytes = read_small_file(path, kReferenceBytesMax);
  const bool half = !meaning->parent.empty();
  if (!bytes.ok() || (half ? !parse_hbase_reference(*bytes).ok() : !bytes->empty()))
    return HBaseStoreFile{file.filename().string(), path, {}};
  const fs::path family = file.has_parent_path() ? file.parent_path() : fs::path(".");
  CELLAR_TRY_ASSIGN(const HBasePlaces places, HBasePlaces::of(family.string()));
  return places.resolve(*meaning, path, fs::path(places.directory()).filename().string(), {});
}

}  // namespace cellar
