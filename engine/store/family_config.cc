// FamilyConfig: options to rules.
#include "engine/store/family_config.h"

#include "base/assert.h"
#include "bloom/bloom_types.h"
#include "engine/schema/option_fields.h"

namespace cellar {
namespace {

FamilyRules rules_of(const FamilyOptions& options) {
  FamilyRules rules;
  rules.max_versions = options.max_versions;
  rules.min_versions = options.min_versions;
  rules.ttl_ms = options.ttl_s == kForever ? kTtlForeverMs : options.ttl_s * 1000;
  rules.keep_deleted_cells = options.keep_deleted_cells;
  rules.delete_order = options.delete_order;
  return rules;
}

}  // namespace

Result<std::shared_ptr<const FamilyConfig>> FamilyConfig::create(const FamilyOptions& options) {
  CELLAR_TRY(validate(options));
  auto config = std::make_shared<FamilyConfig>();
  config->options = options;
  config->rules = rules_of(options);
  CELLAR_TRY_ASSIGN(config->policy, Registry<CompactionPolicy>::instance().make(options.compaction));
  CELLAR_ASSERT(config->policy != nullptr && config->rules.min_versions <= config->rules.max_versions);
  return std::shared_ptr<const FamilyConfig>(std::move(config));
}

const std::string& compression_of(const FamilyOptions& family, FileOrigin origin) {
  if (origin == FileOrigin::kFlush) return family.compression;
  CELLAR_DCHECK(family.compression != kSameCompression);  // else there is nothing to be the same as
  const std::string& own = origin == FileOrigin::kMajorCompaction ? family.compression_compact_major
                                                                  : family.compression_compact_minor;
  if (own != kSameCompression) return own;
  return family.compression_compact != kSameCompression ? family.compression_compact : family.compression;
}

HFileWriterOptions writer_options(const FamilyOptions& family, FileOrigin origin, bool tags, bool mvcc,
                                  int64_t now_ms, uint64_t cell_bytes_max) {
  HFileWriterOptions options;
  options.compression = compression_of(family, origin);
  options.encoding = family.encoding;
  options.block_bytes = family.block_bytes;
  options.bloom = family.bloom;
  options.bloom_hash = bloom_hash_by_name(family.bloom_hash).value();  // validate() has checked the name
  options.bloom_error_rate = static_cast<float>(family.bloom_bits_percent_error) / 100.0F;
  options.tags = tags;
  options.compress_tags = family.compress_tags;
  options.mvcc = mvcc;
  options.trailer_sums = options.cell_counts = true;
  options.create_time_ms = now_ms;
  options.cell_bytes_max = cell_bytes_max;
  CELLAR_ASSERT(options.bloom_error_rate > 0 && options.bloom_error_rate < 1 && cell_bytes_max > 0);
  return options;
}

}  // namespace cellar
