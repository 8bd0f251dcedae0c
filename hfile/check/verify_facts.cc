// verify: what the file info and the trailer say, against what HBase takes and what the blocks come to.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "hfile/check/verifier.h"
#include "hfile/codec/codecs.h"
#include "hfile/format/comparator.h"

namespace cellar {

namespace {

constexpr std::string_view kHBaseEncodings[] = {"NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"};
constexpr std::string_view kHBaseBlooms[] = {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"};

template <size_t kCount>
bool is_among(std::string_view name, const std::string_view (&names)[kCount]) {
  return std::ranges::find(names, name) != std::end(names);
}

bool belongs_to_section(BlockKind kind) {
  return kind == BlockKind::kRootIndex || kind == BlockKind::kFileInfo || kind == BlockKind::kBloomMeta ||
         kind == BlockKind::kDeleteBloomMeta;
}

}  // namespace

void Verifier::check_facts() {
  const Parts& file = parts();
  report_.codec = codec_name(file.trailer.codec);
  report_.encoding = escaped(file.encoding_name);
  report_.cells_expected = file.trailer.entry_count;
  report_.index_levels = file.trailer.data_index_levels;
  decodes_ = file.encoding != nullptr;
  if (!file.checksum || *file.checksum == ChecksumType::kNull) {
    const std::string why = file.checksum ? "checksum type NULL" : "version 2.0 has no checksums";
    report("W-UNCHECKED", why + ": wrong cells cannot always be detected");
  }
  if (!is_standard_comparator(file.trailer.comparator) && !file.meta_order) {
    report("W-COMPARATOR", fmt::format("comparator {} is not known; the standard order is assumed",
                                       escaped(file.trailer.comparator)));
  } else if (!is_loadable_comparator(file.trailer.comparator)) {
    report("W-COMPARATOR", fmt::format("HBase 2 has no comparator {} and does not open the file",
                                       escaped(file.trailer.comparator)));
  }
  if (file.trailer.entry_count > 0 && !file.last_key_in_info) {
    report("W-NO-LASTKEY", "no hfile.LASTKEY: HBase cannot bulk-load the file");
  }
  if (!file.info.has(info_key::kAvgKeyLen) || !file.info.has(info_key::kAvgValueLen)) {
    report("W-NO-AVERAGES", "no hfile.AVG_KEY_LEN or hfile.AVG_VALUE_LEN: HBase refuses the file");
  }
  for (const Status* trouble : {&file.bloom_trouble, &file.delete_bloom_trouble}) {
    if (trouble->ok()) continue;
    const bool ignored = trouble->is(Code::kNotSupported);
    report(ignored ? "W-BLOOM-IGNORED" : "V-BLOOM", std::string(trouble->message()));
  }
  check_names();
  check_bloom_facts();
}

// HBase compares these texts letter by letter, and does not open a file with one that it does not know.
void Verifier::check_names() {
  const Parts& file = parts();
  const std::string* encoding = file.info.find(info_key::kDataBlockEncoding);
  if (encoding != nullptr && !is_among(*encoding, kHBaseEncodings)) {
    if (file.encoding != nullptr && file.encoding->name() == *encoding) {
      report("W-PLUGIN",
             fmt::format("HBase has no encoding {} and does not open the file", escaped(*encoding)));
    } else {
      report("V-INFO", fmt::format("DATA_BLOCK_ENCODING is \"{}\", which is not an encoding of HBase",
                                   escaped(*encoding)));
    }
  }
  const std::string* bloom = file.info.find(info_key::kBloomType);
  if (bloom == nullptr || is_among(*bloom, kHBaseBlooms)) return;
  if (file.bloom_type != nullptr) {
    report("W-PLUGIN",
           fmt::format("HBase has no Bloom filter {} and does not open the file", escaped(*bloom)));
  } else {
    report("V-INFO",
           fmt::format("BLOOM_FILTER_TYPE is \"{}\", which is not a Bloom filter of HBase", escaped(*bloom)));
  }
}

// Checks the facts that HBase's reader needs along with the type, and the filter itself.
void Verifier::check_bloom_facts() {
  const Parts& file = parts();
  const std::string& type = file.bloom_type_name;
  if (type == "ROWCOL" && !file.info.has(info_key::kLastBloomKey))
    report("V-INFO", "the Bloom filter is ROWCOL without LAST_BLOOM_KEY: HBase does not open the file");
  if (type == "ROWPREFIX_FIXED_LENGTH" && !file.info.has(info_key::kBloomParam))
    report("V-INFO", "the Bloom filter is of row prefixes without BLOOM_FILTER_PARAM, their length");
  const auto is_filter = [](const SectionBlock& each) { return each.header.kind == BlockKind::kBloomMeta; };
  if (!type.empty() && type != "NONE" && std::ranges::none_of(file.sections, is_filter))
    report("V-BLOOM", fmt::format("BLOOM_FILTER_TYPE is {}, and the file has no such filter", escaped(type)));
  for (const SectionBlock& each : file.sections)
    if (!belongs_to_section(each.header.kind)) {
      VerifyFinding stranger =
          finding("V-SECTION", fmt::format("a {} block among the blocks that are loaded on opening",
                                           kBlockKindNames[static_cast<size_t>(each.header.kind)]));
      stranger.offset = each.offset;
      report(std::move(stranger));
    }
}

// As HBase's writer adds them up.
void Verifier::add_to_totals(const BlockHeader& header, bool is_data_root) {
  const bool inner = header.kind == BlockKind::kIntermediateIndex || is_data_root;
  if (inner || header.kind == BlockKind::kLeafIndex) index_bytes_ += header.payload_bytes;
  if (!inner) uncompressed_bytes_ += header.header_bytes + header.payload_bytes;
}

// Nothing is read by them, but HBase reports the sizes of stores by them.
void Verifier::check_totals() {
  if (ended_ || found_.has("V-HEADER")) return;
  const Trailer& trailer = reader_->trailer();
  const uint64_t bytes = uncompressed_bytes_ + trailer.trailer_bytes();
  if (trailer.total_uncompressed_bytes != bytes)
    report("W-TOTALS", fmt::format("the trailer says {} bytes without compression, the blocks have {}",
                                   trailer.total_uncompressed_bytes, bytes));
  if (trailer.uncompressed_data_index_bytes != index_bytes_)
    report("W-TOTALS", fmt::format("the trailer says {} bytes of data index, its blocks have {}",
                                   trailer.uncompressed_data_index_bytes, index_bytes_));
}

}  // namespace cellar
