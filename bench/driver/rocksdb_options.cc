// RocksOptions: the translation, option by option.
#include "bench/driver/rocksdb_options.h"

#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "cellar/plugin.h"

namespace cellar::bench {
namespace {

struct Codec {
  std::string_view name;  // in Cellar
  rocksdb::CompressionType type;
};
constexpr std::array kCodecs = {Codec{"none", rocksdb::kNoCompression},
                                Codec{"snappy", rocksdb::kSnappyCompression},
                                Codec{"lz4", rocksdb::kLZ4Compression}, Codec{"zstd", rocksdb::kZSTD},
                                Codec{"gz", rocksdb::kZlibCompression}};

Status lacks(const std::string& name, const std::string& value) {
  return Status::not_supported("rocksdb has no " + name + "=" + value);
}

std::shared_ptr<const rocksdb::FilterPolicy> row_filter() {
  return std::shared_ptr<const rocksdb::FilterPolicy>(rocksdb::NewBloomFilterPolicy(10, false));
}

}  // namespace

RocksOptions::RocksOptions() {
  db_.max_background_jobs = 2;
  db_.bytes_per_sync = 1u << 20;
  db_.compaction_readahead_size = 2u << 20;
  db_.max_open_files = -1;

  table_.block_size = 16384;
  table_.filter_policy = row_filter();
  table_.whole_key_filtering = false;
  table_.cache_index_and_filter_blocks = false;  // held by the table readers

  family_.compression = rocksdb::kSnappyCompression;
  family_.max_write_buffer_number = 4;
  family_.target_file_size_base = 64u << 20;
  family_.max_bytes_for_level_base = 256u << 20;
  family_.level_compaction_dynamic_level_bytes = true;
}

Status RocksOptions::set(const std::string& name, const std::string& value) {
  return PeerOptions::knows(name) ? set_common(name, value) : set_own(name, value);
}

Status RocksOptions::set_common(const std::string& given, const std::string& value) {
  const std::string name = PeerOptions::spelling(given);
  PeerOptions changed = common_;
  CELLAR_TRY(changed.set(name, value));
  const FamilyOptions& family = changed.family();
  const EngineOptions& engine = changed.engine();
  if (name == "block_bytes") {
    table_.block_size = family.block_bytes;
  } else if (name == "compression") {
    const auto codec = std::ranges::find(kCodecs, family.compression, &Codec::name);
    if (codec == kCodecs.end()) return lacks(name, value);
    family_.compression = codec->type;
  } else if (name == "bloom") {
    if (family.bloom != "row" && family.bloom != "none") return lacks(name, value);
    table_.filter_policy = family.bloom == "row" ? row_filter() : nullptr;
  } else if (name == "background_threads") {
    db_.max_background_jobs = engine.background_threads;
  } else if (name == "compaction_parts_max") {
    if (engine.compaction_parts_max == 0) return lacks(name, value);
    db_.max_subcompactions = engine.compaction_parts_max;
  } else if (name == "compaction") {
    CELLAR_TRY(set_compaction(family.compaction));
  } else if (name == "cache_policy") {
    if (engine.cache_policy != "lru") return lacks(name, value);
  } else if (name == "memtable") {
    if (engine.memtable != "skip_list") return lacks(name, value);
  } else if (name != "cache_bytes" && name != "memtable_bytes") {
    return lacks(name, value);
  }
  common_ = changed;
  return {};
}

// Cellar's `leveled` is RocksDB's level compaction. Other parameters than the fanout have no equivalent.
Status RocksOptions::set_compaction(const std::string& text) {
  CELLAR_TRY_ASSIGN(const PluginParams params, PluginParams::parse(text));
  if (params.name() != "leveled") return lacks("compaction", text);
  const uint64_t fanout = params.count("fanout", 10);
  if (!params.finish().ok()) return lacks("compaction", text);
  family_.compaction_style = rocksdb::kCompactionStyleLevel;
  family_.max_bytes_for_level_multiplier = static_cast<double>(fanout);
  return {};
}

Status RocksOptions::set_own(const std::string& name, const std::string& value) {
  const std::unordered_map<std::string, std::string> wanted = {{name, value}};
  rocksdb::ConfigOptions strict;
  rocksdb::ColumnFamilyOptions family;
  rocksdb::DBOptions db;
  const rocksdb::Status of_family = rocksdb::GetColumnFamilyOptionsFromMap(strict, family_, wanted, &family);
  if (of_family.ok()) {
    family_ = family;
  } else if (rocksdb::GetDBOptionsFromMap(strict, db_, wanted, &db).ok()) {
    db_ = db;
  } else {
    return Status::invalid_argument("rocksdb: " + of_family.ToString() + " (" + name + "=" + value + ")")
        .hinting("give an option of Cellar, or one of RocksDB's options of a database or column family");
  }
  own_.insert(name);
  common_.remember(name, value);
  return {};
}

}  // namespace cellar::bench
