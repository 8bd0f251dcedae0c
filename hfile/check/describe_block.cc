// describe: one block, also a damaged one: header, sums, body and entries, each as far as the bytes allow.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "cell/cell_codec.h"
#include "hfile/check/describe_parts.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"
#include "hfile/format/comparator.h"

namespace cellar {

using Parts = FileParts;

namespace {

class BlockDetail {
 public:
  BlockDetail(const ReadableFile& file, const Trailer& trailer, const Parts* parts,
              const DescribeOptions& options, HFileBlockDetail& out)
      : file_(file),
        trailer_(trailer),
        parts_(parts),
        options_(options),
        blocks_(&file, trailer, compressor_by_id(trailer.codec).value_or(nullptr), {.name = options.name}),
        end_(file.size() - trailer.trailer_bytes()),
        out_(out) {}

  Status run() {
    out_.offset = options_.block->value;
    if (!options_.block->by_offset) {
      out_.ordinal = options_.block->value;
      CELLAR_TRY_ASSIGN(out_.offset, offset_of(options_.block->value));
    }
    if (out_.offset >= end_) {
      return Status::invalid_argument(
          fmt::format("no block can begin at offset {}: the trailer begins at {}", out_.offset, end_));
    }
    CELLAR_TRY(read_fields());
    const Result<BlockHeader> header = blocks_.read_header(out_.offset, section_end(out_.offset));
    if (!header.ok() || !header->known_kind) {
      out_.header_trouble = header.ok() ? "unknown block magic" : std::string(header.status().message());
      return header.ok() ? blocks_.corruption(out_.offset, "no known block begins here") : header.status();
    }
    out_.kind = kBlockKindNames[static_cast<size_t>(header->kind)];
    out_.disk_bytes = header->disk_bytes();
    std::string disk(header->disk_bytes(), '\0');
    CELLAR_TRY(file_.read(out_.offset, disk.size(), disk.data()).at(blocks_.place(out_.offset)));
    check_sums(disk, *header);
    Status status = decode(disk, *header);
    if (const Status place = blocks_.check_place(disk, *header, out_.offset); !place.ok()) {
      out_.place_trouble = place.message();
      status = place;
    }
    if (!out_.wrong_sums.empty()) status = blocks_.corruption(out_.offset, "its checksums do not match");
    return status;
  }

 private:
  uint64_t section_end(uint64_t offset) const {
    return offset < trailer_.load_on_open_offset ? trailer_.load_on_open_offset : end_;
  }

  // Returns the offset of a block by its number. After a damaged header, the walk continues at the next data
  // block of the index; numbers are then lower than before.
  Result<uint64_t> offset_of(uint64_t number) const {
    uint64_t at = 0;
    uint64_t ordinal = 0;
    for (; at < end_; ++ordinal) {
      if (ordinal == number) return at;
      const Result<BlockHeader> header = blocks_.read_header(at, section_end(at));
      if (header.ok()) {
        at += header->disk_bytes();
        continue;
      }
      if (!header.status().is(Code::kCorruption)) return header.status();
      CELLAR_TRY_ASSIGN(at, next_known(at, header.status()));
    }
    return Status::invalid_argument(
        fmt::format("no block {}: {} has {} blocks, numbered from 0", number, options_.name, ordinal));
  }

  Result<uint64_t> next_known(uint64_t offset, const Status& trouble) const {
    if (parts_ != nullptr) {
      IndexCursor index(parts_->index.get());
      Status status = index.to_first(nullptr);
      while (status.ok() && index.valid() && index.offset() <= offset) status = index.next(nullptr);
      if (status.ok() && index.valid()) return index.offset();
      if (offset < trailer_.load_on_open_offset) return trailer_.load_on_open_offset;
    }
    return trouble.hinting("name a block after it by its offset: --block @offset");
  }

  // The header as it is, whether it makes sense or not.
  Status read_fields() {
    out_.header_bytes = blocks_.header_bytes();
    if (end_ - out_.offset < out_.header_bytes)
      return blocks_.corruption(out_.offset, "too few bytes for a block header");
    std::string bytes(out_.header_bytes, '\0');
    CELLAR_TRY(file_.read(out_.offset, bytes.size(), bytes.data()).at(blocks_.place(out_.offset)));
    out_.kind = "unknown";
    out_.magic = bytes.substr(0, 8);
    out_.stored_bytes = load_be32(bytes.data() + 8);
    out_.payload_bytes = load_be32(bytes.data() + 12);
    out_.previous_offset = static_cast<int64_t>(load_be64(bytes.data() + 16));
    if (bytes.size() == kBlockHeaderBytesV20) return {};
    out_.checksum_type = static_cast<uint8_t>(bytes[24]);
    out_.bytes_per_checksum = load_be32(bytes.data() + 25);
    out_.summed_bytes = load_be32(bytes.data() + 29);
    return {};
  }

  void check_sums(std::string_view disk, const BlockHeader& header) {
    out_.checksum = checksum_name(header.checksum);
    if (!header.checksum || *header.checksum == ChecksumType::kNull) return;
    const std::string_view summed = disk.substr(0, size_t{header.header_bytes} + header.body_bytes);
    for (size_t at = 0; at < summed.size(); at += header.bytes_per_checksum) {
      const std::string_view piece = summed.substr(at, header.bytes_per_checksum);
      const uint32_t computed = *header.checksum == ChecksumType::kCrc32c ? crc32c(piece) : crc32(piece);
      const uint32_t stored = load_be32(disk.data() + summed.size() + out_.sums * 4);
      if (stored != computed) out_.wrong_sums.push_back({out_.sums, stored, computed});
      out_.sums += 1;
    }
  }

  Status decode(std::string_view disk, const BlockHeader& header) {
    const Result<Block*> block = blocks_.decode(disk, header, out_.offset);
    if (!block.ok()) {
      out_.body_trouble = block.status().message();
      return block.status();
    }
    const Pin pin(*block);
    const std::string_view payload = (*block)->payload();
    if (is_data(header.kind)) return decode_cells(header.kind, payload);
    const bool node = header.kind == BlockKind::kLeafIndex || header.kind == BlockKind::kIntermediateIndex;
    return node ? decode_node(header.kind, payload) : Status();
  }

  Status decode_cells(BlockKind kind, std::string_view payload) {
    Result<const BlockEncoding*> encoding = encoding_of(kind, payload);
    if (encoding.ok()) out_.encoding = (*encoding)->name();
    if (encoding.ok() && parts_ == nullptr)
      encoding = Status::corruption(
          "what its cells carry, tags and sequences, stands in the file info, which "
          "cannot be read");
    if (!encoding.ok()) {
      out_.entries_trouble = encoding.status().message();
      return encoding.status().at(blocks_.place(out_.offset));
    }
    const std::unique_ptr<BlockWalker> walker = (*encoding)->make_walker(parts_->format);
    Status status = walker->open(payload);
    out_.entries = 0;
    for (const CellView* cell = status.ok() ? walker->next() : nullptr; cell != nullptr;
         cell = walker->next()) {
      if ((*out_.entries)++ == 0) out_.first_key = cell->key_bytes();
      out_.last_key = cell->key_bytes();
      if (!options_.cells) continue;
      if (out_.cells.size() < options_.list_max) {
        out_.cells.emplace_back(*cell);
      } else {
        out_.cells_left_out += 1;
      }
    }
    if (status.ok()) status = walker->status();
    out_.entries_trouble = status.message();
    return status.at(blocks_.place(out_.offset));
  }

  static Result<const BlockEncoding*> encoding_of(BlockKind kind, std::string_view payload) {
    if (kind == BlockKind::kData) return encoding_by_id(0);
    if (payload.size() < 2) return Status::corruption("too short for the number of an encoding");
    return encoding_by_id(load_be16(payload.data()));
  }

  Status decode_node(BlockKind kind, std::string_view payload) {
    const IndexPlace place = {.offset = out_.offset,
                              .children_are_data = kind == BlockKind::kLeafIndex,
                              .meta_order = is_meta_comparator(trailer_.comparator)};
    const Result<std::unique_ptr<IndexNode>> node = IndexNode::parse(payload, place);
    if (!node.ok()) {
      out_.entries_trouble = node.status().message();
      return node.status().at(blocks_.place(out_.offset));
    }
    out_.entries = (*node)->size();
    out_.first_key = (*node)->key(0);
    out_.last_key = (*node)->key((*node)->size() - 1);
    return {};
  }

  const ReadableFile& file_;
  const Trailer& trailer_;
  const Parts* parts_;
  const DescribeOptions& options_;
  const BlockReader blocks_;
  const uint64_t end_;  // of all blocks
  HFileBlockDetail& out_;
};

}  // namespace

Status describe_block(const ReadableFile& file, const Trailer& trailer, const Parts* parts,
                      const DescribeOptions& options, HFileDescription& out) {
  return BlockDetail(file, trailer, parts, options, out.block.emplace()).run();
}

}  // namespace cellar
