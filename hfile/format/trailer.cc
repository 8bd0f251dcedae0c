// Trailer: finding, checking and writing the fixed end of an HFile, protobuf or the older Writable form.
#include "hfile/format/trailer.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "hfile/codec/codecs.h"
#include "hfile/format/hfile.pb.h"

namespace cellar {
namespace {

constexpr std::string_view kPlace = "trailer";
constexpr std::string_view kNotAnHFile = "not an HFile: ";
constexpr size_t kVersionBytes = 4;
constexpr size_t kSumBytes = 4;
constexpr size_t kComparatorBytesWritable = 128;
constexpr uint32_t kCodecNone = 2;
// Each entry of a root index takes at least this many payload bytes.
constexpr uint64_t kIndexEntryBytesMin = 13;

Status not_an_hfile(std::string_view why) { return Status::corruption(std::string(kNotAnHFile).append(why)); }

Result<std::string> read_tail(const ReadableFile& file, uint64_t bytes) {
  std::string tail(bytes, '\0');
  CELLAR_TRY(file.read(file.size() - bytes, bytes, tail.data()));
  return tail;
}

bool begins_with_magic(std::string_view trailer) { return trailer.starts_with(kTrailerMagic); }

// Returns true if a trailer of one of the known sizes ends the file, for any version word.
Result<bool> has_magic_at(const ReadableFile& file, uint64_t bytes) {
  if (file.size() < bytes) return false;
  char magic[8];
  CELLAR_TRY(file.read(file.size() - bytes, sizeof magic, magic));
  return begins_with_magic({magic, sizeof magic});
}

// The trailer's bytes, their size known from the version; kNotSupported for versions that are none of ours.
Result<std::string> read_trailer_bytes(const ReadableFile& file, uint32_t& major, uint32_t& minor) {
  if (file.size() < kTrailerBytesV1) {
    return not_an_hfile(fmt::format("{} bytes are too few for a trailer", file.size()));
  }
  CELLAR_TRY_ASSIGN(const std::string word, read_tail(file, kVersionBytes));
  const uint32_t version = load_be32(word.data());
  major = version & 0xffffff;
  minor = version >> 24;
  if (major == 2 || major == 3) {
    const uint64_t bytes = major == 2 ? kTrailerBytesV2 : kTrailerBytesV3;
    if (file.size() < bytes) {
      return not_an_hfile(
          fmt::format("{} bytes are too few for a trailer of version {}", file.size(), major));
    }
    CELLAR_TRY_ASSIGN(std::string trailer, read_tail(file, bytes));
    if (!begins_with_magic(trailer)) {
      CELLAR_TRY_ASSIGN(const bool large, has_magic_at(file, kTrailerBytesV3));
      if (large && major == 2 && (minor == 2 || minor == 3)) return read_tail(file, kTrailerBytesV3);
      return not_an_hfile("no trailer magic");
    }
    if (major == 2 && minor > 3) {
      return Status::not_supported(fmt::format("HFile version {}.{} is not known", major, minor));
    }
    return trailer;
  }
  for (const uint64_t bytes : {kTrailerBytesV1, kTrailerBytesV2, kTrailerBytesV3}) {
    CELLAR_TRY_ASSIGN(const bool found, has_magic_at(file, bytes));
    if (!found) continue;
    if (major == 1) return Status::not_supported("HFile version 1 is not supported (HBase 0.90 and before)");
    return Status::not_supported(fmt::format("HFile version {}.{} is not known", major, minor));
  }
  return not_an_hfile("no trailer at its end");
}

Status check_not_encrypted(const std::string& wrapped) {
  if (wrapped.empty()) return {};  // written by early native writers of Hudi; means nothing
  ByteReader reader(wrapped);
  uint64_t bytes = 0;
  std::string_view message;
  hfile::WrappedKey key;
  std::string algorithm = "unknown";
  if (reader.take_varint(bytes) && reader.take_bytes(bytes, message) &&
      key.ParseFromArray(message.data(), static_cast<int>(message.size())) && !key.algorithm().empty()) {
    algorithm = key.algorithm().substr(0, 64);
  }
  return Status::not_supported(fmt::format("HFile is encrypted (algorithm {}); not supported", algorithm));
}

Status parse_protobuf(std::string_view bytes, Trailer& trailer) {
  ByteReader reader(bytes.substr(kTrailerMagic.size(), bytes.size() - kTrailerMagic.size() - kVersionBytes));
  uint64_t message_bytes = 0;
  std::string_view message;
  if (!reader.take_varint(message_bytes) || !reader.take_bytes(message_bytes, message)) {
    return Status::corruption("the message is longer than the trailer");
  }
  hfile::FileTrailerProto proto;
  if (!proto.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return Status::corruption("the message is not well formed");
  }
  if (proto.has_trailer_sum()) {
    std::string summed(bytes);
    const auto at = static_cast<size_t>(message.data() + message.size() - bytes.data()) - kSumBytes;
    store_le32(summed.data() + at, 0);
    if (load_le32(bytes.data() + at) != proto.trailer_sum() || crc32c(summed) != proto.trailer_sum())
      return Status::corruption("checksum mismatch");
  }
  if (proto.has_section_sum() != proto.has_trailer_sum())
    return Status::corruption("it has only one of its two checksums");
  if (proto.has_section_sum()) {
    trailer.section_sum = proto.section_sum();
    for (const hfile::BlockSumsPage& page : proto.block_sums())
      trailer.block_sums.push_back({page.covered_bytes(), page.disk_bytes(), page.sum()});
  }
  if (reader.rest().find_first_not_of('\0') != std::string_view::npos) {
    return Status::corruption("bytes other than zero after the message");
  }
  CELLAR_TRY(check_not_encrypted(proto.encryption_key()));
  trailer.file_info_offset = proto.file_info_offset();
  trailer.load_on_open_offset = proto.load_on_open_data_offset();
  trailer.uncompressed_data_index_bytes = proto.uncompressed_data_index_size();
  trailer.total_uncompressed_bytes = proto.total_uncompressed_bytes();
  trailer.data_index_count = proto.data_index_count();
  trailer.meta_index_count = proto.meta_index_count();
  trailer.entry_count = proto.entry_count();
  trailer.data_index_levels = proto.num_data_index_levels();
  trailer.first_data_block_offset = static_cast<int64_t>(proto.first_data_block_offset());
  trailer.last_data_block_offset = static_cast<int64_t>(proto.last_data_block_offset());
  if (proto.has_comparator_class_name()) trailer.comparator = proto.comparator_class_name();
  trailer.codec = proto.has_compression_codec() ? proto.compression_codec() : kCodecNone;
  return {};
}

void parse_writable(std::string_view bytes, Trailer& trailer) {
  const char* at = bytes.data();
  trailer.file_info_offset = load_be64(at + 8);
  trailer.load_on_open_offset = load_be64(at + 16);
  trailer.data_index_count = load_be32(at + 24);
  trailer.uncompressed_data_index_bytes = load_be64(at + 28);
  trailer.meta_index_count = load_be32(at + 36);
  trailer.total_uncompressed_bytes = load_be64(at + 40);
  trailer.entry_count = load_be64(at + 48);
  trailer.codec = load_be32(at + 56);
  trailer.data_index_levels = load_be32(at + 60);
  trailer.first_data_block_offset = static_cast<int64_t>(load_be64(at + 64));
  trailer.last_data_block_offset = static_cast<int64_t>(load_be64(at + 72));
  const std::string_view name(at + 80, kComparatorBytesWritable);
  trailer.comparator = std::string(name.substr(0, name.find('\0')));
}

// Brings the ways in which versions say "no data" to one: both offsets -1.
void normalise_empty(Trailer& trailer) {
  const int64_t load_on_open = static_cast<int64_t>(trailer.load_on_open_offset);
  const bool nowhere = trailer.entry_count == 0 && trailer.first_data_block_offset >= load_on_open;
  if (trailer.first_data_block_offset == -1 || nowhere) {
    trailer.first_data_block_offset = -1;
    trailer.last_data_block_offset = -1;
  }
}

Status check_data_offsets(const Trailer& trailer) {
  const int64_t first = trailer.first_data_block_offset;
  const int64_t last = trailer.last_data_block_offset;
  if (first == -1) {
    return trailer.entry_count == 0 ? Status() : Status::corruption("it counts cells, but has no data block");
  }
  const int64_t limit = static_cast<int64_t>(trailer.load_on_open_offset);
  if (first < 0 || first >= limit || last < first || last >= limit) {
    return Status::corruption(
        fmt::format("data blocks from {} to {} do not end before offset {}", first, last, limit));
  }
  return {};
}

// The blocks with sums and the pages of sums together fill the file up to the load-on-open section.
Status check_block_sums(const Trailer& trailer) {
  uint64_t left = trailer.load_on_open_offset;
  bool fits = true;
  const auto take = [&](uint64_t bytes) {
    fits = fits && bytes > 0 && bytes <= left;
    left -= fits ? bytes : 0;
  };
  for (const BlockSumsPage& page : trailer.block_sums) {
    take(page.covered_bytes);
    take(page.disk_bytes);
  }
  if (trailer.block_sums.empty() || (fits && left == 0)) return {};
  return Status::corruption(
      fmt::format("its block sums do not end at the load-on-open offset {}", trailer.load_on_open_offset));
}

// All offsets inside the file and in order, counts and levels within bounds.
Status check(const Trailer& trailer, uint64_t trailer_offset) {
  const uint64_t header = trailer.block_header_bytes();
  const uint64_t info = trailer.file_info_offset;
  const uint64_t open = trailer.load_on_open_offset;
  // Two root indexes stand before the file info.
  if (info >= trailer_offset || trailer_offset - info < header || open > info || info - open < 2 * header) {
    return Status::corruption(
        fmt::format("load-on-open offset {}, file info offset {} and trailer offset {} do not fit", open,
                    info, trailer_offset));
  }
  constexpr uint64_t count_max = kBlockPayloadBytesMax / kIndexEntryBytesMin;
  if (trailer.data_index_count > count_max || trailer.meta_index_count > count_max) {
    return Status::corruption(fmt::format("{} data and {} meta index entries are too many",
                                          trailer.data_index_count, trailer.meta_index_count));
  }
  if (trailer.entry_count > static_cast<uint64_t>(INT64_MAX)) {
    return Status::corruption("a negative number of cells");
  }
  if (trailer.data_index_levels < 1 || trailer.data_index_levels > kIndexDepthMax) {
    return Status::corruption(fmt::format("{} index levels", trailer.data_index_levels));
  }
  if (codec_name(trailer.codec).empty()) {
    return Status::not_supported(fmt::format("compression codec {} is not known", trailer.codec));
  }
  CELLAR_TRY(check_block_sums(trailer));
  return check_data_offsets(trailer);
}

Result<Trailer> read(const ReadableFile& file, std::string& bytes) {
  Trailer trailer;
  CELLAR_TRY_ASSIGN(bytes, read_trailer_bytes(file, trailer.major_version, trailer.minor_version));
  if (trailer.major_version == 2 && trailer.minor_version < 2) {
    parse_writable(bytes, trailer);
  } else {
    trailer.large = trailer.major_version == 2 && bytes.size() == kTrailerBytesV3;
    CELLAR_TRY(parse_protobuf(bytes, trailer));
  }
  normalise_empty(trailer);
  CELLAR_TRY(check(trailer, file.size() - bytes.size()));
  return trailer;
}

}  // namespace

Result<Trailer> read_trailer(const ReadableFile& file) {
  std::string bytes;
  return read_trailer(file, bytes);
}

Result<Trailer> read_trailer(const ReadableFile& file, std::string& bytes) {
  Result<Trailer> trailer = read(file, bytes);
  if (!trailer.ok()) return trailer.status().at(kPlace);
  return trailer;
}

bool is_not_an_hfile(const Status& status) {
  return status.is(Code::kCorruption) && status.place() == kPlace &&
         status.message().find(kNotAnHFile) != std::string_view::npos;
}

std::string encode_trailer(const Trailer& trailer) {
  CELLAR_ASSERT(trailer.major_version == 3 || (trailer.major_version == 2 && trailer.minor_version == 3));
  hfile::FileTrailerProto proto;
  proto.set_file_info_offset(trailer.file_info_offset);
  proto.set_load_on_open_data_offset(trailer.load_on_open_offset);
  proto.set_uncompressed_data_index_size(trailer.uncompressed_data_index_bytes);
  proto.set_total_uncompressed_bytes(trailer.total_uncompressed_bytes);
  proto.set_data_index_count(trailer.data_index_count);
  proto.set_meta_index_count(trailer.meta_index_count);
  proto.set_entry_count(trailer.entry_count);
  proto.set_num_data_index_levels(trailer.data_index_levels);
  proto.set_first_data_block_offset(static_cast<uint64_t>(trailer.first_data_block_offset));
  proto.set_last_data_block_offset(static_cast<uint64_t>(trailer.last_data_block_offset));
  proto.set_comparator_class_name(trailer.comparator);
  proto.set_compression_codec(trailer.codec);

  if (trailer.section_sum) {
    for (const BlockSumsPage& page : trailer.block_sums) {
      hfile::BlockSumsPage& to = *proto.add_block_sums();
      to.set_covered_bytes(page.covered_bytes);
      to.set_disk_bytes(page.disk_bytes);
      to.set_sum(page.sum);
    }
    proto.set_section_sum(*trailer.section_sum);
    proto.set_trailer_sum(0);
  }

  std::string bytes(kTrailerMagic);
  append_varint(bytes, proto.ByteSizeLong());
  const bool written = proto.AppendToString(&bytes);
  CELLAR_ASSERT(written && bytes.size() + kVersionBytes <= trailer.trailer_bytes());
  const size_t message_end = bytes.size();
  bytes.resize(trailer.trailer_bytes() - kVersionBytes, '\0');
  append_be32(bytes, trailer.minor_version << 24 | trailer.major_version);
  if (trailer.section_sum) store_le32(bytes.data() + message_end - kSumBytes, crc32c(bytes));
  return bytes;
}

}  // namespace cellar
