// BulkFiles: one look at the directory, with HBase's rules for names.
#include "tools/transfer/bulk_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/bytes.h"
#include "cellar/cell.h"
#include "cellar/file_system.h"
#include "tools/hbase/hfile_paths.h"
#include "tools/store/schema_file.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the longest run of fitting characters off the front; how many.
template <class Fits>
size_t skip(std::string_view& text, const Fits& fits) {
  const auto end = std::find_if_not(text.begin(), text.end(), fits);
  const auto count = static_cast<size_t>(end - text.begin());
  text.remove_prefix(count);
  return count;
}

// [0-9a-f]+(_SeqId_[0-9]+_|_del)?\..+
bool is_reference(std::string_view name) {
  if (skip(name, is_hex) == 0) return false;
  constexpr std::string_view kSequence = "_SeqId_";
  if (name.starts_with(kSequence)) {
    name.remove_prefix(kSequence.size());
    if (skip(name, is_digit) == 0 || !name.starts_with('_')) return false;
    name.remove_prefix(1);
  } else if (name.starts_with("_del")) {
    name.remove_prefix(4);
  }
  return name.size() >= 2 && name.starts_with('.');
}

// table=region-file, the last two in hex digits.
bool is_link(std::string_view name) {
  const size_t equals = name.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  name.remove_prefix(equals + 1);
  if (skip(name, is_hex) == 0 || !name.starts_with('-')) return false;
  name.remove_prefix(1);
  return skip(name, is_hex) > 0;
}

Status io_failure(const std::string& path, const std::error_code& error) {
  return Status::with_code(error == std::errc::no_such_file_or_directory ? Code::kNotFound : Code::kIoError,
                           fmt::format("{}: {}", path, error.message()));
}

Result<std::vector<fs::directory_entry>> sorted_entries(const std::string& path) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  fs::directory_iterator walk(path, error);
  for (; !error && walk != fs::directory_iterator(); walk.increment(error)) entries.push_back(*walk);
  if (error) return io_failure(path, error);
  std::ranges::sort(entries, {}, [](const fs::directory_entry& each) { return each.path().string(); });
  return entries;
}

// The kind of an entry in a directory: a region of HBase, or one laid out for a bulk load.
struct Entry {
  enum class Kind : uint8_t {
    kFamily,   // a directory of files
    kFile,     // a file that may hold cells
    kSidecar,  // sums that Hadoop keeps next to a file; skipped silently
    kLeftOut,  // HBase passes it over; `why` and `matters` say the rest
  };
  Kind kind = Kind::kLeftOut;
  std::string why = {};
  bool matters = true;
};

Entry left_out(std::string why, bool matters) { return {Entry::Kind::kLeftOut, std::move(why), matters}; }

// Returns true for ".NAME.crc". Hadoop's local file system writes one next to each file; it begins with "crc"
// and a zero byte.
bool is_sidecar(const fs::directory_entry& entry, std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(".crc") ||
      look_at_file(entry.path().string()) == FileLook::kHFile)
    return false;
  const Result<std::unique_ptr<ReadableFile>> file = posix_file_system().open_file(entry.path().string());
  char magic[4] = {};
  return file.ok() && (*file)->size() >= sizeof magic && (*file)->read(0, sizeof magic, magic).ok() &&
         std::string_view(magic, sizeof magic) == std::string_view("crc\0", 4);
}

// Returns true if recovered.edits holds writes that the region has not taken in: any file there except sums
// and markers. Markers end in .seqid or are empty.
bool holds_edits(const fs::directory_entry& directory) {
  std::error_code error;
  for (fs::directory_iterator at(directory.path(), error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_regular_file(error) && (name.ends_with(".seqid") || at->file_size(error) == 0)) continue;
    if (!is_sidecar(*at, name)) return true;
  }
  return static_cast<bool>(error);
}

// The entries that HBase itself keeps in a region's directory.
std::optional<Entry> own_entry(const fs::directory_entry& entry, std::string_view name) {
  if (name == ".tmp") return left_out("has unfinished output of HBase, which is ignored", false);
  if (name == ".regioninfo") return left_out("describes the region", false);
  if (name == ".splits" || name == ".merges") return left_out("is HBase's own", false);
  if (name != "recovered.edits") return std::nullopt;
  if (holds_edits(entry)) return left_out("has writes that are not in the region's files", true);
  return left_out("is not the name of a family: HBase keeps markers there", false);
}

// Returns the kind of an entry of a region's directory.
Entry entry_of_region(const fs::directory_entry& entry) {
  std::error_code ignored;
  const std::string name = entry.path().filename().string();
  if (std::optional<Entry> own = own_entry(entry, name)) return std::move(*own);
  if (entry.is_directory(ignored))
    return is_family_name(name) ? Entry{Entry::Kind::kFamily}
                                : left_out("is not the name of a family: HBase skips it", true);
  if (is_sidecar(entry, name) || name == kSchemaFileName) return {Entry::Kind::kSidecar};
  return left_out("is not in a family's directory", !name.starts_with('_') && !name.starts_with('.'));
}

// Returns the kind of an entry of a family's directory.
Entry entry_of_family(const fs::directory_entry& entry) {
  std::error_code ignored;
  const std::string name = entry.path().filename().string();
  if (name == ".filelist") return left_out("is HBase's list of the files", false);
  if (!entry.is_regular_file(ignored))
    return left_out("is not a file: HBase looks for files below the family", true);
  if (is_sidecar(entry, name)) return {Entry::Kind::kSidecar};
  switch (bulk_name_of(name)) {
    case BulkName::kFile:
      break;
    case BulkName::kHidden:
      // Markers that jobs leave (_SUCCESS) are empty.
      return left_out("begins with '_': HBase skips it", entry.file_size(ignored) > 0);
    case BulkName::kReference:
      return left_out("is named like a reference (hex digits and a dot): HBase skips it", true);
    case BulkName::kLink:
      return left_out("is named like a link (table=region-file): HBase skips it", true);
  }
  return {Entry::Kind::kFile};
}

void leave_out(const fs::directory_entry& at, Entry entry, BulkFiles& found) {
  if (entry.kind == Entry::Kind::kLeftOut)
    found.strays.push_back({at.path().string(), std::move(entry.why), entry.matters});
}

}  // namespace

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

BulkName bulk_name_of(std::string_view name) {
  if (name.starts_with('_')) return BulkName::kHidden;
  if (is_link(name)) return BulkName::kLink;
  return is_reference(name) ? BulkName::kReference : BulkName::kFile;
}

bool is_family_name(std::string_view name) {
  const bool legal = std::ranges::all_of(
      name, [](unsigned char c) { return c >= 0x20 && c != 0x7f && c != ':' && c != '/' && c != '\\'; });
  return !name.empty() && name.size() <= kFamilyBytesMax && !name.starts_with('.') && legal &&
         name != "recovered.edits";
}

Result<BulkFiles> find_bulk_files(const std::string& directory) {
  BulkFiles found;
  CELLAR_TRY_ASSIGN(const auto entries, sorted_entries(directory));
  for (const fs::directory_entry& at : entries) {
    Entry entry = entry_of_region(at);
    if (entry.kind != Entry::Kind::kFamily) {
      leave_out(at, std::move(entry), found);
      continue;
    }
    CELLAR_TRY_ASSIGN(const auto files, sorted_entries(at.path().string()));
    for (const fs::directory_entry& file : files) {
      Entry below = entry_of_family(file);
      if (below.kind == Entry::Kind::kFile) {
        found.files.push_back({at.path().filename().string(), file.path().string()});
      } else {
        leave_out(file, std::move(below), found);
      }
    }
  }
  return found;
}

}  // namespace cellar
