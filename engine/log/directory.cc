// Names in a store's directory, CURRENT, and what a directory is.
#include "engine/log/directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/checksum.h"

namespace cellar {

namespace {

constexpr size_t kStoreFilesMax = 1'000'000;
constexpr std::string_view kCopySuffix = ".copy";

bool parse_number(std::string_view digits, uint64_t& value) {
  if (digits.empty() || digits.size() > 19) return false;  // 19 digits always fit
  value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return true;
}

// Takes "key value\n" off the front of `text`.
bool take_line(std::string_view& text, std::string_view key, std::string_view& value) {
  if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != ' ') return false;
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  value = text.substr(key.size() + 1, end - key.size() - 1);
  text.remove_prefix(end + 1);
  return true;
}

// Returns true if a sub-directory has an entry that fits, false if it has none or does not exist.
template <class Predicate>
Result<bool> holds(Directory& root, std::string_view name, const Predicate& fits) {
  Result<std::unique_ptr<Directory>> directory = root.directory(name, false);
  if (!directory.ok()) {
    if (directory.status().is(Code::kNotFound)) return false;
    return directory.status();
  }
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, (*directory)->list());
  return std::any_of(entries.begin(), entries.end(), fits);
}

}  // namespace

std::string manifest_name(uint64_t generation) { return fmt::format("MANIFEST-{:06}", generation); }

bool parse_manifest_name(std::string_view name, uint64_t& generation) {
  constexpr std::string_view kPrefix = "MANIFEST-";
  return name.starts_with(kPrefix) && parse_number(name.substr(kPrefix.size()), generation) &&
         name == manifest_name(generation);
}

std::string segment_name(uint64_t id) { return fmt::format("{:010}.log", id); }

bool parse_segment_name(std::string_view name, uint64_t& id) {
  return name.ends_with(".log") && parse_number(name.substr(0, name.size() - 4), id) &&
         name == segment_name(id);
}

std::string segment_copy_name(uint64_t id) { return segment_name(id) + std::string(kCopySuffix); }

bool is_segment_copy_name(std::string_view name) {
  uint64_t ignored = 0;
  return name.ends_with(kCopySuffix) &&
         parse_segment_name(name.substr(0, name.size() - kCopySuffix.size()), ignored);
}

std::string store_file_name(const Identity& identity, uint64_t number) {
  return fmt::format("{:016x}{:016x}", identity.high, number);
}

bool is_store_file_name(std::string_view name) {
  Identity ignored;
  return parse_identity(name, ignored);
}

bool parse_store_file_name(const Identity& identity, std::string_view name, uint64_t& number) {
  Identity parsed;
  if (!parse_identity(name, parsed) || parsed.high != identity.high || parsed.low >= kCountMax) return false;
  number = parsed.low;
  return true;
}

std::string to_text(const Current& current) {
  std::string text = fmt::format("{}format 1\nidentity {}\nmanifest {}\nedit {}\n", kStoreMarker,
                                 current.identity.hex(), manifest_name(current.generation), current.edit);
  return text + fmt::format("crc {:08x}\n", crc32c(text));
}

Result<Current> parse_current(std::string_view text) {
  const Status damaged = Status::corruption("CURRENT is damaged").at(kCurrentName);
  if (!text.starts_with(kStoreMarker)) return damaged;
  std::string_view rest = text.substr(kStoreMarker.size());
  std::string_view format, identity, manifest, edit;
  uint64_t version = 0;
  if (!take_line(rest, "format", format) || !parse_number(format, version)) return damaged;
  // Only a file whose sum is right may claim to be newer: the last line is the sum in every format.
  const size_t last = text.size() >= 13 ? text.size() - 13 : 0;
  if (text.substr(last) != fmt::format("crc {:08x}\n", crc32c(text.substr(0, last)))) return damaged;
  if (version > 1) {
    return Status::not_supported(
               fmt::format("the store has format {}, which a newer version of Cellar wrote", version))
        .at(kCurrentName);
  }
  Current current;
  if (!take_line(rest, "identity", identity) || !parse_identity(identity, current.identity) ||
      !take_line(rest, "manifest", manifest) || !parse_manifest_name(manifest, current.generation) ||
      !take_line(rest, "edit", edit) || !parse_number(edit, current.edit) || to_text(current) != text) {
    return damaged;
  }
  return current;
}

Result<Current> read_current(Directory& root) {
  constexpr uint64_t kCurrentBytesMax = 4096;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<ReadableFile> file, root.open(kCurrentName));
  if (file->size() > kCurrentBytesMax) return Status::corruption("CURRENT is damaged").at(kCurrentName);
  std::string text(file->size(), '\0');
  CELLAR_TRY(file->read(0, text.size(), text.data()));
  return parse_current(text);
}

Result<StoreProbe> probe_store(Directory& root) {
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, root.list());
  StoreProbe probe;
  bool current = false, traces = false, later = false;
  for (const DirectoryEntry& entry : entries) {
    uint64_t generation = 0;
    if (entry.name == kCurrentName && !entry.is_directory) {
      current = true;
    } else if (entry.name == kCurrentTempName) {
      traces = true;
    } else if (parse_manifest_name(entry.name, generation)) {
      traces = true;
      later = later || generation > 1;
    } else if (entry.is_directory &&
               (entry.name == kWalDirectoryName || entry.name == kTablesDirectoryName)) {
      traces = true;
    } else if (entry.name != kLockName && !(entry.is_directory && entry.name == kSnapshotsDirectoryName)) {
      ++probe.strangers;
    }
  }
  if (current) {
    probe.kind = StoreKind::kStore;
    return probe;
  }
  uint64_t ignored = 0;
  CELLAR_TRY_ASSIGN(const bool logs, holds(root, kWalDirectoryName, [&](const DirectoryEntry& entry) {
                      return parse_segment_name(entry.name, ignored);
                    }));
  CELLAR_TRY_ASSIGN(const std::vector<StoredFile> files, list_store_files(root, nullptr));
  if (later || logs || !files.empty()) {
    probe.kind = StoreKind::kLost;
  } else if (traces) {
    probe.kind = StoreKind::kInterrupted;
  }
  return probe;
}

Status require_store(Directory& root) {
  CELLAR_TRY_ASSIGN(const StoreProbe probe, probe_store(root));
  switch (probe.kind) {
    case StoreKind::kStore:
      break;
    case StoreKind::kLost:
      return Status::corruption(
                 "the store has lost its file CURRENT: it has logs, store files or manifests, but nothing "
                 "says which of them are valid")
          .at(root.path())
          .hinting("restore CURRENT from a backup; do not create a new store here");
    case StoreKind::kInterrupted:
      return Status::not_found("not a store: its creation was interrupted").at(root.path());
    case StoreKind::kEmpty:
      return Status::not_found("not a store").at(root.path());
  }
  return Status();
}

Result<std::unique_ptr<Directory>> open_wal_directory(Directory& root, bool create) {
  return root.directory(kWalDirectoryName, create);
}

Result<std::vector<uint64_t>> list_segments(Directory& wal) {
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, wal.list());
  std::vector<uint64_t> ids;
  for (const DirectoryEntry& entry : entries)
    if (uint64_t id = 0; parse_segment_name(entry.name, id)) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

Result<std::unique_ptr<Directory>> open_family_directory(Directory& root, uint32_t table_id,
                                                         std::string_view family, bool create) {
  CELLAR_TRY(check_file_name(family));
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> tables, root.directory(kTablesDirectoryName, create));
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> table, tables->directory(std::to_string(table_id), create));
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> opened, table->directory(family, create));
  return opened;
}

Status sync_table_directory(Directory& root, uint32_t table_id) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> tables, root.directory(kTablesDirectoryName, false));
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> table, tables->directory(std::to_string(table_id), false));
  CELLAR_TRY(table->sync());
  return tables->sync();
}

void remove_family_directory(Directory& root, uint32_t table_id, std::string_view family) {
  Result<std::unique_ptr<Directory>> tables = root.directory(kTablesDirectoryName, false);
  if (!tables.ok()) return;
  Result<std::unique_ptr<Directory>> table = (*tables)->directory(std::to_string(table_id), false);
  if (!table.ok()) return;
  static_cast<void>((*table)->remove_directory(family).ok());
}

bool remove_table_directories(Directory& root, uint32_t table_id) {
  const std::string name = std::to_string(table_id);
  Result<std::unique_ptr<Directory>> tables = root.directory(kTablesDirectoryName, false);
  if (!tables.ok()) return false;
  Result<std::unique_ptr<Directory>> table = (*tables)->directory(name, false);
  if (!table.ok()) return table.status().is(Code::kNotFound);
  const Result<std::vector<DirectoryEntry>> families = (*table)->list();
  if (!families.ok()) return false;
  for (const DirectoryEntry& family : *families)
    if (family.is_directory) static_cast<void>((*table)->remove_directory(family.name).ok());
  table->reset();
  return (*tables)->remove_directory(name).ok();
}

std::string to_text(const StoredFile& file) {
  return fmt::format("{}/{}/{}/{}", kTablesDirectoryName, file.table_id, file.family, file.name);
}

namespace {

Status list_family(Directory& table, uint32_t table_id, const std::string& family,
                   std::vector<StoredFile>& files, std::vector<std::string>* strangers) {
  CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> directory, table.directory(family, false));
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, directory->list());
  for (const DirectoryEntry& entry : entries) {
    StoredFile file{table_id, family, entry.name, entry.bytes};
    if (entry.is_directory || !is_store_file_name(entry.name)) {
      if (strangers != nullptr) strangers->push_back(to_text(file));
      continue;
    }
    if (files.size() == kStoreFilesMax) return Status::limit("more than 1,000,000 store files");
    files.push_back(std::move(file));
  }
  return Status();
}

}  // namespace

Result<std::vector<StoredFile>> list_store_files(Directory& root, std::vector<std::string>* strangers,
                                                 std::vector<FamilyPlace>* directories) {
  std::vector<StoredFile> files;
  Result<std::unique_ptr<Directory>> tables = root.directory(kTablesDirectoryName, false);
  if (!tables.ok()) {
    if (tables.status().is(Code::kNotFound)) return files;
    return tables.status();
  }
  CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> table_entries, (*tables)->list());
  for (const DirectoryEntry& entry : table_entries) {
    uint64_t table_id = 0;
    const bool is_table = entry.is_directory && parse_number(entry.name, table_id) &&
                          table_id <= UINT32_MAX && entry.name == std::to_string(table_id);
    if (!is_table) {
      if (strangers != nullptr) strangers->push_back(fmt::format("{}/{}", kTablesDirectoryName, entry.name));
      continue;
    }
    CELLAR_TRY_ASSIGN(std::unique_ptr<Directory> table, (*tables)->directory(entry.name, false));
    CELLAR_TRY_ASSIGN(const std::vector<DirectoryEntry> families, table->list());
    if (directories != nullptr) directories->push_back({static_cast<uint32_t>(table_id), {}});
    for (const DirectoryEntry& family : families) {
      if (family.is_directory) {
        if (directories != nullptr) directories->push_back({static_cast<uint32_t>(table_id), family.name});
        CELLAR_TRY(list_family(*table, static_cast<uint32_t>(table_id), family.name, files, strangers));
      } else if (strangers != nullptr) {
        strangers->push_back(fmt::format("{}/{}/{}", kTablesDirectoryName, table_id, family.name));
      }
    }
  }
  std::sort(files.begin(), files.end(), [](const StoredFile& a, const StoredFile& b) {
    return std::tie(a.table_id, a.family, a.name) < std::tie(b.table_id, b.family, b.name);
  });
  return files;
}

}  // namespace cellar
