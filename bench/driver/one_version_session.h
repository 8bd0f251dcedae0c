// One-version sessions: HBase's data model as far as engines go that have flat keys and keep one version of
// a cell. LevelDB and LMDB share them.
//
// Timestamps are stored before the values.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/driver/flat_key.h"
#include "bench/driver/flat_store.h"
#include "bench/driver/peer.h"

namespace cellar::bench {

// An engine's own calls, for one thread. The calls of a read lie between begin_read and end_read. A value
// that was found lives until the next call. `write` writes all puts and deletes since the last one.
// `locked` runs a function, and nobody else changes the row meanwhile.
template <class Access>
concept OneVersionAccess = requires(Access access, size_t family, std::string_view bytes,
                                    std::string_view& found, Keep keep) {
  { std::as_const(access).families() } -> std::same_as<const std::vector<std::string>&>;
  access.begin_read();
  access.end_read();
  access.cursor(family).seek(bytes);
  { access.find(family, bytes, found) } -> std::same_as<bool>;
  access.put(family, bytes, bytes);
  access.erase(family, bytes);
  access.write(keep);
  access.locked(bytes, [] {});
};

constexpr size_t kStampBytes = 8;  // of the timestamp before a value

// Returns the part of a stored value after its timestamp.
inline std::string_view value_of(std::string_view stored) { return stored.substr(kStampBytes); }

inline int64_t stamp_of(std::string_view stored) {
  int64_t timestamp;
  std::memcpy(&timestamp, stored.data(), sizeof timestamp);
  return timestamp;
}

// Merges the rows of some families in order.
template <OneVersionAccess Access>
class RowMerge {
 public:
  RowMerge(const ScanIn& in, Access& access) : in_(in), ends_(in) {
    const std::vector<std::string>& families = access.families();
    for (size_t i = 0; i < families.size(); ++i) {
      const bool wanted =
          in.families.empty() || std::ranges::find(in.families, families[i]) != in.families.end();
      if (!wanted) continue;
      sources_.push_back(access.cursor(i));
      place(sources_.back());
    }
  }

  void run(Tally& tally) {
    for (uint64_t rows = 0; in_.limit == 0 || rows < in_.limit;) {
      if (!choose_row()) break;
      uint64_t found = 0;
      for (Cursor& at : sources_) found += take_row(at, tally);
      if (found == 0) continue;
      ++rows;
      ++tally.rows;
    }
    for (const Cursor& at : sources_) at.check();
  }

 private:
  using Cursor = decltype(std::declval<Access&>().cursor(0));

  void place(Cursor& at) const {
    if (!in_.reversed) {
      ends_.lower.empty() ? at.seek_first() : at.seek(ends_.lower);
      return;
    }
    if (ends_.upper.empty()) return at.seek_last();
    at.seek(ends_.upper);
    at.valid() ? at.prev() : at.seek_last();
  }

  bool inside(const Cursor& at) const {
    if (!at.valid()) return false;
    const std::string_view key = at.key();
    return in_.reversed ? key >= ends_.lower : ends_.upper.empty() || key < ends_.upper;
  }

  // The next row of all families; false at the end.
  bool choose_row() {
    bool any = false;
    for (const Cursor& at : sources_) {
      if (!inside(at)) continue;
      const std::string_view key = at.key();
      const std::string_view row = key.substr(0, part_end(key, 0));
      if (!any || (in_.reversed ? row > row_ : row < row_)) row_ = row;
      any = true;
    }
    return any;
  }

  // The cells of the chosen row in one family.
  uint64_t take_row(Cursor& at, Tally& tally) {
    uint64_t found = 0;
    for (; at.valid() && at.key().starts_with(row_); in_.reversed ? at.prev() : at.next()) {
      const std::string_view stored = at.value();
      const int64_t timestamp = stamp_of(stored);
      if (timestamp < in_.from || timestamp >= in_.until) continue;
      const std::string_view key = at.key();
      const std::string_view row = plain_part(key.substr(0, row_.size()), plain_row_);
      if (in_.filter != nullptr && !in_.filter(row, value_of(stored))) continue;
      tally.add(row, plain_part(key.substr(row_.size()), plain_qualifier_), value_of(stored));
      ++found;
    }
    return found;
  }

  const ScanIn& in_;
  const ScanEnds ends_;
  std::string row_;
  std::string plain_row_;
  std::string plain_qualifier_;
  std::vector<Cursor> sources_;
};

template <OneVersionAccess Access>
class OneVersionSession : public Session {
 public:
  explicit OneVersionSession(Access access) : access_(std::move(access)) {}

  void put(const RowIn& row, Keep keep, int64_t timestamp) override {
    add(row, timestamp == kClock ? clock_ms() : timestamp);
    access_.write(keep);
  }

  void put_rows(std::span<const RowIn> rows, Keep keep, int64_t timestamp) override {
    if (timestamp == kClock) timestamp = clock_ms();
    for (const RowIn& row : rows) add(row, timestamp);
    access_.write(keep);
  }

  void erase_row(const RowIn& row, Keep keep) override {
    for (const CellIn& cell : row.cells) {
      set_key(row.row, cell.qualifier);
      access_.erase(index(cell.family), key_);
    }
    access_.write(keep);
  }

  bool get(std::string_view row, std::string_view family, std::string_view qualifier, Tally& tally) override {
    access_.begin_read();
    set_key(row, qualifier);
    std::string_view stored;
    const bool found = access_.find(index(family), key_, stored);
    if (found) {
      tally.add(row, qualifier, value_of(stored));
      ++tally.rows;
    }
    access_.end_read();
    return found;
  }

  bool get_row(std::string_view row, std::string_view family, Tally& tally) override {
    access_.begin_read();
    key_.clear();
    append_part(key_, row);
    uint64_t found = 0;
    {
      auto at = access_.cursor(index(family));
      for (at.seek(key_); at.valid() && at.key().starts_with(key_); at.next(), ++found) {
        const std::string_view qualifier = plain_part(at.key().substr(key_.size()), plain_qualifier_);
        tally.add(row, qualifier, value_of(at.value()));
      }
      at.check();
    }
    access_.end_read();
    tally.rows += found != 0 ? 1 : 0;
    return found != 0;
  }

  void scan(const ScanIn& in, Tally& tally) override {
    access_.begin_read();
    RowMerge(in, access_).run(tally);
    access_.end_read();
  }

  int64_t increment(std::string_view row, std::string_view family, std::string_view qualifier, int64_t amount,
                    Keep keep) override {
    int64_t sum = 0;
    access_.locked(row, [&] {
      set_key(row, qualifier);
      std::string_view stored;
      CounterBytes counter;
      if (access_.find(index(family), key_, stored)) counter.load(value_of(stored));
      sum = counter.add(amount);
      const CellIn cell{family, qualifier, counter.bytes()};
      put({row, {&cell, 1}}, keep, kClock);
    });
    return sum;
  }

 private:
  size_t index(std::string_view family) const {
    const std::vector<std::string>& families = access_.families();
    for (size_t i = 0; i < families.size(); ++i) {
      if (families[i] == family) return i;
    }
    give_up("no family " + std::string(family));
  }

  void set_key(std::string_view row, std::string_view qualifier) {
    key_.clear();
    append_part(key_, row);
    append_part(key_, qualifier);
  }

  void add(const RowIn& row, int64_t timestamp) {
    for (const CellIn& cell : row.cells) {
      set_key(row.row, cell.qualifier);
      value_.assign(reinterpret_cast<const char*>(&timestamp), sizeof timestamp).append(cell.value);
      access_.put(index(cell.family), key_, value_);
    }
  }

  Access access_;
  std::string key_;
  std::string value_;
  std::string plain_qualifier_;
};

}  // namespace cellar::bench
