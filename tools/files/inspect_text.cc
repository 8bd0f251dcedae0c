// Rendering of HFile descriptions.
#include "tools/files/inspect_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text_printer.h"
#include "base/text_width.h"
#include "cell/cell_codec.h"
#include "tools/files/inspect_lists.h"
#include "tools/files/key_text.h"
#include "tools/frame/output.h"

namespace cellar {

namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

std::string percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string ratio(uint64_t raw, uint64_t disk) {
  return disk == 0 ? "-" : fmt::format("{:.1f}×", static_cast<double>(raw) / static_cast<double>(disk));
}

std::string title(const HFileDescription& file) {
  const std::string right = fmt::format("HFile v{} · {} · {}", file.version.empty() ? "?" : file.version,
                                        file.codec.empty() ? "?" : file.codec, human_bytes(file.file_bytes));
  constexpr size_t kRight = 59;
  const size_t used = text_width(file.name);
  return file.name + std::string(used + 2 < kRight ? kRight - used : 2, ' ') + right + "\n";
}

// Name, value, remark.
class Facts {
 public:
  void add(std::string name, std::string value, std::string remark = {}) {
    rows_.push_back({std::move(name), std::move(value), std::move(remark)});
  }
  std::string text() const {
    size_t width = 0;
    constexpr size_t kWidthMax = 26;
    for (const auto& row : rows_) {
      if (!row[2].empty()) width = std::max(width, std::min(text_width(row[1]), kWidthMax));
    }
    std::string all;
    for (const auto& row : rows_) {
      std::string line = fmt::format("  {:<12} {}", row[0], row[1]);
      if (!row[2].empty()) {
        const size_t used = text_width(row[1]);
        line += std::string(used < width ? width - used + 3 : 3, ' ') + row[2];
      }
      all += line + "\n";
    }
    return all;
  }

 private:
  Rows rows_;
};

void add_cells(Facts& facts, const HFileDescription& file) {
  std::string about;
  if (file.average_key_bytes) about += fmt::format("key avg {} B", *file.average_key_bytes);
  if (file.average_value_bytes) about += fmt::format(", value avg {} B", *file.average_value_bytes);
  about += file.tags ? fmt::format(", tags{}", file.tags_compressed ? " (compressed)" : "") : ", no tags";
  facts.add("cells", human_count(file.cells), about);
  if (file.cells > 0) {
    const auto [first, first_rest] = key_parts(file.first_key);
    const auto [last, last_rest] = key_parts(file.last_key);
    facts.add("first key", first, first_rest);
    facts.add("last key", last, last_rest);
  }
  if (file.times) {
    facts.add("times", time_text(file.times->min), "to " + time_text(file.times->max));
  } else {
    facts.add("times", "not recorded", file.scan ? "" : "add --scan to see them");
  }
  if (file.scan) {
    const HFileScan& scan = *file.scan;
    facts.add("counted", counted(scan.rows, "row"),
              fmt::format("{}, {}, {} with tags, {} {}", counted(scan.puts, "put"),
                          counted(scan.deletes, "delete marker"), counted(scan.tagged_cells, "cell"),
                          plural(scan.families.size(), "family"), fmt::join(scan.families, ", ")));
    if (scan.cells > 0) facts.add("", time_text(scan.timestamp_min), "to " + time_text(scan.timestamp_max));
  }
}

std::string bloom_facts(const HFileBloomLine& bloom) {
  std::string text = fmt::format("{} of at most {}, {} hashes ({}), {} in {}", counted(bloom.keys, "key"),
                                 human_count(bloom.keys_max), bloom.hashes, bloom.hash,
                                 human_bytes(bloom.bytes), counted(bloom.chunks, "chunk"));
  if (bloom.prefix_bytes > 0) text += fmt::format(", the first {} B of a row", bloom.prefix_bytes);
  if (!bloom.trouble.empty()) text += "; not used: " + bloom.trouble;
  return text;
}

struct BlockSumsFacts {
  uint64_t pages = 0;
  uint64_t disk_bytes = 0;
};

BlockSumsFacts block_sums_facts(const Trailer& trailer) {
  BlockSumsFacts facts;
  for (const BlockSumsPage& page : trailer.block_sums) {
    facts.pages += 1;
    facts.disk_bytes += page.disk_bytes;
  }
  return facts;
}

void add_structure(Facts& facts, const HFileDescription& file) {
  if (file.data_blocks) {
    std::string about = "encoding " + file.encoding;
    if (file.data_disk_bytes && file.data_payload_bytes) {
      about = fmt::format("{} → {} ({}), {}", human_bytes(*file.data_payload_bytes),
                          human_bytes(*file.data_disk_bytes),
                          ratio(*file.data_payload_bytes, *file.data_disk_bytes), about);
    }
    facts.add("data", counted(*file.data_blocks, "block"), about);
  } else {
    facts.add("data", "encoding " + file.encoding, "add --layout to count the blocks");
  }
  facts.add("index", counted(file.index_levels, "level"),
            fmt::format("{} in its root; a cold get reads {}{}", counted(file.root_entries, "entry"),
                        counted(std::max<uint64_t>(file.index_levels, 1), "block"),
                        file.bloom.present ? " and a Bloom chunk" : ""));
  facts.add("bloom", file.bloom.present ? file.bloom.type : "none",
            file.bloom.present ? bloom_facts(file.bloom) : "");
  if (file.delete_bloom.present) facts.add("", "family deletes", bloom_facts(file.delete_bloom));
  facts.add(
      "checksum", file.checksum,
      file.bytes_per_checksum > 0 ? fmt::format("one per {}", human_bytes(file.bytes_per_checksum)) : "");
  if (const BlockSumsFacts sums = block_sums_facts(file.trailer); sums.pages > 0)
    facts.add(
        "block sums", "of all blocks",
        fmt::format("a block of another file, place or time is found; {}", exact_bytes(sums.disk_bytes)));
  facts.add("mvcc", file.mvcc ? "with each cell" : "none",
            file.max_mvcc ? fmt::format("greatest {}", *file.max_mvcc) : "");
  if (file.create_time_ms) facts.add("written", time_text(*file.create_time_ms));
  if (file.max_sequence)
    facts.add("sequence", fmt::format("up to {}", human_count(static_cast<uint64_t>(*file.max_sequence))),
              file.major_compaction.value_or(false) ? "result of a major compaction" : "");
  if (file.family_deletes && *file.family_deletes > 0)
    facts.add("deletes", counted(*file.family_deletes, "family marker"));
  facts.add("comparator", file.comparator, file.meta_order ? "the order of hbase:meta" : "");
  for (const HFileMetaLine& meta : file.meta_blocks)
    facts.add("meta block", escaped(meta.name),
              fmt::format("{} at {}", exact_bytes(meta.disk_bytes), human_count(meta.offset)));
  for (const HFileInfoLine& line : file.file_info) {
    if (!line.known) facts.add("file info", escaped(line.key), "= " + line.text);
  }
}

std::string layout_text(const HFileDescription& file) {
  Rows rows = {{"  kind", "blocks", "on disk", "raw", "ratio", "share", ""}};
  uint64_t disk = 0;
  uint64_t raw = 0;
  uint64_t blocks = 0;
  for (const HFileSpace& space : file.space) {
    disk += space.disk_bytes;
    raw += space.payload_bytes;
    blocks += space.blocks;
  }
  for (const HFileSpace& space : file.space) {
    const double share = disk == 0 ? 0 : static_cast<double>(space.disk_bytes) / static_cast<double>(disk);
    rows.push_back({"  " + space.kind, space.kind == "trailer" ? "-" : human_count(space.blocks),
                    human_bytes(space.disk_bytes), human_bytes(space.payload_bytes),
                    ratio(space.payload_bytes, space.disk_bytes), percent(space.disk_bytes, disk),
                    bar(share, 24)});
  }
  rows.push_back(
      {"  total", human_count(blocks), human_bytes(disk), human_bytes(raw), ratio(raw, disk), "", ""});
  return "\n" + aligned_table(rows);
}

std::string blocks_text(const HFileDescription& file) {
  Rows rows = {{"  #", "kind", "offset", "on disk", "raw", "cells", "index key (a lower bound)"}};
  for (const HFileBlockLine& block : file.blocks) {
    rows.push_back({"  " + std::to_string(block.ordinal), block.kind, human_count(block.offset),
                    exact_bytes(block.disk_bytes), exact_bytes(block.payload_bytes),
                    block.cells ? human_count(*block.cells) : "-",
                    block.index_key.empty() ? "" : short_key_text(block.index_key)});
  }
  std::string text = "\n" + aligned_table(rows);
  if (file.blocks_left_out > 0) text += fmt::format("  … {}\n", counted(file.blocks_left_out, "more block"));
  return text;
}

Json json_of(const HFileBloomLine& bloom) {
  Json json = Json{{"type", bloom.type},         {"hash", bloom.hash},
                   {"hashes", bloom.hashes},     {"keys", bloom.keys},
                   {"keys_max", bloom.keys_max}, {"chunks", bloom.chunks},
                   {"raw_bytes", bloom.bytes},   {"last_key", escaped(bloom.last_key)},
                   {"trouble", bloom.trouble},   {"prefix_bytes", bloom.prefix_bytes}};
  if (!bloom.chunk_list.empty()) {
    json["chunk_list"] = chunk_list_json(bloom);
    json["chunks_left_out"] = bloom.chunks_left_out;
  }
  return json;
}

template <class Value>
void set_if(Json& json, const char* name, const std::optional<Value>& value) {
  if (value) json[name] = *value;
}

void add_facts(Json& json, const HFileDescription& file) {
  set_if(json, "average_key_bytes", file.average_key_bytes);
  set_if(json, "average_value_bytes", file.average_value_bytes);
  json["tags"] = file.tags;
  json["tags_compressed"] = file.tags_compressed;
  json["mvcc"] = file.mvcc;
  set_if(json, "max_mvcc", file.max_mvcc);
  json["first_key"] = flat_key_text(file.first_key);
  json["last_key"] = flat_key_text(file.last_key);
  if (file.times) json["times"] = {{"min", file.times->min}, {"max", file.times->max}};
  set_if(json, "family_deletes", file.family_deletes);
  set_if(json, "earliest_put_ts", file.earliest_put_ts);
  set_if(json, "create_time_ms", file.create_time_ms);
  set_if(json, "max_sequence", file.max_sequence);
  set_if(json, "major_compaction", file.major_compaction);
  set_if(json, "bulk_load_time_ms", file.bulk_load_time_ms);
  json["checksum"] = {{"type", file.checksum}, {"bytes_per_checksum", file.bytes_per_checksum}};
  const BlockSumsFacts sums = block_sums_facts(file.trailer);
  json["block_sums"] = {{"pages", sums.pages}, {"disk_bytes", sums.disk_bytes}};
  json["index"] = {{"levels", file.index_levels},
                   {"root_entries", file.root_entries},
                   {"disk_bytes", file.root_disk_bytes},
                   {"raw_bytes", file.root_payload_bytes}};
  Json data = {{"codec", file.codec}, {"encoding", file.encoding}};
  set_if(data, "blocks", file.data_blocks);
  set_if(data, "disk_bytes", file.data_disk_bytes);
  set_if(data, "raw_bytes", file.data_payload_bytes);
  json["data"] = std::move(data);
  if (!file.index.empty()) {
    json["index"]["entries"] = index_list_json(file);
    json["index"]["complete"] = file.index_complete;
  }
  if (file.bloom.present) json["bloom"] = json_of(file.bloom);
  if (file.delete_bloom.present) json["delete_bloom"] = json_of(file.delete_bloom);
  Json info = Json::array();
  for (const HFileInfoLine& line : file.file_info)
    info.push_back({{"key", escaped(line.key)},
                    {"value", escaped(line.value)},
                    {"type", line.type},
                    {"text", line.text}});
  json["file_info"] = std::move(info);
  Json metas = Json::array();
  for (const HFileMetaLine& meta : file.meta_blocks)
    metas.push_back({{"name", escaped(meta.name)}, {"offset", meta.offset}, {"disk_bytes", meta.disk_bytes}});
  json["meta_blocks"] = std::move(metas);
}

void add_lists(Json& json, const HFileDescription& file) {
  for (const HFileSpace& space : file.space) {
    json["space"].push_back({{"kind", space.kind},
                             {"blocks", space.blocks},
                             {"disk_bytes", space.disk_bytes},
                             {"raw_bytes", space.payload_bytes}});
  }
  for (const HFileBlockLine& block : file.blocks) {
    Json line = {{"ordinal", block.ordinal},         {"kind", block.kind},
                 {"offset", block.offset},           {"disk_bytes", block.disk_bytes},
                 {"raw_bytes", block.payload_bytes}, {"previous_offset", block.previous_offset}};
    set_if(line, "cells", block.cells);
    if (!block.index_key.empty()) line["index_key"] = flat_key_text(block.index_key);
    json["blocks"].push_back(std::move(line));
  }
  if (file.blocks_left_out > 0) json["blocks_left_out"] = file.blocks_left_out;
  if (file.scan) {
    const HFileScan& scan = *file.scan;
    Json families = Json::array();
    for (const std::string& family : scan.families) families.push_back(escaped(family));
    json["scan"] = {{"cells", scan.cells},
                    {"rows", scan.rows},
                    {"puts", scan.puts},
                    {"deletes", scan.deletes},
                    {"tagged_cells", scan.tagged_cells},
                    {"max_sequence", scan.max_sequence},
                    {"families", std::move(families)}};
    if (scan.cells > 0) json["scan"]["times"] = {{"min", scan.timestamp_min}, {"max", scan.timestamp_max}};
  }
}

}  // namespace

std::string inspect_text(const HFileDescription& file, const InspectWanted& wanted) {
  std::string text = title(file);
  if (wanted.facts && file.has_file_info) {
    Facts facts;
    add_cells(facts, file);
    add_structure(facts, file);
    text += "\n" + facts.text();
  } else if (wanted.facts && file.has_trailer) {
    Facts facts;
    facts.add("cells", human_count(file.trailer.entry_count), "according to the trailer");
    facts.add("index", counted(file.trailer.data_index_levels, "level"));
    facts.add("comparator", file.comparator);
    text += "\n" + facts.text();
  }
  if (!file.space.empty()) text += layout_text(file);
  if (!file.blocks.empty()) text += blocks_text(file);
  if (wanted.index && file.has_file_info) text += index_text(file);
  if (wanted.bloom && file.has_file_info) text += bloom_text(file);
  if (wanted.file_info && file.has_file_info) text += file_info_text(file, wanted.list_max);
  if (wanted.trailer && file.has_trailer) text += trailer_text(file);
  if (file.block) text += block_text(*file.block, wanted.rules);
  if (wanted.facts && !file.warnings.empty()) {
    text += "\n";
    for (const HFileWarning& warning : file.warnings)
      text += fmt::format("  {}  {}\n", warning.code, warning.text);
  }
  text += fmt::format("\nread {} in {}\n", exact_bytes(file.reads.bytes_from_disk),
                      counted(file.read_requests, "request"));
  return text;
}

std::string inspect_table(const std::vector<HFileDescription>& files) {
  Rows rows = {{"file", "version", "codec", "encoding", "cells", "bytes", "rows from", "to", "state"}};
  for (const HFileDescription& file : files) {
    rows.push_back({file.name, file.version, file.codec, file.encoding, human_count(file.cells),
                    human_bytes(file.file_bytes), file.cells > 0 ? key_parts(file.first_key).first : "",
                    file.cells > 0 ? key_parts(file.last_key).first : "",
                    file.status.ok() ? "ok" : std::string(code_name(file.status.code()))});
  }
  return aligned_table(rows);
}

nlohmann::ordered_json inspect_json(const HFileDescription& file, const ValueRules& rules) {
  Json json = {{"path", file.name},
               {"bytes", file.file_bytes},
               {"version", file.version},
               {"codec", file.codec},
               {"state", file.status.ok() ? "ok" : std::string(code_name(file.status.code()))}};
  if (!file.status.ok()) json["error"] = file.status.to_text();
  if (file.has_trailer) {
    json["comparator"] = file.comparator;
    json["meta_order"] = file.meta_order;
    json["cells"] = file.has_file_info ? file.cells : file.trailer.entry_count;
  }
  if (file.has_file_info) add_facts(json, file);
  if (file.has_trailer) json["trailer"] = trailer_json(file);
  add_lists(json, file);
  if (file.block) json["block"] = block_json(*file.block, rules);
  json["warnings"] = Json::array();
  for (const HFileWarning& warning : file.warnings)
    json["warnings"].push_back({{"code", warning.code}, {"text", warning.text}});
  json["read"] = {{"bytes", file.reads.bytes_from_disk}, {"requests", file.read_requests}};
  return json;
}

}  // namespace cellar
