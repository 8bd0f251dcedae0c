// salvage: finds out how cells are stored, then walks blocks from the first byte on.
#include "hfile/check/salvage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "hfile/block/file_parts.h"
#include "hfile/check/shared_file.h"
#include "hfile/codec/codecs.h"
#include "hfile/format/comparator.h"
#include "hfile/read/hfile_reader.h"
#include "hfile/write/writer_options_like.h"

namespace cellar {
namespace {

constexpr size_t kSearchBytes = 256 << 10;  // read at once when looking for a block
constexpr size_t kBlocksLooked = 16;        // with sound sums, among which a guess is tried
constexpr size_t kBytesLooked = 8 << 20;    // and no more than these bytes and a block
constexpr size_t kBlocksTried = 3;          // that must decode before it is believed

constexpr uint32_t kGz = 1;

// In the order in which they are tried. Compressed tags come last: few bytes contradict them.
constexpr CellFormat kForms[] = {{.mvcc = true},
                                 {.mvcc = false},
                                 {.tags = true, .mvcc = true},
                                 {.tags = true, .mvcc = false},
                                 {.tags = true, .mvcc = true, .tags_compressed = true},
                                 {.tags = true, .mvcc = false, .tags_compressed = true}};

// Most bytes are told apart by a look.
constexpr std::array<bool, 256> kBeginsMagic = [] {
  std::array<bool, 256> begins = {};
  begins[static_cast<uint8_t>(kTrailerMagic[0])] = true;
  for (const std::string_view magic : kBlockMagics) begins[static_cast<uint8_t>(magic[0])] = true;
  return begins;
}();

class Salvager {
 public:
  Salvager(std::shared_ptr<const ReadableFile> file, std::string name, const SalvageTaker& taker,
           uint64_t block_payload_bytes_max)
      : file_(std::move(file)),
        name_(std::move(name)),
        taker_(taker),
        block_payload_bytes_max_(block_payload_bytes_max) {}

  Result<SalvageReport> run() {
    CELLAR_TRY(learn());
    CELLAR_TRY(walk());
    if (report_.data_blocks == 0) {
      return Status::corruption("no block with cells can be read").at(name_);
    }
    return std::move(report_);
  }

 private:
  // ---- How cells are stored ----

  Status learn() {
    HFileReaderOptions options;
    options.name = name_;
    options.block_payload_bytes_max = block_payload_bytes_max_;
    Result<std::shared_ptr<HFileReader>> opened =
        HFileReader::open(std::make_unique<SharedFile>(file_), std::move(options));
    if (opened.ok()) return learn_from(**opened);
    report_.trouble = opened.status();
    if (!opened.status().is(Code::kCorruption) && !opened.status().is(Code::kLimit)) return opened.status();
    limit_ = file_->size();
    const Result<Trailer> trailer = read_trailer(*file_);
    report_.format.guessed = true;
    if (!trailer.ok()) return guess(std::nullopt);
    if (is_meta_comparator(trailer->comparator)) return meta_order();
    trailer_ = *trailer;
    report_.cells_expected = trailer->entry_count;
    limit_ = trailer->load_on_open_offset;
    return guess(trailer->codec);
  }

  Status meta_order() const {
    return Status::not_supported("files in the order of hbase:meta or -ROOT- can be read, not written")
        .at(name_);
  }

  Status learn_from(const HFileReader& file) {
    const FileParts& parts = file.parts();
    if (!parts.encoding_status.ok()) return parts.encoding_status;
    if (parts.meta_order) return meta_order();
    report_.cells_expected = parts.trailer.entry_count;
    report_.format.cells = parts.format;
    CELLAR_TRY_ASSIGN(report_.format.like, writer_options_like(file));
    limit_ = parts.trailer.load_on_open_offset;
    trailer_ = parts.trailer;
    encoding_ = parts.encoding;
    return use_codec(parts.trailer.codec);
  }

  Status use_codec(uint32_t id) {
    CELLAR_TRY_ASSIGN(const Compressor* codec, compressor_by_id(id));
    report_.format.codec = trailer_.codec = id;
    blocks_ = std::make_unique<BlockReader>(
        file_.get(), trailer_, codec,
        BlockReader::Options{
            .name = name_, .payload_bytes_max = block_payload_bytes_max_, .pass_without_sums = true});
    return {};
  }

  // The form of headers, the codec and the form of cells under which the first data blocks make sense.
  // Without a trailer both forms of headers are tried: those of version 2.0 are shorter and have no sums.
  Status guess(std::optional<uint32_t> known_codec) {
    if (guess_cells(known_codec)) return {};
    if (!known_codec) {
      trailer_.major_version = 2;
      trailer_.minor_version = 0;
      if (guess_cells(known_codec)) return {};
    }
    return Status::corruption("no block with cells can be read in any form this build knows").at(name_);
  }

  bool guess_cells(std::optional<uint32_t> known_codec) {
    if (!use_codec(known_codec.value_or(kGz)).ok()) return false;  // with NONE, others' headers look damaged
    const std::vector<RawBlock> raw = first_blocks();
    for (uint32_t codec = 0; codec < kCodecCount; ++codec) {
      if ((known_codec && codec != *known_codec) || !use_codec(codec).ok()) continue;
      const std::vector<Pin> blocks = unpack_some(raw);
      for (const CellFormat& form : kForms) {
        report_.format.cells = form;
        const auto fits = [this](const Pin& block) { return decodes(block_of(block)).ok(); };
        if (blocks.empty() || !std::ranges::all_of(blocks, fits)) continue;
        HFileWriterOptions& like = report_.format.like;
        like.compression = codec_name(codec);
        like.tags = form.tags;
        like.compress_tags = form.tags_compressed;
        like.mvcc = form.mvcc;
        return true;
      }
    }
    return false;
  }

  // One with cells as it is on disk.
  struct RawBlock {
    uint64_t at = 0;
    std::string bytes;
  };

  // The first ones whose sums agree.
  std::vector<RawBlock> first_blocks() {
    std::vector<RawBlock> blocks;
    size_t bytes = 0;
    for (uint64_t at = 0; at < limit_ && blocks.size() < kBlocksLooked && bytes < kBytesLooked;) {
      const Result<BlockHeader> header = blocks_->read_header(at, limit_);
      if (!header.ok() || !header->known_kind) {  // zeros, too, are the header of an empty block of no kind
        at = next_block(at + 1);
        continue;
      }
      if (is_data(header->kind) && read_sound(at, *header).ok()) {
        bytes += disk_.size();
        blocks.push_back({at, disk_});
      }
      at += header->disk_bytes();
    }
    return blocks;
  }

  // Returns the blocks that the codec can decompress.
  std::vector<Pin> unpack_some(const std::vector<RawBlock>& raw) const {
    std::vector<Pin> blocks;
    for (const RawBlock& each : raw) {
      if (blocks.size() == kBlocksTried) break;
      if (const Result<Block*> block = blocks_->unpack(each.bytes, each.at, limit_); block.ok())
        blocks.emplace_back(*block);
    }
    return blocks;
  }

  static const Block& block_of(const Pin& pin) { return *static_cast<const Block*>(pin.get()); }

  // ---- Blocks ----

  Status walk() {
    uint64_t at = 0;
    while (at < limit_) {
      const Result<BlockHeader> header = blocks_->read_header(at, limit_);
      if (!header.ok() && !header.status().is(Code::kCorruption) && !header.status().is(Code::kLimit)) {
        return header.status();
      }
      if (header.ok() && header->known_kind) {
        CELLAR_TRY(take_block(at, *header));
        at += header->disk_bytes();
        continue;
      }
      if (at_trailer(at)) break;
      const uint64_t next = next_block(at + 1);
      lose({.offset = at,
            .bytes = next - at,
            .reason = header.ok() ? "unknown kind of block" : std::string(header.status().message())});
      at = next;
    }
    return {};
  }

  bool at_trailer(uint64_t at) const {
    char magic[8] = {};
    return limit_ - at >= sizeof magic && file_->read(at, sizeof magic, magic).ok() &&
           std::string_view(magic, sizeof magic) == kTrailerMagic;
  }

  // Where the next well-formed header of a known kind stands, or the end.
  uint64_t next_block(uint64_t from) const {
    std::string window;
    for (uint64_t at = from; at < limit_; at += kSearchBytes) {
      window.resize(std::min<uint64_t>(kSearchBytes + kBlockHeaderBytes, limit_ - at));
      if (!file_->read(at, window.size(), window.data()).ok()) return limit_;
      for (size_t i = 0; i + 8 <= window.size() && i < kSearchBytes; ++i) {
        if (!kBeginsMagic[static_cast<uint8_t>(window[i])]) continue;
        const std::string_view magic = std::string_view(window).substr(i, 8);
        if (magic == kTrailerMagic) return at + i;
        if (std::ranges::find(kBlockMagics, magic) == std::end(kBlockMagics)) continue;
        if (blocks_->read_header(at + i, limit_).ok()) return at + i;
      }
    }
    return limit_;
  }

  // Into disk_.
  Status read_sound(uint64_t at, const BlockHeader& header) {
    disk_.resize(header.disk_bytes());
    CELLAR_TRY(file_->read(at, disk_.size(), disk_.data()));
    return blocks_->check_sums(disk_, header, at, nullptr);
  }

  Result<Block*> read_block(uint64_t at, const BlockHeader& header) {
    CELLAR_TRY(read_sound(at, header));
    return blocks_->unpack(disk_, at, limit_);
  }

  Status take_block(uint64_t at, const BlockHeader& header) {
    const bool data = is_data(header.kind);
    const Result<Block*> block = read_block(at, header);
    Status status = block.status();
    if (block.ok()) {
      const Pin pin(*block);
      if (!data) return {};
      status = decodes(**block);
      if (status.ok()) {
        report_.data_blocks += 1;
        return take_cells(**block);
      }
    }
    if (!status.is(Code::kCorruption) && !status.is(Code::kLimit)) return status;
    lose({.offset = at, .bytes = header.disk_bytes(), .reason = std::string(status.message()), .data = data});
    return {};
  }

  void lose(SalvageLoss loss) {
    if (report_.losses.size() == SalvageReport::kLossesMax) {
      report_.losses_left_out += 1;
      return;
    }
    if (has_last_) loss.after_row = std::string(last_.view().row());
    report_.losses.push_back(std::move(loss));
    losses_open_ += 1;
  }

  // ---- Cells ----

  Result<std::unique_ptr<BlockWalker>> walker_of(const Block& block) const {
    const BlockEncoding* encoding = encoding_;
    if (encoding == nullptr && block.kind() == BlockKind::kData) {
      CELLAR_TRY_ASSIGN(encoding, encoding_by_name("NONE"));
    } else if (encoding == nullptr) {
      if (block.payload().size() < 2) return Status::corruption("an encoded block without an encoding");
      CELLAR_TRY_ASSIGN(encoding, encoding_by_id(load_be16(block.payload().data())));
    }
    std::unique_ptr<BlockWalker> walker = encoding->make_walker(report_.format.cells);
    CELLAR_TRY(walker->open(block.payload()));
    return walker;
  }

  // Returns Ok if every cell of the block can be read, in order.
  Status decodes(const Block& block) const {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<BlockWalker> walker, walker_of(block));
    OwnedCell before;
    bool first = true;
    for (const CellView* cell = walker->next(); cell != nullptr; cell = walker->next()) {
      if (!first && compare_keys(*cell, before.view()) < 0) return Status::corruption("cells out of order");
      before.assign_key(cell->key_bytes(), cell->sequence);
      first = false;
    }
    return walker->status();
  }

  Status take_cells(const Block& block) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<BlockWalker> walker, walker_of(block));
    for (const CellView* cell = walker->next(); cell != nullptr; cell = walker->next()) {
      if (has_last_ && (compare_keys(*cell, last_.view()) < 0 || cell->family() != last_.view().family())) {
        report_.out_of_order += 1;
        continue;
      }
      if (!has_last_) CELLAR_TRY(taker_.begin(report_.format));
      CELLAR_TRY(taker_.take(*cell));
      report_.cells += 1;
      for (; losses_open_ > 0; --losses_open_) {
        report_.losses[report_.losses.size() - losses_open_].before_row = std::string(cell->row());
      }
      last_.assign_key(cell->key_bytes(), cell->sequence);
      has_last_ = true;
    }
    return walker->status();
  }

  const std::shared_ptr<const ReadableFile> file_;
  const std::string name_;
  const SalvageTaker& taker_;
  const uint64_t block_payload_bytes_max_;
  SalvageReport report_;
  Trailer trailer_;
  uint64_t limit_ = 0;                       // blocks end here
  const BlockEncoding* encoding_ = nullptr;  // null: as each block says
  std::unique_ptr<BlockReader> blocks_;
  std::string disk_;
  OwnedCell last_;  // kept
  bool has_last_ = false;
  size_t losses_open_ = 0;  // this many of the last ones wait for the cell after them
};

}  // namespace

Result<SalvageReport> salvage(std::shared_ptr<const ReadableFile> file, const std::string& name,
                              const SalvageTaker& taker, uint64_t block_payload_bytes_max) {
  return Salvager(std::move(file), name, taker, block_payload_bytes_max).run();
}

}  // namespace cellar
