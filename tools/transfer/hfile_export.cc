// HFileExport: a builder for each family, all of them changed at the border of a region.
#include "tools/transfer/hfile_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "tools/store/schema_file.h"
#include "tools/transfer/bulk_files.h"

namespace cellar {
namespace {

namespace fs = std::filesystem;

// "zstd(level=9)" is "zstd".
std::string plain_name(std::string_view option) { return std::string(option.substr(0, option.find('('))); }

// HBase's names are ours in capitals.
std::string hbase_spelling(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

Status check_name(std::string_view what, std::string_view option,
                  std::initializer_list<std::string_view> known) {
  if (std::ranges::find(known, plain_name(option)) != known.end()) return {};
  return Status::not_supported(fmt::format("HBase has no {} \"{}\"", what, option))
      .hinting("cellar alter gives the family another one; its next files have it");
}

Result<HFileBuilderOptions> options_for(const FamilyOptions& family) {
  CELLAR_TRY(check_name("compression", family.compression,
                        {"none", "gz", "snappy", "lz4", "lzo", "zstd", "bzip2", "brotli", "lzma"}));
  CELLAR_TRY(
      check_name("encoding", family.encoding, {"none", "prefix", "diff", "fast_diff", "row_index_v1"}));
  CELLAR_TRY(check_name("Bloom filter", family.bloom, {"none", "row", "rowcol", "rowprefix_fixed_length"}));
  HFileBuilderOptions options;
  options.compression = family.compression;
  options.encoding = family.encoding;
  options.bloom = family.bloom;
  options.bloom_hash = family.bloom_hash;
  options.bloom_error_rate = family.bloom_bits_percent_error / 100.0;
  options.block_bytes = family.block_bytes;
  options.cell_bytes_max = 128u << 20;  // what was stored can be written
  options.tags = true;                  // as HBase's own writer for bulk loads; a time to live is one
  options.compress_tags = family.compress_tags;
  options.created_ms = system_clock().wall_ms();
  return options;
}

std::string random_name() { return fmt::format("{:016x}{:016x}", system_random(), system_random()); }

Status io_failure(const std::string& what, const std::string& path, const std::error_code& error) {
  return Status::io_error(fmt::format("{}: {}", what, error.message())).at(path);
}

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Status sync_directory(const std::string& path) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> directory,
                    posix_file_system().open_directory(path, false));
  return directory->sync();
}

// As the directories of a store: its owner's alone, whatever the umask allows. It may be there already.
Status make_directory(const std::string& path) {
  return posix_file_system().open_directory(path, /*create=*/true).status();
}

}  // namespace

Result<std::unique_ptr<HFileExport>> HFileExport::create(const std::string& path, const TableInfo& table,
                                                         RowSplits splits) {
  std::unique_ptr<HFileExport> made(
      new HFileExport(without_slash(path), schema_file_text({table.name, table.options}), std::move(splits)));
  for (const FamilyInfo& family : table.families) {
    auto options = options_for(family.options);
    if (!options.ok()) return options.status().with_context("family " + family.options.name);
    made->families_[family.options.name].options = std::move(options).value();
  }
  std::error_code error;
  const fs::file_status found = fs::symlink_status(made->path_, error);
  const bool free = !fs::exists(found) || (fs::is_directory(found) && fs::is_empty(made->path_, error));
  if (error && error != std::errc::no_such_file_or_directory)
    return io_failure("cannot look at it", made->path_, error);
  if (!free)
    return Status::invalid_argument("the output exists and is not an empty directory")
        .at(made->path_)
        .hinting("name a directory that does not exist yet");
  const std::string partial = fmt::format("{}.partial-{:08x}", made->path_, system_random() & 0xffffffff);
  CELLAR_TRY(make_directory(partial));
  made->partial_ = partial;
  return made;
}

HFileExport::~HFileExport() {
  open_.clear();
  std::error_code ignored;
  if (!finished_ && !partial_.empty()) fs::remove_all(partial_, ignored);
}

Status HFileExport::add(const CellView& cell) {
  if (!begun_ || cell.row() != row_) {
    row_.assign(cell.row());
    const size_t region = splits_.region_of(row_);
    if (region != region_) CELLAR_TRY(close_files());
    region_ = region;
    begun_ = true;
  }
  auto file = open_.find(cell.family());
  if (file == open_.end()) {
    CELLAR_TRY(open_file(std::string(cell.family())));
    file = open_.find(cell.family());
  }
  return file->second.add_view(cell);
}

Status HFileExport::open_file(const std::string& family) {
  const std::string directory = partial_ + "/" + family;
  CELLAR_TRY(make_directory(directory));
  CELLAR_TRY_ASSIGN(HFileBuilder builder,
                    HFileBuilder::create(posix_file_system(), directory + "/" + random_name(),
                                         families_.at(family).options));
  open_.emplace(family, std::move(builder));
  return {};
}

Status HFileExport::close_files() {
  for (auto& [name, builder] : open_) {
    CELLAR_TRY_ASSIGN(const HFileFacts built, builder.finish());
    Family& family = families_.find(name)->second;
    family.files += 1;
    family.cells += built.cells;
    family.bytes += built.file_bytes;
  }
  open_.clear();
  return {};
}

Status HFileExport::sync_directories() const {
  for (const auto& [name, family] : families_)
    if (family.files != 0) CELLAR_TRY(sync_directory(partial_ + "/" + name));
  return sync_directory(partial_);
}

Status HFileExport::write_schema() const {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> directory,
                    posix_file_system().open_directory(partial_, false));
  CELLAR_TRY_ASSIGN(const std::unique_ptr<WritableFile> file, directory->create(kSchemaFileName, {}));
  CELLAR_TRY(file->append(schema_));
  CELLAR_TRY(file->sync());
  return file->close();
}

Status HFileExport::finish() {
  CELLAR_TRY(close_files());
  CELLAR_TRY(write_schema());
  CELLAR_TRY(sync_directories());
  std::error_code error;
  fs::rename(partial_, path_, error);  // an empty directory of that name is replaced, anything else is not
  if (error) return io_failure("cannot give the output its name", path_, error);
  finished_ = true;
  return sync_directory(parent_of(path_));
}

void print_families(Session& session, const std::string& path, const HFileExport& made) {
  Records records(session.out(), session.format(), "cellar.export/1", "families");
  uint64_t files = 0;
  uint64_t cells = 0;
  for (const auto& [name, family] : made.families()) {
    if (family.files == 0) continue;
    files += family.files;
    cells += family.cells;
    records.text("directory", without_slash(path) + "/" + name)
        .text("family", name)
        .count("files", family.files)
        .count("cells", family.cells)
        .size("bytes", family.bytes)
        .text("version", "v3")
        .text("compression", hbase_spelling(plain_name(family.options.compression)))
        .text("encoding", hbase_spelling(family.options.encoding))
        .text("bloom", hbase_spelling(plain_name(family.options.bloom)))
        .add();
  }
  records.count("files", files).count("cells", cells).finish();
}

}  // namespace cellar
