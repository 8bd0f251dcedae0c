// HFileBuilder: the public face over HFileWriter: a file of another name until it is whole and durable.
#include "cellar/hfile_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bloom/bloom_types.h"
#include "cell/cell_codec.h"
#include "hfile/write/hfile_writer.h"
#include "hfile/write/named_file.h"

namespace cellar {

struct HFileBuilder::Impl {
  std::unique_ptr<NamedFile> output;
  std::unique_ptr<HFileWriter> writer;  // goes before its file
  HFileBuilderOptions options;
  std::string key;  // of the cell being added
  Status failure;

  Status fail(Status status) { return failure = std::move(status); }
};

namespace {

// One of these names, by its place among them.
template <typename Value, size_t kCount>
Result<Value> choice(std::string_view option, std::string_view name, const std::string_view (&names)[kCount],
                     const Value (&values)[kCount]) {
  const auto found = std::ranges::find(names, name);
  if (found != std::end(names)) return values[found - std::begin(names)];
  return Status::invalid_argument(
      fmt::format("{}: invalid value \"{}\"; valid are {}", option, name, fmt::join(names, ", ")));
}

Result<HFileWriterOptions> writer_options(const HFileBuilderOptions& options) {
  HFileWriterOptions to;
  CELLAR_TRY_ASSIGN(to.bloom_hash, bloom_hash_by_name(options.bloom_hash));
  to.compression = options.compression;
  to.encoding = options.encoding;
  to.bloom = options.bloom;
  to.bloom_error_rate = static_cast<float>(options.bloom_error_rate);
  to.bloom_chunk_bytes = options.bloom_chunk_bytes;
  to.delete_family_bloom = options.delete_family_bloom;
  to.index_chunk_bytes = options.index_chunk_bytes;
  CELLAR_TRY_ASSIGN(to.separators,
                    choice("separators", options.separators, {"0.94", "1.0", "2.5"},
                           {SeparatorRule::kRealKeys, SeparatorRule::kHBase1To24, SeparatorRule::kHBase25}));
  CELLAR_TRY_ASSIGN(to.checksum, choice("checksum", options.checksum, {"null", "crc32", "crc32c"},
                                        {ChecksumType::kNull, ChecksumType::kCrc32, ChecksumType::kCrc32c}));
  to.bytes_per_checksum = options.bytes_per_checksum;
  to.trailer_sums = options.trailer_sums;
  to.block_bytes = options.block_bytes;
  to.cell_bytes_max = options.cell_bytes_max;
  to.tags = options.tags;
  to.compress_tags = options.compress_tags;
  // A bulk load as HBase's own: the field is there, and every sequence in it is zero.
  to.mvcc = options.mvcc || options.bulk_load;
  to.create_time_ms = options.created_ms;
  return to;
}

// Sets the facts that HFileOutputFormat2 records in its files.
Status set_bulk_load_facts(HFileWriter& writer, const HFileBuilderOptions& options) {
  FileInfo facts;
  facts.set_i64(info_key::kBulkLoadTime, options.created_ms);
  facts.set(info_key::kBulkLoadTask, "cellar");
  facts.set_bool(info_key::kMajorCompaction, true);
  facts.set_bool(info_key::kExcludeFromMinor, false);
  for (const auto& [key, value] : facts.entries()) CELLAR_TRY(writer.set_info(key, value));
  return {};
}

}  // namespace

HFileBuilder::HFileBuilder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HFileBuilder::HFileBuilder(HFileBuilder&&) noexcept = default;
HFileBuilder& HFileBuilder::operator=(HFileBuilder&& other) noexcept {
  std::swap(impl_, other.impl_);  // what this one wrote goes with the other
  return *this;
}

HFileBuilder::~HFileBuilder() = default;

Result<HFileBuilder> HFileBuilder::create(FileSystem& files, const std::string& path,
                                          const HFileBuilderOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (options.mvcc && options.bulk_load) {
    return Status::invalid_argument("a bulk load gives its cells one sequence: choose mvcc or bulk_load");
  }
  CELLAR_TRY_ASSIGN(const HFileWriterOptions writing, writer_options(options));
  CELLAR_TRY_ASSIGN(impl->output, NamedFile::create(files, path, options.replace));
  CELLAR_TRY_ASSIGN(impl->writer, HFileWriter::create(impl->output->file(), writing));
  if (options.bulk_load) CELLAR_TRY(set_bulk_load_facts(*impl->writer, options));
  return HFileBuilder(std::move(impl));
}

Status HFileBuilder::add(const Cell& cell) {
  if (cell.row.size() > kRowBytesMax || cell.family.size() > kFamilyBytesMax ||
      cell.tags.size() > kTagsBytesMax || cell.qualifier.size() > UINT32_MAX / 2 ||
      cell.value.size() > UINT32_MAX) {
    return impl_->fail(Status::limit(
        fmt::format("a cell of {} row, {} family, {} tags bytes: the limits are {}, {}, {}", cell.row.size(),
                    cell.family.size(), cell.tags.size(), kRowBytesMax, kFamilyBytesMax, kTagsBytesMax)));
  }
  std::string& key = impl_->key;
  key.clear();
  append_flat_key(key, cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type);
  CellView view;
  if (!parse_flat_key(key.data(), key.size(), view)) return impl_->fail(Status::limit("a key too large"));
  view.value = cell.value.data();
  view.value_size = static_cast<uint32_t>(cell.value.size());
  view.tags = cell.tags.data();
  view.tags_size = static_cast<uint16_t>(cell.tags.size());
  view.sequence = cell.sequence;
  return add_view(view);
}

Status HFileBuilder::add_view(const CellView& cell) {
  if (!impl_->failure.ok()) return impl_->failure;
  if (!impl_->options.bulk_load || cell.sequence == 0) return impl_->writer->add(cell);
  CellView loaded = cell;
  loaded.sequence = 0;
  return impl_->writer->add(loaded);
}

Status HFileBuilder::set_info(std::string_view key, std::string value) {
  if (!impl_->failure.ok()) return impl_->failure;
  return impl_->writer->set_info(key, std::move(value));
}

Status HFileBuilder::add_meta_block(std::string name, std::string content) {
  if (!impl_->failure.ok()) return impl_->failure;
  return impl_->writer->add_meta_block(std::move(name), std::move(content));
}

uint64_t HFileBuilder::bytes() const { return impl_->writer->bytes_written(); }

Result<HFileFacts> HFileBuilder::finish() {
  if (!impl_->failure.ok()) return impl_->failure;
  Result<HFileSummary> summary = impl_->writer->finish();
  if (!summary.ok()) return impl_->fail(summary.status());
  Result<std::unique_ptr<ReadableFile>> written = impl_->output->read_back();
  if (!written.ok()) return impl_->fail(written.status());
  const Result<HFile> file = HFile::open(std::move(*written), impl_->output->path());
  if (!file.ok()) return impl_->fail(file.status());
  HFileFacts facts = file->facts();
  facts.rows = summary->rows;
  if (const Status published = impl_->output->publish(); !published.ok()) return impl_->fail(published);
  return facts;
}

}  // namespace cellar
