// The work of each fuzz target on its bytes.
#include "tests/fuzz/targets.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "base/plugins.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "hfile/block/block_writer.h"
#include "hfile/block/file_parts.h"
#include "hfile/check/describe.h"
#include "hfile/check/salvage.h"
#include "hfile/check/verify.h"
#include "hfile/codec/codecs.h"
#include "hfile/codec/stepwise.h"
#include "hfile/encoding/encoding.h"
#include "hfile/read/hfile_reader.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/support/byte_files.h"

namespace cellar::fuzz {
namespace {

constexpr uint64_t kCellsWalked = 2'000;
constexpr uint64_t kPayloadBytesMax = 8 << 20;  // smaller than a user's, so that each input is quick

// Every cell, and searches for some of them. Returns whether all was read without an error.
bool walk(const HFileReader& file, bool& ordered) {
  const std::unique_ptr<RunCursor> cursor = file.cursor({.fill_cache = false});
  OwnedCell target;
  OwnedCell before;
  first_of_row(target, {});
  uint64_t cells = 0;
  for (const CellView* cell = cursor->seek(target.view()); cell != nullptr; cell = cursor->next()) {
    if (cells > 0 && !file.meta_order() && compare_keys(before.view(), *cell) > 0) ordered = false;
    before.assign(*cell);
    if (++cells == kCellsWalked) break;
    if (cells % 61 == 1) {
      const std::string columns[] = {std::string(cell->qualifier())};
      static_cast<void>(file.may_contain_columns(cell->row(), columns, nullptr));
      static_cast<void>(file.may_contain_rows(cell->row(), cell->row(), true, nullptr));
      static_cast<void>(file.may_contain_family_markers(cell->row(), nullptr));
      const std::unique_ptr<RunCursor> other = file.cursor({.fill_cache = false});
      if (other->seek(before.view()) != nullptr) static_cast<void>(other->next());
      static_cast<void>(other->seek_before(before.view()));
    }
  }
  return cursor->status().ok();
}

// Describes a file completely, and one of its blocks in full, chosen by the file's bytes.
void describe_all(std::string_view bytes) {
  DescribeOptions options = {
      .layout = true, .blocks = true, .index = true, .bloom = true, .scan = true, .list_max = 100};
  options.block_payload_bytes_max = kPayloadBytesMax;
  const auto whole = describe(std::make_unique<testing::ViewFile>(bytes), options);
  if (!whole.ok() || whole->blocks.empty()) return;
  const HFileBlockLine& chosen = whole->blocks[bytes.size() % whole->blocks.size()];
  DescribeOptions one = {.cells = true, .list_max = 100};
  one.block_payload_bytes_max = kPayloadBytesMax;
  one.block = {.by_offset = bytes.size() % 2 == 0, .value = chosen.ordinal};
  if (one.block->by_offset) one.block->value = chosen.offset;
  static_cast<void>(describe(std::make_unique<testing::ViewFile>(bytes), one));
}

// Everything that can be done with a file.
void use(std::string_view bytes) {
  HFileReaderOptions options;
  options.name = "fuzz";
  options.block_payload_bytes_max = kPayloadBytesMax;
  const auto file = HFileReader::open(std::make_unique<testing::ViewFile>(bytes), options);
  bool ordered = true;
  if (file.ok()) {
    static_cast<void>(file.value()->may_contain_row("row0001", nullptr));
    walk(**file, ordered);
  }
  VerifyOptions verifying;
  verifying.name = "fuzz";
  verifying.level = VerifyLevel::kDeep;
  verifying.block_payload_bytes_max = kPayloadBytesMax;
  const VerifyReport report = verify(std::make_unique<testing::ViewFile>(bytes), verifying);
  CELLAR_ASSERT(report.verdict != VerifyVerdict::kSound || ordered);
  describe_all(bytes);
}

void salvage_all(std::string_view bytes) {
  OwnedCell before;
  bool first = true;
  const SalvageTaker taker = {.begin = [](const SalvageFormat&) { return Status(); },
                              .take = [&](const CellView& cell) -> Status {
                                CELLAR_ASSERT(first || compare_keys(before.view(), cell) <= 0);
                                before.assign(cell);
                                first = false;
                                return {};
                              }};
  static_cast<void>(salvage(std::make_shared<testing::ViewFile>(bytes), "fuzz", taker));
}

// A sound file with this payload for the n-th block after its cells.
struct Sections {
  std::string front;  // up to the load-on-open section
  std::vector<std::pair<BlockKind, std::string>> blocks;
  Trailer trailer;
};

Sections take_apart(const std::string& bytes) {
  Sections sections;
  HFileReaderOptions options;
  const auto file = HFileReader::open(std::make_unique<testing::ViewFile>(bytes), options).value();
  const FileParts& parts = file->parts();
  sections.trailer = parts.trailer;
  sections.front = bytes.substr(0, parts.trailer.load_on_open_offset);
  for (const SectionBlock& section : parts.sections) {
    sections.blocks.emplace_back(
        section.header.kind,
        bytes.substr(section.offset + section.header.header_bytes, section.header.body_bytes));
  }
  return sections;
}

std::string put_together(const Sections& sections, size_t replaced, std::string_view payload) {
  testing::StringFile file;
  BlockWriter blocks(file, *compressor_by_name("none").value(), ChecksumType::kCrc32c, kBytesPerChecksum);
  blocks.append(sections.front);
  Trailer trailer = sections.trailer;
  for (size_t i = 0; i < sections.blocks.size(); ++i) {
    const auto& [kind, content] = sections.blocks[i];
    const auto place = blocks.write(kind, i == replaced ? payload : std::string_view(content));
    if (!place.ok()) return {};
    if (kind == BlockKind::kFileInfo) trailer.file_info_offset = place->offset;
  }
  blocks.append(encode_trailer(trailer));
  CELLAR_ASSERT(blocks.flush().ok());
  return file.bytes();
}

// With a filter of rows and with one of columns, whose chunks are found in another way.
const Sections& sound_sections(bool by_column) {
  const auto make = [](const char* bloom) {
    HFileWriterOptions options;
    options.bloom = bloom;
    options.encoding = "fast_diff";
    options.compress_tags = true;
    options.mvcc = options.tags = true;
    options.block_bytes = 100;
    options.index_chunk_bytes = 200;
    options.index_entries_min = 2;
    return take_apart(small_file(options, 60));
  };
  static const Sections& rows = *new Sections(make("row"));
  static const Sections& columns = *new Sections(make("rowcol"));
  return by_column ? columns : rows;
}

}  // namespace

void fuzz_file(std::string_view input) {
  use(input);
  salvage_all(input);
}

void fuzz_block(std::string_view input) {
  if (input.empty()) return;
  register_hfile_plugins();
  static const std::vector<std::string>& names =
      *new std::vector<std::string>(Registry<BlockEncoding>::instance().names());
  const auto choice = static_cast<uint8_t>(input.front());
  const BlockEncoding& encoding = *encoding_by_name(names[(choice >> 3) % names.size()]).value();
  const CellFormat format = {
      .tags = (choice & 1) != 0, .mvcc = (choice & 2) != 0, .tags_compressed = (choice & 5) == 5};
  std::string payload(input.substr(1));
  if (encoding.id() != 0 && payload.size() >= 2) {  // another number is refused at once
    payload[0] = static_cast<char>(encoding.id() >> 8);
    payload[1] = static_cast<char>(encoding.id());
  }
  const std::unique_ptr<BlockWalker> walker = encoding.make_walker(format);
  if (!walker->open(payload).ok()) return;
  OwnedCell copy;
  while (const CellView* cell = walker->next()) copy.assign(*cell);
  static_cast<void>(walker->status());
}

// In steps, a body is decompressed to the same bytes as at once, or refused.
void decompress_in_steps(const Compressor& codec, std::string_view body, std::string_view payload,
                         bool sound) {
  const StepwiseCodec* const stepwise = stepwise_codec(&codec);
  if (stepwise == nullptr) return;
  const std::unique_ptr<StepwiseDecompressor> steps = stepwise->stepwise();
  std::string in_steps(payload.size(), '\0');
  steps->begin(body, in_steps.size(), in_steps.data());
  const size_t step = 1 + payload.size() / 7;
  Result<size_t> filled = steps->advance(0);
  while (filled.ok() && *filled < payload.size())
    filled = steps->advance(std::min(*filled + step, payload.size()));
  if (filled.ok()) filled = steps->advance(payload.size());
  CELLAR_ASSERT(filled.ok() == sound);
  CELLAR_ASSERT(!sound || in_steps == payload);
}

void fuzz_codec(std::string_view input) {
  if (input.size() < 4) return;
  const auto codec = compressor_by_id(static_cast<uint8_t>(input[0]) % kCodecCount);
  if (!codec.ok()) return;
  const size_t size = load_be32(input.data()) & 0xfffff;
  const std::string_view body = input.substr(4);
  std::string payload(size, '\0');
  const bool sound = (*codec)->decompress(body, size, payload.data()).ok();
  decompress_in_steps(**codec, body, payload, sound);
  std::string compressed;
  if (!(*codec)->compress(body, compressed).ok()) return;
  std::string back(body.size(), '\0');
  CELLAR_ASSERT((*codec)->decompress(compressed, back.size(), back.data()).ok());
  CELLAR_ASSERT(back == body);
}

void fuzz_section(std::string_view input) {
  if (input.empty()) return;
  const auto choice = static_cast<uint8_t>(input.front());
  const Sections& sections = sound_sections(choice % 2 != 0);
  use(put_together(sections, choice / 2 % sections.blocks.size(), input.substr(1)));
}

const std::vector<Target>& targets() {
  static const std::vector<Target>& all = *new std::vector<Target>{
      {"file", fuzz_file}, {"block", fuzz_block}, {"codec", fuzz_codec}, {"section", fuzz_section}};
  return all;
}

namespace {

// Adds payloads of data blocks, each after the byte that says how to read them.
void add_blocks(const std::string& bytes, std::vector<std::string>& seeds) {
  register_hfile_plugins();
  const std::vector<std::string> names = Registry<BlockEncoding>::instance().names();
  HFileReaderOptions options;
  const auto file = HFileReader::open(std::make_unique<testing::ViewFile>(bytes), options).value();
  const FileParts& parts = file->parts();
  if (parts.trailer.codec != 2 || parts.trailer.entry_count == 0) return;
  const auto block = parts.blocks->read(0, 0, parts.trailer.load_on_open_offset, nullptr, nullptr);
  if (!block.ok()) return;
  const Pin pin(*block);
  size_t number = 0;
  while (encoding_by_name(names[number]).value()->name() != file->encoding_name()) ++number;
  const CellFormat format = file->cell_format();
  const size_t choice =
      number << 3 | (format.mvcc ? 2u : 0u) | (format.tags ? 1u : 0u) | (format.tags_compressed ? 4u : 0u);
  seeds.push_back(std::string(1, static_cast<char>(choice)) + std::string((*block)->payload()));
}

void add_bodies(std::vector<std::string>& seeds) {
  const std::string text = "the same words, the same words, and the same words again and again";
  for (uint32_t id = 0; id < kCodecCount; ++id) {
    const auto codec = compressor_by_id(id);
    std::string body;
    if (!codec.ok() || !(*codec)->compress(text, body).ok()) continue;
    seeds.push_back(std::string(1, static_cast<char>(id)) + std::string(2, '\0') +
                    static_cast<char>(text.size()) + body);
  }
}

}  // namespace

std::vector<std::string> seeds_of(const Target& target) {
  std::vector<std::string> seeds;
  if (target.run == fuzz_file) return small_files();
  if (target.run == fuzz_codec) add_bodies(seeds);
  if (target.run == fuzz_block) {
    for (const std::string& file : small_files()) add_blocks(file, seeds);
  }
  if (target.run == fuzz_section) {
    for (const size_t by_column : {0, 1}) {
      const Sections& sections = sound_sections(by_column != 0);
      for (size_t i = 0; i < sections.blocks.size(); ++i)
        seeds.push_back(std::string(1, static_cast<char>(2 * i + by_column)) + sections.blocks[i].second);
    }
  }
  return seeds;
}

std::optional<BlockPlace> block_at(std::string_view bytes, size_t at) {
  if (at > bytes.size() || bytes.size() - at < kBlockHeaderBytes) return std::nullopt;
  if (std::ranges::find(kBlockMagics, bytes.substr(at, 8)) == std::end(kBlockMagics)) return std::nullopt;
  const uint64_t stored = load_be32(bytes.data() + at + 8);
  const uint64_t summed = load_be32(bytes.data() + at + 29);
  const uint64_t end = at + kBlockHeaderBytes + stored;
  if (end > bytes.size() || summed < kBlockHeaderBytes || at + summed > end) return std::nullopt;
  return BlockPlace{.payload = at + kBlockHeaderBytes, .sums = at + summed, .end = end};
}

void mend_sums(std::string& bytes) {
  size_t at = 0;
  while (const std::optional<BlockPlace> block = block_at(bytes, at)) {
    const uint64_t piece = load_be32(bytes.data() + at + 25);
    if (piece == 0) return;
    size_t sum_at = block->sums;
    for (uint64_t from = at; from < block->sums && sum_at + 4 <= block->end; from += piece, sum_at += 4) {
      const std::string_view part(bytes.data() + from, std::min<uint64_t>(piece, block->sums - from));
      store_be32(bytes.data() + sum_at, bytes[at + 24] == 1 ? crc32(part) : crc32c(part));
    }
    at = block->end;
  }
}

}  // namespace cellar::fuzz
