// Rendering of index, filters, file info, trailer and single blocks.
#include "tools/files/inspect_lists.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text_printer.h"
#include "base/text_width.h"
#include "cell/cell_codec.h"
#include "tools/files/key_text.h"
#include "tools/frame/output.h"

namespace cellar {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kShownBytesMax = 72;

std::string cut(std::string_view bytes) {
  if (bytes.size() <= kShownBytesMax) return escaped(bytes);
  return escaped(bytes.substr(0, kShownBytesMax)) + fmt::format("… ({})", counted(bytes.size(), "byte"));
}

std::string share(double part) {
  return part > 0 && part < 0.0001 ? fmt::format("{:.2g} %", part * 100)
                                   : fmt::format("{:.2f} %", part * 100);
}

std::string chunk_key(const HFileBloomLine& bloom, const std::string& key) {
  return bloom.flat_keys ? flat_key_text(key) : escaped(key);
}

double bits_share(const HFileBloomChunk& chunk) {
  return chunk.bytes == 0 ? 0 : static_cast<double>(chunk.bits_set) / (static_cast<double>(chunk.bytes) * 8);
}

// Returns the rate of a filter, its chunks weighted by their number of keys.
double false_positives(const HFileBloomLine& bloom) {
  double sum = 0;
  double keys = 0;
  for (const HFileBloomChunk& chunk : bloom.chunk_list) {
    sum += chunk.false_positives * static_cast<double>(chunk.keys_estimated);
    keys += static_cast<double>(chunk.keys_estimated);
  }
  return keys == 0 ? 0 : sum / keys;
}

std::string chunks_text(std::string_view name, const HFileBloomLine& bloom) {
  if (!bloom.present) return fmt::format("\n  {}: none\n", name);
  std::string text =
      fmt::format("\n  {}: {} of at most {}, {} hashes ({}), {}\n", name, counted(bloom.keys, "key"),
                  human_count(bloom.keys_max), bloom.hashes, bloom.hash, counted(bloom.chunks, "chunk"));
  if (!bloom.trouble.empty()) return text + fmt::format("  not used: {}\n", bloom.trouble);
  Rows rows = {
      {"  #", "offset", "on disk", "bits in", "bits set", "keys, about", "false positives", "first key"}};
  for (size_t i = 0; i < bloom.chunk_list.size(); ++i) {
    const HFileBloomChunk& chunk = bloom.chunk_list[i];
    const bool read = chunk.trouble.empty();
    rows.push_back({"  " + std::to_string(i), human_count(chunk.offset), exact_bytes(chunk.disk_bytes),
                    read ? exact_bytes(chunk.bytes) : "-", read ? share(bits_share(chunk)) : "-",
                    read ? human_count(chunk.keys_estimated) : "-", read ? share(chunk.false_positives) : "-",
                    (bloom.flat_keys ? short_key_text(chunk.first_key) : cut(chunk.first_key)) +
                        (read ? "" : "  " + chunk.trouble)});
  }
  text += aligned_table(rows);
  if (bloom.chunks_left_out > 0)
    text += fmt::format("  … {}\n", counted(bloom.chunks_left_out, "more chunk"));
  if (!bloom.chunk_list.empty())
    text += fmt::format("  of absent keys {} pass\n", share(false_positives(bloom)));
  return text;
}

void fact(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("  {:<24} {}\n", name, value);
}

std::string cells_text(const HFileBlockDetail& block, const ValueRules& rules) {
  Rows rows = {{"  row", "column", "time", "type", "mvcc", "value"}};
  for (const Cell& cell : block.cells) {
    std::string value;
    rules.append_value(value, cell.family, cell.qualifier, cell.value);
    constexpr size_t kValueShown = 65;
    cut_to_columns(value, kValueShown);
    rows.push_back({"  " + rules.row(cell.row), rules.column(cell.family, cell.qualifier),
                    time_text(cell.timestamp), std::string(type_name(cell.type)),
                    std::to_string(cell.sequence), std::move(value)});
  }
  std::string text = "\n" + aligned_table(rows);
  if (block.cells_left_out > 0) text += fmt::format("  … {}\n", counted(block.cells_left_out, "more cell"));
  return text;
}

std::string sums_text(const HFileBlockDetail& block) {
  if (block.sums == 0) return block.checksum;
  std::string text = fmt::format("{}, {} over {} each: ", block.checksum, counted(block.sums, "sum"),
                                 exact_bytes(block.bytes_per_checksum));
  if (block.wrong_sums.empty()) return text + "all agree";
  text += fmt::format("{} wrong", human_count(block.wrong_sums.size()));
  for (const HFileBlockDetail::WrongSum& sum : block.wrong_sums) {
    text += fmt::format("\n  {:<24} piece {} stored {:08x}, computed {:08x}", "", sum.piece, sum.stored,
                        sum.computed);
  }
  return text;
}

std::string entries_name(const HFileBlockDetail& block) { return block.kind == "data" ? "cells" : "entries"; }

void body_text(std::string& text, const HFileBlockDetail& block) {
  fact(text, "checksum", sums_text(block));
  if (!block.place_trouble.empty()) fact(text, "place", block.place_trouble);
  if (!block.body_trouble.empty()) {
    fact(text, "body", "cannot be decompressed: " + block.body_trouble);
    return;
  }
  fact(text, "decompressed", exact_bytes(block.payload_bytes));
  if (!block.encoding.empty()) fact(text, "encoding", block.encoding);
  if (block.entries) {
    fact(text, entries_name(block),
         human_count(*block.entries) + (block.entries_trouble.empty() ? "" : " are readable"));
  }
  if (!block.entries_trouble.empty()) fact(text, "", block.entries_trouble);
  if (!block.first_key.empty()) {
    fact(text, "first key", short_key_text(block.first_key));
    fact(text, "last key", short_key_text(block.last_key));
  }
}

Json cell_json(const Cell& cell, const ValueRules& rules) {
  OwnedCell owned;
  owned.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, cell.sequence, cell.value,
               cell.tags);
  std::string text;
  rules.append_json(text, owned.view(), true, true);
  return Json::parse(text);
}

}  // namespace

std::string_view checksum_state(const HFileBlockDetail& block) {
  if (!block.header_trouble.empty()) return "unknown";
  if (block.sums == 0) return "none";
  return block.wrong_sums.empty() ? "ok" : "damaged";
}

std::string index_text(const HFileDescription& file) {
  Rows rows = {{"  level", "entry", "leads to", "offset", "on disk", "key (a lower bound)"}};
  for (const HFileIndexLine& line : file.index) {
    rows.push_back(
        {"  " + std::to_string(line.level), std::to_string(line.entry),
         std::string(line.level * 2, ' ') + line.leads_to, human_count(line.offset),
         exact_bytes(line.disk_bytes),
         short_key_text(line.key) + (line.trouble.empty() ? "" : "  cannot be read: " + line.trouble)});
  }
  std::string text = fmt::format("\n  index: {}, {} in its root\n", counted(file.index_levels, "level"),
                                 counted(file.root_entries, "entry"));
  text += aligned_table(rows);
  return text + (file.index_complete ? "" : "  … and more\n");
}

std::string bloom_text(const HFileDescription& file) {
  const std::string name = "Bloom filter" + (file.bloom.type.empty() ? "" : " " + file.bloom.type);
  return chunks_text(name, file.bloom) + chunks_text("Bloom filter of family deletes", file.delete_bloom);
}

std::string file_info_text(const HFileDescription& file, uint64_t list_max) {
  Rows rows = {{"  file info", "type", "means", "bytes"}};
  for (const HFileInfoLine& line : file.file_info) {
    if (rows.size() > list_max) break;
    rows.push_back({"  " + escaped(line.key), line.type, line.text, cut(line.value)});
  }
  const uint64_t left = file.file_info.size() + 1 - rows.size();
  std::string text = "\n" + aligned_table(rows);
  return text + (left > 0 ? fmt::format("  … {} more\n", human_count(left)) : "");
}

std::string trailer_text(const HFileDescription& file) {
  const Trailer& trailer = file.trailer;
  std::string text = "\n";
  fact(text, "trailer",
       fmt::format("at {}, {}", human_count(file.trailer_offset), exact_bytes(trailer.trailer_bytes())));
  fact(text, "version", fmt::format("{}.{}", trailer.major_version, trailer.minor_version));
  fact(text, "file info offset", human_count(trailer.file_info_offset));
  fact(text, "load-on-open offset", human_count(trailer.load_on_open_offset));
  fact(text, "first data block", std::to_string(trailer.first_data_block_offset));
  fact(text, "last data block", std::to_string(trailer.last_data_block_offset));
  fact(text, "cells", human_count(trailer.entry_count));
  fact(text, "data index levels", std::to_string(trailer.data_index_levels));
  fact(text, "data index root entries", human_count(trailer.data_index_count));
  fact(text, "meta index entries", human_count(trailer.meta_index_count));
  fact(text, "data index, raw", exact_bytes(trailer.uncompressed_data_index_bytes));
  fact(text, "all blocks, raw", exact_bytes(trailer.total_uncompressed_bytes));
  fact(text, "codec", fmt::format("{} ({})", file.codec, trailer.codec));
  fact(text, "comparator", escaped(trailer.comparator));
  if (!trailer.encryption_algorithm.empty()) fact(text, "encryption", escaped(trailer.encryption_algorithm));
  return text;
}

std::string block_text(const HFileBlockDetail& block, const ValueRules& rules) {
  std::string text = "\n";
  fact(text, "block",
       fmt::format("{}at {}", block.ordinal ? human_count(*block.ordinal) + " " : "",
                   human_count(block.offset)));
  fact(text, "kind", fmt::format("{} ({})", block.kind, escaped(block.magic)));
  fact(text, "header", exact_bytes(block.header_bytes));
  fact(text, "stored after it", exact_bytes(block.stored_bytes));
  fact(text, "raw", exact_bytes(block.payload_bytes));
  fact(
      text, "block before of its kind",
      block.previous_offset < 0 ? "none" : "at " + human_count(static_cast<uint64_t>(block.previous_offset)));
  if (block.checksum_type) {
    fact(text, "checksum type", std::to_string(*block.checksum_type));
    fact(text, "bytes per checksum", human_count(block.bytes_per_checksum));
    fact(text, "header and body", exact_bytes(block.summed_bytes));
  }
  if (!block.header_trouble.empty()) {
    fact(text, "not a block", block.header_trouble);
    return text;
  }
  fact(text, "on disk", exact_bytes(block.disk_bytes));
  body_text(text, block);
  if (!block.cells.empty()) text += cells_text(block, rules);
  return text;
}

Json index_list_json(const HFileDescription& file) {
  Json list = Json::array();
  for (const HFileIndexLine& line : file.index) {
    list.push_back({{"level", line.level},
                    {"entry", line.entry},
                    {"leads_to", line.leads_to},
                    {"offset", line.offset},
                    {"disk_bytes", line.disk_bytes},
                    {"key", flat_key_text(line.key)}});
    if (!line.trouble.empty()) list.back()["trouble"] = line.trouble;
  }
  return list;
}

Json chunk_list_json(const HFileBloomLine& bloom) {
  Json list = Json::array();
  for (const HFileBloomChunk& chunk : bloom.chunk_list) {
    Json line = {{"offset", chunk.offset},
                 {"disk_bytes", chunk.disk_bytes},
                 {"first_key", chunk_key(bloom, chunk.first_key)}};
    if (chunk.trouble.empty()) {
      line["raw_bytes"] = chunk.bytes;
      line["bits_set"] = chunk.bits_set;
      line["bits_set_share"] = bits_share(chunk);
      line["keys_estimated"] = chunk.keys_estimated;
      line["false_positive_rate"] = chunk.false_positives;
    } else {
      line["trouble"] = chunk.trouble;
    }
    list.push_back(std::move(line));
  }
  return list;
}

Json trailer_json(const HFileDescription& file) {
  const Trailer& trailer = file.trailer;
  return Json{{"offset", file.trailer_offset},
              {"bytes", trailer.trailer_bytes()},
              {"major_version", trailer.major_version},
              {"minor_version", trailer.minor_version},
              {"file_info_offset", trailer.file_info_offset},
              {"load_on_open_offset", trailer.load_on_open_offset},
              {"first_data_block_offset", trailer.first_data_block_offset},
              {"last_data_block_offset", trailer.last_data_block_offset},
              {"entry_count", trailer.entry_count},
              {"data_index_levels", trailer.data_index_levels},
              {"data_index_count", trailer.data_index_count},
              {"meta_index_count", trailer.meta_index_count},
              {"uncompressed_data_index_bytes", trailer.uncompressed_data_index_bytes},
              {"total_uncompressed_bytes", trailer.total_uncompressed_bytes},
              {"codec", trailer.codec},
              {"comparator", escaped(trailer.comparator)},
              {"encryption_algorithm", escaped(trailer.encryption_algorithm)}};
}

Json block_json(const HFileBlockDetail& block, const ValueRules& rules) {
  Json json = Json::object();
  if (block.ordinal) json["ordinal"] = *block.ordinal;
  json["offset"] = block.offset;
  json["kind"] = block.kind;
  json["header"] = {{"bytes", block.header_bytes},
                    {"magic", escaped(block.magic)},
                    {"stored_bytes", block.stored_bytes},
                    {"raw_bytes", block.payload_bytes},
                    {"previous_offset", block.previous_offset}};
  if (block.checksum_type) {
    json["header"]["checksum_type"] = *block.checksum_type;
    json["header"]["bytes_per_checksum"] = block.bytes_per_checksum;
    json["header"]["summed_bytes"] = block.summed_bytes;
  }
  json["checksum_state"] = checksum_state(block);
  if (!block.header_trouble.empty()) {
    json["header_trouble"] = block.header_trouble;
    return json;
  }
  json["disk_bytes"] = block.disk_bytes;
  json["checksum"] = block.checksum;
  json["sums"] = block.sums;
  json["wrong_sums"] = Json::array();
  for (const HFileBlockDetail::WrongSum& sum : block.wrong_sums) {
    json["wrong_sums"].push_back({{"piece", sum.piece},
                                  {"stored", fmt::format("{:08x}", sum.stored)},
                                  {"computed", fmt::format("{:08x}", sum.computed)}});
  }
  if (!block.place_trouble.empty()) json["place_trouble"] = block.place_trouble;
  if (!block.body_trouble.empty()) json["body_trouble"] = block.body_trouble;
  if (!block.encoding.empty()) json["encoding"] = block.encoding;
  if (block.entries) json["entries"] = *block.entries;
  if (!block.entries_trouble.empty()) json["entries_trouble"] = block.entries_trouble;
  if (!block.first_key.empty()) {
    json["first_key"] = flat_key_text(block.first_key);
    json["last_key"] = flat_key_text(block.last_key);
  }
  for (const Cell& cell : block.cells) json["cells"].push_back(cell_json(cell, rules));
  if (block.cells_left_out > 0) json["cells_left_out"] = block.cells_left_out;
  return json;
}

}  // namespace cellar
