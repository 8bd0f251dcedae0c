// BulkFiles: one look at the directory, with HBase's rules for names.
#include "tools/bulk_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "cellar/cell.h"

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

void look_at_file(const std::string& family, const fs::directory_entry& entry, BulkFiles& found) {
  const std::string path = entry.path().string();
  const std::string name = entry.path().filename().string();
  std::error_code ignored;
  if (!entry.is_regular_file(ignored)) {
    found.strays.push_back({path, "is not a file: HBase looks for files below the family", true});
    return;
  }
  switch (bulk_name_of(name)) {
    case BulkName::kFile:
      found.files.push_back({family, path});
      return;
    case BulkName::kHidden:
      // Markers that jobs leave (_SUCCESS) are empty.
      found.strays.push_back({path, "begins with '_': HBase passes it over", entry.file_size(ignored) > 0});
      return;
    case BulkName::kReference:
      found.strays.push_back(
          {path, "is called like a reference (hex digits and a dot): HBase passes it over"});
      return;
    case BulkName::kLink:
      found.strays.push_back({path, "is called like a link (table=region-file): HBase passes it over"});
      return;
  }
}

}  // namespace

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
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory(ignored)) {
      const bool matters = !name.starts_with('_') && !name.starts_with('.');
      found.strays.push_back({entry.path().string(), "is not in a family's directory", matters});
    } else if (!is_family_name(name)) {
      found.strays.push_back({entry.path().string(), "is no family's name: HBase passes it over"});
    } else {
      CELLAR_TRY_ASSIGN(const auto files, sorted_entries(entry.path().string()));
      for (const fs::directory_entry& file : files) look_at_file(name, file, found);
    }
  }
  return found;
}

}  // namespace cellar
