// HBase's rules for RocksDB, as its own extension points.
#include "bench/driver/rocksdb_rules.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "bench/driver/flat_key.h"

namespace cellar::bench {
namespace {

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class RowOfKey : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "cellar.bench.row"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), part_end(view(key), 0)};
  }
  bool InDomain(const rocksdb::Slice& key) const override {
    const size_t end = part_end(view(key), 0);
    return end >= 2 && key[end - 1] == '\0' && key[end - 2] == '\0';
  }
};

// One pass over the keys of a compaction, in order.
class VersionRules : public rocksdb::CompactionFilter {
 public:
  VersionRules(int64_t oldest, bool all_files) : oldest_(oldest), all_files_(all_files) {}
  const char* Name() const override { return "cellar.bench.versions"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType type, const rocksdb::Slice&, std::string*,
                    std::string*) const override {
    if (type != ValueType::kValue) return Decision::kKeep;
    const FlatKey parts = parse_versioned(view(key));
    if (parts.row != row_) {
      row_ = parts.row;
      family_marker_ = -1;
    }
    if (parts.type == kDeleteFamilyType) {
      family_marker_ = std::max(family_marker_, parts.timestamp);
      return all_files_ || parts.timestamp < oldest_ ? Decision::kRemove : Decision::kKeep;
    }
    if (parts.timestamp < oldest_ || parts.timestamp <= family_marker_) return Decision::kRemove;
    if (parts.column == column_) return Decision::kRemove;
    column_ = parts.column;
    return Decision::kKeep;
  }

 private:
  const int64_t oldest_;
  const bool all_files_;
  mutable std::string row_;
  mutable std::string column_;
  mutable int64_t family_marker_ = -1;
};

class VersionRulesFactory : public rocksdb::CompactionFilterFactory {
 public:
  explicit VersionRulesFactory(std::shared_ptr<const std::atomic<int64_t>> oldest)
      : oldest_(std::move(oldest)) {}
  const char* Name() const override { return "cellar.bench.versions"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override {
    return std::make_unique<VersionRules>(oldest_->load(), context.is_full_compaction);
  }

 private:
  std::shared_ptr<const std::atomic<int64_t>> oldest_;
};

constexpr const char* kTimes = "cellar.bench.times";

class TimeCollector : public rocksdb::TablePropertiesCollector {
 public:
  const char* Name() const override { return kTimes; }
  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice&, rocksdb::EntryType,
                             rocksdb::SequenceNumber, uint64_t) override {
    if (key.size() < kVersionBytes) return rocksdb::Status::OK();
    uint64_t word;
    std::memcpy(&word, key.data() + key.size() - kVersionBytes, sizeof word);
    const auto timestamp = static_cast<int64_t>(~__builtin_bswap64(word));
    range_[0] = std::min(range_[0], timestamp);
    range_[1] = std::max(range_[1], timestamp);
    return rocksdb::Status::OK();
  }
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    (*properties)[kTimes] = std::string(reinterpret_cast<const char*>(range_), sizeof range_);
    return rocksdb::Status::OK();
  }
  rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }

 private:
  int64_t range_[2] = {INT64_MAX, INT64_MIN};
};

class TimeCollectorFactory : public rocksdb::TablePropertiesCollectorFactory {
 public:
  const char* Name() const override { return kTimes; }
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new TimeCollector;
  }
};

}  // namespace

std::shared_ptr<const rocksdb::SliceTransform> row_of_key() { return std::make_shared<RowOfKey>(); }

std::shared_ptr<rocksdb::CompactionFilterFactory> version_rules(
    std::shared_ptr<const std::atomic<int64_t>> oldest) {
  return std::make_shared<VersionRulesFactory>(std::move(oldest));
}

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> time_collector() {
  return std::make_shared<TimeCollectorFactory>();
}

bool may_hold(const rocksdb::TableProperties& properties, int64_t from, int64_t until) {
  const auto found = properties.user_collected_properties.find(kTimes);
  int64_t range[2];
  if (found == properties.user_collected_properties.end() || found->second.size() != sizeof range)
    return true;
  std::memcpy(range, found->second.data(), sizeof range);
  return range[0] < until && range[1] >= from;
}

}  // namespace cellar::bench
