// verify, level deep: each key found again through index and filters, the filters rebuilt.
#include <fmt/format.h>

#include <bit>
#include <map>

#include "base/bytes.h"
#include "bloom/bloom_bits.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "hfile/check/verifier.h"
#include "hfile/encoding/encoding.h"

namespace cellar {

namespace {

constexpr uint64_t kRangeBytes = 2u << 20;        // of blocks in a range, on disk, unless one block is larger
constexpr uint64_t kRangeBytesAhead = 32u << 20;  // what ranges that are not taken yet may hold

}  // namespace

// The keys of a stretch for a filter, and the bits that they set.
class BloomCheck {
 public:
  struct Outcome {
    uint64_t keys = 0;
    uint64_t keys_without_chunk = 0;
    uint64_t bits_missing = 0;  // a stored filter without them answers "absent" for a key that is there
    uint64_t bits_too_many = 0;
    Status status;
  };

  // `type` says what is hashed; null: the row.
  BloomCheck(const BloomReader* bloom, const BloomType* type) : bloom_(bloom), type_(type) {}

  void add(const CellView& cell) {
    const std::string_view key = key_of(cell);
    if (outcome_.keys > 0 && key == last_) return;
    last_.assign(key);
    const int64_t i = bloom_->chunk_of(key);
    if (outcome_.keys++ == 0) {
      first_ = last_;
      first_without_chunk_ = i < 0;
    }
    if (i < 0) {
      outcome_.keys_without_chunk += 1;
      return;
    }
    std::string& bits = bits_[static_cast<uint32_t>(i)];
    if (bits.empty()) {
      const Result<std::string_view> stored = bloom_->chunk(static_cast<uint32_t>(i), nullptr);
      if (!stored.ok()) {
        outcome_.status = stored.status();
        return;
      }
      bits.assign(stored->size(), '\0');
    }
    const BloomHashes hashes = bloom_hashes(bloom_->facts().hash, key);
    for (uint32_t k = 0; k < bloom_->facts().hashes; ++k) {
      const uint32_t at = bloom_position(hashes, k, static_cast<uint32_t>(bits.size() * 8));
      bits[at >> 3] = static_cast<char>(bits[at >> 3] | (1 << (at & 7)));
    }
  }

  // Adds the next stretch.
  void add(BloomCheck later) {
    if (later.outcome_.keys == 0) return;
    const bool again = outcome_.keys > 0 && later.first_ == last_;
    outcome_.keys += later.outcome_.keys - (again ? 1 : 0);
    outcome_.keys_without_chunk +=
        later.outcome_.keys_without_chunk - (again && later.first_without_chunk_ ? 1 : 0);
    last_ = std::move(later.last_);
    for (auto& [i, bits] : later.bits_) {
      std::string& ours = bits_[i];
      if (ours.empty()) {
        ours = std::move(bits);
        continue;
      }
      for (size_t at = 0; at < std::min(ours.size(), bits.size()); ++at)
        ours[at] = static_cast<char>(ours[at] | bits[at]);
    }
  }

  Outcome finish() {
    for (uint32_t i = 0; i < bloom_->chunks(); ++i) {
      const Result<std::string_view> stored = bloom_->chunk(i, nullptr);
      if (!stored.ok()) {
        outcome_.status = stored.status();
        continue;
      }
      const std::string& bits = bits_[i];
      for (size_t at = 0; at < stored->size(); ++at) {
        const auto theirs = static_cast<uint8_t>((*stored)[at]);
        const auto ours = static_cast<uint8_t>(bits.empty() ? 0 : bits[at]);
        outcome_.bits_missing += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(ours & ~theirs)));
        outcome_.bits_too_many += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(theirs & ~ours)));
      }
    }
    return outcome_;
  }
  const std::string& last_key() const { return last_; }

 private:
  std::string_view key_of(const CellView& cell) {
    return type_ == nullptr ? cell.row() : type_->key_of(cell, key_);
  }

  const BloomReader* bloom_;
  const BloomType* type_;
  std::map<uint32_t, std::string> bits_;  // of the chunks that the keys belong to
  std::string first_;
  bool first_without_chunk_ = false;
  std::string last_;
  std::string key_;
  Outcome outcome_;
};

namespace {

struct BloomChecks {
  explicit BloomChecks(const FileParts& file) {
    if (file.bloom != nullptr && file.bloom_type != nullptr)
      general = std::make_unique<BloomCheck>(file.bloom.get(), file.bloom_type.get());
    if (file.delete_bloom != nullptr)
      deletes = std::make_unique<BloomCheck>(file.delete_bloom.get(), nullptr);
  }
  void add(const CellView& cell) {
    if (general != nullptr) general->add(cell);
    if (deletes != nullptr && covers_family(cell.cell_type)) deletes->add(cell);
  }
  void add(BloomChecks later) {
    if (general != nullptr) general->add(std::move(*later.general));
    if (deletes != nullptr) deletes->add(std::move(*later.deletes));
  }
  std::unique_ptr<BloomCheck> general;  // null: the file has no such filter to check
  std::unique_ptr<BloomCheck> deletes;
};

}  // namespace

// Blocks [first, end) of the index: every cell of them searched for.
class Verifier::DeepRange final : public JobsInOrder::Piece {
 public:
  DeepRange(Verifier& verifier, BloomChecks& all_blooms, Status& failure, size_t first, size_t end,
            uint64_t disk_bytes)
      : verifier_(verifier),
        all_blooms_(all_blooms),
        failure_(failure),
        first_(first),
        end_(end),
        disk_bytes_(disk_bytes),
        blooms_(verifier.parts()) {}

  uint64_t bytes() const override { return disk_bytes_; }
  void run() override {
    finder_ = verifier_.reader_->cursor({.fill_cache = false});
    const std::unique_ptr<BlockWalker> walker = verifier_.make_walker();
    for (size_t i = first_; i < end_ && status_.ok(); ++i) status_ = walk(verifier_.index_[i], *walker);
    finder_.reset();
  }
  void take() override {
    for (VerifyFinding& each : found_) verifier_.report(std::move(each));
    verifier_.found_.add_left_out(counter_, verifier_.report_.findings_left_out);
    if (failure_.ok()) failure_ = status_;
    all_blooms_.add(std::move(blooms_));
    verifier_.go_on(verifier_.report_.file_bytes);
  }

 private:
  Status walk(const IndexedBlock& indexed, BlockWalker& walker) {
    CELLAR_TRY_ASSIGN(Block* const block, verifier_.blocks_->read(indexed.offset, indexed.disk_bytes,
                                                                  verifier_.limit_, nullptr, nullptr));
    const Pin pin(block);
    CELLAR_TRY(walker.open(block->payload()));
    for (const CellView* cell = walker.next(); cell != nullptr; cell = walker.next()) {
      search(*cell);
      blooms_.add(*cell);
    }
    return walker.status();
  }

  void search(const CellView& cell) {
    const CellView* found = finder_->seek(cell);
    if (found != nullptr && FileOrder(verifier_.parts().meta_order)(*found, cell) == 0) return;
    const Status status = finder_->status();
    if (counter_.admit("V-SEEK")) {
      found_.push_back(finding(
          "V-SEEK", status.ok()
                        ? fmt::format("{} is not found through the index", key_text(cell))
                        : fmt::format("a search for {} fails: {}", key_text(cell), status.message())));
    }
    if (!status.ok()) finder_ = verifier_.reader_->cursor({.fill_cache = false});
  }

  Verifier& verifier_;  // except in take(), only its constant parts
  BloomChecks& all_blooms_;
  Status& failure_;
  const size_t first_;
  const size_t end_;
  const uint64_t disk_bytes_;
  std::unique_ptr<CellCursor> finder_;
  BloomChecks blooms_;
  Findings found_;
  FindingCounter counter_;
  Status status_;
};

void Verifier::check_deep() {
  BloomChecks blooms(parts());
  Status failure;
  {
    JobsInOrder jobs(options_.executor, kRangeBytesAhead);
    for (size_t first = 0, end = 0; first < index_.size() && !ended_; first = end) {
      uint64_t bytes = 0;
      do bytes += index_[end++].disk_bytes;
      while (end < index_.size() && bytes < kRangeBytes);
      jobs.add(std::make_unique<DeepRange>(*this, blooms, failure, first, end, bytes));
    }
    jobs.finish();
  }
  if (ended_ || !failure.ok()) return;  // earlier levels report it, and half a filter proves nothing
  if (blooms.general != nullptr) report_bloom(*blooms.general, true);
  if (blooms.deletes != nullptr) report_bloom(*blooms.deletes, false);
}

void Verifier::report_bloom(BloomCheck& check, bool general) {
  const Parts& file = parts();
  const char* const name = general ? "bloom filter" : "delete-family bloom filter";
  const BloomCheck::Outcome outcome = check.finish();
  const BloomFacts& facts = (general ? file.bloom : file.delete_bloom)->facts();
  if (!outcome.status.ok()) report("V-BLOOM", fmt::format("{}: {}", name, outcome.status.message()));
  if (outcome.bits_missing + outcome.keys_without_chunk > 0) {
    report("V-BLOOM-MISS",
           fmt::format("{} denies keys that are in the file: {} bits missing, {} keys before its first chunk",
                       name, outcome.bits_missing, outcome.keys_without_chunk));
  } else if (outcome.bits_too_many > 0) {
    report("W-BLOOM-BITS",
           fmt::format("{} has {} bits that no key of the file sets", name, outcome.bits_too_many));
  }
  if (outcome.keys != facts.keys) {
    report("W-BLOOM-COUNT",
           fmt::format("{} counts {} keys, the file has {}", name, facts.keys, outcome.keys));
  }
  if (general && outcome.keys > 0) check_last_bloom_key(check.last_key());
}

// HBase answers "absent" for all keys after LAST_BLOOM_KEY without a look at the filter.
void Verifier::check_last_bloom_key(const std::string& last) {
  const Parts& file = parts();
  if (file.bloom_type == nullptr || file.last_bloom_key.empty() || file.meta_order) return;
  CellView stored;
  CellView found;
  bool before = false;
  if (!file.bloom_type->flat_keys()) {
    before = file.last_bloom_key < last;
  } else if (!parse_flat_key(file.last_bloom_key.data(), file.last_bloom_key.size(), stored)) {
    report("V-INFO", "LAST_BLOOM_KEY is not a key");
    return;
  } else if (parse_flat_key(last.data(), last.size(), found)) {
    before = compare_keys(stored, found) < 0;
  }
  if (before)
    report("V-BLOOM-MISS", fmt::format("LAST_BLOOM_KEY {} is less than the last key {}",
                                       escaped(file.last_bloom_key), escaped(last)));
}

}  // namespace cellar
