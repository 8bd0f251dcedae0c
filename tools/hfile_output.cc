// HFileOutput: the writer over a file that is named at the end; facts are copied key by key.
#include "tools/hfile_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cellar/environment.h"
#include "hfile/codecs.h"
#include "hfile/hfile_parts.h"
#include "tools/hfile_paths.h"
#include "tools/operands.h"

namespace cellar {
namespace {

constexpr uint64_t kCellBytesMax = 128u << 20;  // what can be read can be written

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Facts that the writer makes itself, from the cells or from its options.
bool made_by_writer(std::string_view key) {
  constexpr std::string_view kKeys[] = {info_key::kKeyValueVersion,   info_key::kMaxMvcc,
                                        info_key::kDataBlockEncoding, info_key::kIndexBlockEncoding,
                                        info_key::kBloomType,         info_key::kBloomParam,
                                        info_key::kLastBloomKey,      info_key::kDeleteFamilyCount,
                                        info_key::kTimeRange,         info_key::kEarliestPut};
  return key.starts_with("hfile.") || std::ranges::count(kKeys, key) > 0;
}

}  // namespace

void HFileShape::declare(Arguments& arguments) {
  arguments.option("--compression", compression, "NAME", "codec; as the input, unless said")
      .option("--encoding", encoding, "NAME", "data block encoding; as the input, unless said")
      .option("--bloom", bloom, "NAME", "Bloom filter, or none; as the input, unless said")
      .option("--block-size", block_size, "SIZE", "of data blocks, such as 16k (64k)");
}

Result<HFileWriterOptions> HFileShape::options_beside(const std::string& codec,
                                                      const std::string& encoding_name,
                                                      const std::string& bloom_name) const {
  HFileWriterOptions options;
  options.compression = compression.empty() ? codec : compression;
  options.encoding = encoding.empty() ? encoding_name : encoding;
  options.bloom = lower(bloom.empty() ? bloom_name : bloom);
  if (!block_size.empty()) {
    CELLAR_TRY_ASSIGN(const uint64_t bytes, parse_size(block_size));
    options.block_bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX));
  }
  options.cell_bytes_max = kCellBytesMax;
  options.create_time_ms = system_clock().wall_ms();
  return options;
}

Result<HFileWriterOptions> HFileShape::options_for(const HFileReaders& inputs) const {
  const HFileReader& first = *inputs.front();
  CELLAR_TRY_ASSIGN(HFileWriterOptions options,
                    options_beside(std::string(codec_name(first.trailer().codec)),
                                   std::string(first.encoding_name()), bloom_option_of(first)));
  for (const auto& input : inputs) {
    const CellFormat format = input->cell_format();
    options.tags = options.tags || format.tags;
    options.mvcc = options.mvcc || format.mvcc;
  }
  if (first.meta_order()) options.comparator = first.trailer().comparator;
  return options;
}

Result<std::unique_ptr<HFileOutput>> HFileOutput::create(const std::string& path,
                                                         const HFileWriterOptions& options, bool replace) {
  auto made = std::make_unique<HFileOutput>();
  CELLAR_TRY_ASSIGN(made->file_, NamedFile::create(posix_file_system(), path, replace));
  CELLAR_TRY_ASSIGN(made->writer_, HFileWriter::create(made->file_->file(), options));
  return made;
}

Result<HFileSummary> HFileOutput::finish() {
  CELLAR_TRY_ASSIGN(HFileSummary summary, writer_->finish());
  CELLAR_TRY(file_->publish());
  return summary;
}

Status copy_facts(const HFileReader& from, HFileWriter& to) {
  for (const auto& [key, value] : from.info().entries()) {
    if (!made_by_writer(key)) CELLAR_TRY(to.set_info(key, value));
  }
  const HFileReader::Parts& parts = from.parts();
  for (const MetaBlockEntry& meta : parts.meta_blocks) {
    CELLAR_TRY_ASSIGN(Block * block, parts.blocks->read(meta.offset, meta.disk_bytes,
                                                        parts.trailer.load_on_open_offset, nullptr, nullptr));
    const Pin pin(block);
    CELLAR_TRY(to.add_meta_block(meta.name, std::string(block->payload())));
  }
  return {};
}

Status merge_facts(const HFileReaders& from, HFileWriter& to) {
  uint64_t newest = 0;
  for (const auto& file : from) newest = std::max(newest, file->max_sequence());
  FileInfo facts;
  if (newest > 0) facts.set_i64(info_key::kMaxSequence, static_cast<int64_t>(newest));
  for (const auto& [key, value] : facts.entries()) CELLAR_TRY(to.set_info(key, value));
  return {};
}

Result<HFileReaders> open_hfiles(Session& session, const std::vector<std::string>& paths) {
  HFileReaders files;
  for (const std::string& path : paths) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<HFileReader> file, open_hfile(session, path));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace cellar
