// verify, level deep: each key found again through index and filters, the filters rebuilt.
#include <fmt/format.h>

#include <bit>

#include "base/bytes.h"
#include "bloom/bloom_bits.h"
#include "cell/cell_key.h"
#include "hfile/verifier.h"

namespace cellar {

namespace {}  // namespace

// What keys go into a filter, and its bits made anew from them.
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
  BloomCheck(const BloomReader* bloom, const BloomType* type)
      : bloom_(bloom), type_(type), bits_(bloom->chunks()) {}

  void add(const CellView& cell) {
    const std::string_view key = key_of(cell);
    if (outcome_.keys > 0 && key == last_) return;
    last_.assign(key);
    outcome_.keys += 1;
    const int64_t i = bloom_->chunk_of(key);
    if (i < 0) {
      outcome_.keys_without_chunk += 1;
      return;
    }
    std::string& bits = bits_[static_cast<size_t>(i)];
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

  Outcome finish() {
    for (uint32_t i = 0; i < bloom_->chunks(); ++i) {
      const Result<std::string_view> stored = bloom_->chunk(i, nullptr);
      if (!stored.ok()) {
        outcome_.status = stored.status();
        continue;
      }
      for (size_t at = 0; at < stored->size(); ++at) {
        const auto theirs = static_cast<uint8_t>((*stored)[at]);
        const auto ours = static_cast<uint8_t>(bits_[i].empty() ? 0 : bits_[i][at]);
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
  std::vector<std::string> bits_;
  std::string last_;
  std::string key_;
  Outcome outcome_;
};

bool Verifier::check_seek(CellCursor& finder, const CellView& cell) {
  const CellView* found = finder.seek(cell);
  if (found != nullptr && FileOrder(parts().meta_order)(*found, cell) == 0) return true;
  add("V-SEEK", finder.status().ok()
                    ? fmt::format("{} is not found through the index", key_text(cell))
                    : fmt::format("a search for {} fails: {}", key_text(cell), finder.status().message()));
  return false;
}

void Verifier::check_deep() {
  const Parts& file = parts();
  std::unique_ptr<BloomCheck> general;
  std::unique_ptr<BloomCheck> deletes;
  if (file.bloom != nullptr && file.bloom_type != nullptr) {
    general = std::make_unique<BloomCheck>(file.bloom.get(), file.bloom_type.get());
  }
  if (file.delete_bloom != nullptr) deletes = std::make_unique<BloomCheck>(file.delete_bloom.get(), nullptr);
  const std::unique_ptr<CellCursor> walk = reader_->cursor({.fill_cache = false, .sequential = true});
  std::unique_ptr<CellCursor> finder = reader_->cursor({.fill_cache = false});
  OwnedCell start;
  first_of_row(start, reader_->first_row());
  for (const CellView* cell = walk->seek(start.view()); cell != nullptr; cell = walk->next()) {
    if (!check_seek(*finder, *cell) && !finder->status().ok())
      finder = reader_->cursor({.fill_cache = false});
    if (general != nullptr) general->add(*cell);
    if (deletes != nullptr && covers_family(cell->cell_type)) deletes->add(*cell);
  }
  if (!walk->status().ok()) return;  // said by the levels before, and half a filter proves nothing
  if (general != nullptr) report_bloom(*general, true);
  if (deletes != nullptr) report_bloom(*deletes, false);
}

void Verifier::report_bloom(BloomCheck& check, bool general) {
  const Parts& file = parts();
  const char* const name = general ? "bloom filter" : "delete-family bloom filter";
  const BloomCheck::Outcome outcome = check.finish();
  const BloomFacts& facts = (general ? file.bloom : file.delete_bloom)->facts();
  if (!outcome.status.ok()) add("V-BLOOM", fmt::format("{}: {}", name, outcome.status.message()));
  if (outcome.bits_missing + outcome.keys_without_chunk > 0) {
    add("V-BLOOM-MISS",
        fmt::format("{} denies keys that are in the file: {} bits missing, {} keys before its first chunk",
                    name, outcome.bits_missing, outcome.keys_without_chunk));
  } else if (outcome.bits_too_many > 0) {
    add("W-BLOOM-BITS",
        fmt::format("{} has {} bits that no key of the file sets", name, outcome.bits_too_many));
  }
  if (outcome.keys != facts.keys) {
    add("W-BLOOM-COUNT", fmt::format("{} counts {} keys, there are {}", name, facts.keys, outcome.keys));
  }
  const bool raw_keys = file.bloom_type != nullptr && !file.bloom_type->flat_keys();
  if (general && raw_keys && !file.last_bloom_key.empty() && check.last_key() > file.last_bloom_key) {
    add("V-BLOOM-MISS", fmt::format("LAST_BLOOM_KEY {} lies before the last key {}",
                                    escaped(file.last_bloom_key), escaped(check.last_key())));
  }
}

}  // namespace cellar
