// HFileCursor<Decoder>: the hot loop of reads from files. Each encoding instantiates it with its own decoder.
//
// A Decoder is a value that walks one block's payload:
//   - static constexpr BlockKind kBlockKind;          the kind of its data blocks
//   - Decoder(const CellFormat&, std::optional<uint64_t> sequence_override);
//   - const char* open(std::string_view payload);     stands before the first cell; what is wrong, or null
//   - using Slot;                                     a CellView, with the memory a cell is decoded into
//   - DecodeStep next(Slot&);                         the next cell, checked; not into the slot of the last
//   - size_t position(); void rewind();               how far it is; back to the first cell
//   - const char* fault();                            what the last kBad means
//   - static constexpr bool kPlain;                   whether base() + position holds a cell's plain form
//   - static constexpr bool kGrows;                   whether it needs no more than the block's beginning
// If kGrows:
//   - void extend(const char* end);                   the payload that open() got goes on up to `end`
// If kPlain:
//   - void move_to(size_t);                           goes to a position given out earlier
//   - size_t next_known(CellView*, size_t, size_t);   as many cells up to a position, all checked by next()
//                                                     before
//   - size_t near(target, order);                     place of some cell < target, or 0
// If not:
//   - bool can_restart();                             whether it can start between cells, from a note
//   - void append_restart(std::string&);              makes the note of its place: sizes and key of the last
//                                                     cell in plain form, then what the decoder needs
//   - bool restart(const char* note, size_t from);    goes there, unless the place is at or before `from`
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/recycled.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "cell/cell_room.h"
#include "hfile/block/file_parts.h"
#include "hfile/block/walk_blocks.h"
#include "hfile/encoding/cell_index_builder.h"
#include "hfile/encoding/plain_cells.h"
#include "hfile/encoding/row_cutter.h"
#include "hfile/encoding/three_slots.h"
#include "hfile/format/comparator.h"
#include "hfile/format/row_words.h"

namespace cellar {

// One thread at a time. Holds its file, its block, and the block of the cell before (the two-step rule).
template <class Decoder>
class HFileCursor final : public RunCursor, public Recycled<HFileCursor<Decoder>> {
 public:
  HFileCursor(std::shared_ptr<const FileParts> file, const FileCursorOptions& options)
      : file_(std::move(file)),
        parts_(*file_),
        options_(options),
        order_(parts_.meta_order),
        index_(parts_.index.get()),
        decoder_(parts_.format, parts_.options.sequence_override) {
    spans_.cells_max = std::min(options_.span_cells, kSpanCellsMax);
  }

  const CellView* seek(const CellView& target) override {
    if (!status_.ok()) return nullptr;
    if (!within_block(target)) {
      if (!moved(index_.seek(target, IndexSearch::kUpTo, options_.stats))) return nullptr;
      if (!index_.valid() && !moved(index_.to_first(options_.stats))) return nullptr;
      if (!index_.valid()) return end();
    }
    walk_.begin_anew();
    if (!load(options_.row_keeper)) return nullptr;
    if (options_.row_keeper != nullptr && keep_row(*options_.row_keeper)) [[unlikely]]
      return end();
    if (start_near(target, 0, Near::kAt) && target.sequence == kLatestSequence) {
      // No cell before this one is at or after the target, and this one is: no comparison is left.
      const DecodeStep step = take();
      return step == DecodeStep::kCell ? stand(last_) : nullptr;
    }
    return settle(target);
  }

  const CellView* next() override {
    if (!standing_) return nullptr;
    if (const int at = take_back(); at != kNone) return stand(at);
    const int to = (current_ + 1) % 3;
    switch (decoder_.next(views_[to])) {
      case DecodeStep::kCell:
        break;
      case DecodeStep::kEnd:
        return cross();
      case DecodeStep::kBad:
        return bad_cell();
    }
    if (open_.checking && !in_order(views_[current_], views_[to])) return nullptr;
    return stand(to);
  }

  // Decodes cells of this block in one loop. next() moves over the border of the block and meets its faults.
  std::span<const CellView> next_span() override {
    if constexpr (Decoder::kPlain) {
      if (standing_ && spans_.cells_max != 0) {
        CellView* const cells = span_room(spans_.cells_max);
        if (const size_t count = decode_span(cells); count > 0) {
          const int to = (current_ + 1) % 3;
          views_[to] = cells[count - 1];
          stand(to);
          return {cells, count};
        }
      }
    }
    return RunCursor::next_span();
  }

  std::span<const CellView> widen_span(std::span<const CellView> end) override {
    if constexpr (Decoder::kPlain) {
      if (!standing_ || spans_.cells_max == 0 || end.size() >= 2 * kSpanCellsMax) return {};
      CellView* const cells = span_room(static_cast<uint32_t>(end.size()) + spans_.cells_max);
      std::ranges::copy(end, cells);
      if (const size_t count = decode_span(cells + end.size()); count > 0) {
        const int to = (current_ + 1) % 3;
        views_[to] = cells[end.size() + count - 1];
        stand(to);
        return {cells, end.size() + count};
      }
      return spans_.last ^= 1, std::span<const CellView>();  // the room holds nothing
    } else {
      return RunCursor::widen_span(end);
    }
  }

  const CellView* skip_to(const CellView& target) override {
    if (!standing_) return nullptr;
    spans_.cells_max = std::min(spans_.cells_max, kSpanCellsAfterSkip);
    if (beyond_block(target)) {
      if (!moved(index_.seek_forward(target, options_.stats))) return nullptr;
      if (!load()) return nullptr;
      start_near(target, 0, Near::kAt);
      return settle(target);
    }
    for (int i = 0, steps = steps_before_search(); i < steps; ++i) {
      const DecodeStep step = take();
      if (step == DecodeStep::kBad) return nullptr;
      if (step == DecodeStep::kEnd) return cross_to(target);
      if (order_(views_[last_], target) >= 0) return stand(last_);
    }
    start_near(target, decoder_.position(), Near::kAt);
    return settle(target);
  }

  const CellView* seek_before(const CellView& target) override {
    if (!status_.ok()) return nullptr;
    if (!within_block(target) && !seek_index_before(target)) return nullptr;
    walk_.begin_anew();
    while (index_.valid()) {
      if (!load()) return nullptr;
      const int found = last_before(target);
      if (!status_.ok()) return nullptr;
      if (found >= 0) return stand(found);
      if (!moved(index_.previous(options_.stats))) return nullptr;
    }
    return end();
  }

  // Decodes the cells of this block from an entry of its index on.
  std::span<const CellView> span_before(const CellView& target) override {
    if constexpr (Decoder::kPlain) {
      if (!status_.ok() || spans_.cells_max == 0 || order_.meta_order()) return {};
      if (!within_block(target) && !seek_index_before(target)) return {};
      walk_.begin_anew();
      if (!index_.valid() || !load()) return {};
      return decode_before(target);
    } else {
      return RunCursor::span_before(target);
    }
  }

  Status status() const override { return status_; }
  const Pinnable* pinned() const override { return open_.pin.get(); }
  const Pinnable* take_cell() override { return open_.pin.get(); }
  Pin take_last_cell() override {
    standing_ = false;
    return std::move(open_.pin);
  }

  void print(TextPrinter& out) const override {
    const std::string where = !status_.ok() ? status_.to_text()
                              : !standing_  ? "nowhere"
                                            : "block at " + std::to_string(open_.offset);
    out.line("file " + parts_.options.name + ": " + where);
  }

 private:
  static constexpr int kNone = -1;
  static constexpr uint32_t kSpanCellsMax = 32;
  static constexpr uint32_t kSpanCellsAfterSkip = 4;  // who skips may skip again
  static constexpr uint32_t kCellBytesMin = 21;       // 8 bytes of sizes and a key of 13 bytes

  // The block that the index points to, and what is known of it.
  struct OpenBlock {
    Pin pin;
    uint64_t offset = 0;
    bool trusted = false;       // its order was checked before
    bool checking = true;       // compare the next cell with the one before it
    bool whole = false;         // every cell of it up to here was walked
    bool guessed = false;       // the decoder was moved to a place that the file names
    bool warm = false;          // it is searched not for the first time: a cell index pays
    bool from_disk = false;     // it was read by this cursor, not found in the cache
    bool held = false;          // the cursor had it from the disk, now or before
    bool returned = false;      // the last cell handed out lies in it
    Block* read = nullptr;      // the block that was read, until it is admitted
    Block* left_out = nullptr;  // the block, while it is open whether it enters the cache
  };
  // The cells of the last two spans: the last cell of the span before outlives one move.
  struct Spans {
    uint32_t cells_max = 0;  // of the next one
    int last = 0;
    CellRoom rooms[2];
  };
  // The index key of the block after it.
  struct NextBlock {
    bool known = false;  // whether the index was asked
    bool exists = false;
    CellView key;
  };

  const Block* block() const { return static_cast<const Block*>(open_.pin.get()); }
  std::strong_ordering compare(const CellView& a, const CellView& b) const {
    return order_.meta_order() ? compare_meta_keys(a, b) : compare_keys(a, b);
  }

  // Most hops are short; a search costs about as much as these.
  int steps_before_search() const { return block()->cell_index() != nullptr ? 3 : 8; }

  // Returns true if target is between the first cell of this block and the current one, so that a search
  // needs no other block. Returns false if the answer is not cheap. Backward walks use it to go from row to
  // row.
  bool within_block(const CellView& target) const {
    if (!standing_ || !open_.pin || order_.meta_order()) return false;
    const CellIndex* const cells = block()->cell_index();
    if (cells == nullptr || cells->size() == 0) return false;
    return row_at(key_base(*cells)) < target.row() && order_(target, views_[current_]) <= 0;
  }

  // Returns true if target is at or after the next block's key: no cell of this block can be the result.
  bool beyond_block(const CellView& target) {
    if (!next_block_.known) {
      next_block_.exists = index_.next_key(next_block_.key);
      next_block_.known = true;
    }
    if (!next_block_.exists) return false;
    const std::strong_ordering order = compare(next_block_.key, target);
    return order < 0 || (order == 0 && !index_.loose_keys());
  }

  // A cell was found in views_[at]: it is the current one.
  const CellView* stand(int at) {
    current_ = last_ = at;
    standing_ = true;
    open_.returned = true;
    return &views_[at];
  }
  const CellView* end() {
    standing_ = false;
    return nullptr;
  }
  const CellView* fail(Status status) {
    status_ = parts_.options.name.empty() ? std::move(status) : status.with_context(parts_.options.name);
    standing_ = false;
    return nullptr;
  }
  bool moved(Status status) {
    if (status.ok()) return true;
    fail(std::move(status));
    return false;
  }
  const CellView* bad_cell() { return bad_cell(decoder_); }
  const CellView* bad_cell(const Decoder& decoder) {
    return fail(parts_.blocks->corruption(
        open_.offset,
        std::string(decoder.fault()) + ", " + std::to_string(decoder.position()) + " bytes into the block"));
  }

  [[gnu::always_inline]] bool are_in_order(const CellView& before, const CellView& after) const {
    return (!order_.meta_order() && plainly_before(before, after)) || are_in_full_order(before, after);
  }
  [[gnu::noinline]] bool are_in_full_order(const CellView& before, const CellView& after) const {
    return order_(before, after) <= 0;
  }
  bool in_order(const CellView& before, const CellView& after) {
    if (are_in_order(before, after)) {
      open_.checking = !open_.trusted;
      return true;
    }
    fail(parts_.blocks->corruption(
        open_.offset, "cells out of order: " + key_text(after) + " comes after " + key_text(before)));
    return false;
  }

  CellView* span_room(uint32_t cells) { return spans_.rooms[spans_.last ^= 1].of(cells); }

  // Decodes the cells after the current one in this block, up to a fault or the largest span. Returns their
  // number. Long walks get longer spans.
  size_t decode_span(CellView* cells) {
    const size_t cells_max = spans_.cells_max;
    spans_.cells_max = std::min(2 * spans_.cells_max, kSpanCellsMax);
    if (!open_.checking && !open_.guessed) return decoder_.next_known(cells, cells_max, decoder_.size());
    const auto in_order = [this](const CellView& a, const CellView& b) { return are_in_order(a, b); };
    const size_t count = decoder_.next_checked(cells, cells_max, views_[current_], in_order);
    if (count > 0) open_.checking = !open_.trusted;
    return count;
  }

  // Decodes the cells of the block up to the target, from an earlier entry of its index on. Stands on the
  // last of them. Returns nothing if there is no index, no such cell, or an error.
  std::span<const CellView> decode_before(const CellView& target) {
    const CellIndex* index = block()->cell_index();
    if (index == nullptr) index = build_cell_index();
    if (index == nullptr || !status_.ok() || !open_.trusted) return {};
    const size_t entry = entry_at(*index, target);
    if (entry == 0) return {};
    const auto stride = static_cast<uint32_t>(block()->index_stride_bytes());
    const uint32_t wanted =
        std::max(spans_.cells_max * static_cast<uint32_t>(CellIndex::kStrideBytes) / stride, 1u);
    const uint32_t entries = static_cast<uint32_t>(std::min<size_t>(entry, wanted));
    spans_.cells_max = std::min(2 * spans_.cells_max, kSpanCellsMax);
    const size_t until = entry < index->size() ? index->offset(entry) : decoder_.size();
    const uint32_t cells_max = index->dense() ? entries : entries * (stride / kCellBytesMin + 1);
    CellView* const cells = span_room(cells_max);
    open_.guessed = false;
    const size_t begin = index->offset(entry - entries);
    if constexpr (Decoder::kPlain) decoder_.fetch_before(begin, 2 * (until - begin));  // spans grow
    decoder_.move_to(begin);
    open_.whole = false;
    size_t count = decoder_.next_known(cells, cells_max, until);
    if (decoder_.position() < until) return {};  // not reached: the entries have fewer cells
    while (count > 0 && order_(cells[count - 1], target) >= 0) --count;
    if (count == 0) return {};
    decoder_.move_to(static_cast<size_t>(cells[count - 1].key - 8 - decoder_.base()));
    if (decoder_.next(views_[(current_ + 1) % 3]) != DecodeStep::kCell) return {};
    stand((current_ + 1) % 3);
    return {cells, count};
  }

  // The cell that was decoded and is not taken yet.
  int take_back() {
    if constexpr (Decoder::kPlain) return kNone;
    return std::exchange(ahead_of_time_, kNone);
  }

  // Decodes the next cell of the block into a view that is neither the current cell's nor the last one's.
  DecodeStep take() {
    if (const int at = take_back(); at != kNone) {
      last_ = at;
      return DecodeStep::kCell;
    }
    const int to = last_ == kNone || last_ == current_ ? (current_ + 1) % 3 : 3 - current_ - last_;
    const DecodeStep step = decoder_.next(views_[to]);
    if (step == DecodeStep::kCell) {
      if (open_.checking && last_ != kNone && !in_order(views_[last_], views_[to])) return DecodeStep::kBad;
      last_ = to;
    } else if (step == DecodeStep::kBad) {
      bad_cell();
    }
    return step;
  }

  // The first cell at or after target from here on, over block borders.
  const CellView* settle(const CellView& target) {
    while (status_.ok()) {
      const DecodeStep step = take();
      if (step == DecodeStep::kBad) return nullptr;
      if (step == DecodeStep::kEnd) {
        if (!to_next_block()) return nullptr;
        continue;
      }
      if (order_(views_[last_], target) >= 0) return stand(last_);
    }
    return nullptr;
  }

  const CellView* cross() {
    while (true) {
      if (!to_next_block()) return nullptr;
      const DecodeStep step = take();
      if (step == DecodeStep::kBad) return nullptr;
      if (step == DecodeStep::kCell) return stand(last_);
    }
  }
  const CellView* cross_to(const CellView& target) { return to_next_block() ? settle(target) : nullptr; }

  // The block is walked to its end; the next one begins. False at the end of the file or after an error.
  bool to_next_block() {
    if (open_.whole && !open_.trusted) block()->set_in_order();
    if (!moved(index_.next(options_.stats))) return false;
    if (!index_.valid()) {
      end();
      return false;
    }
    walk_.cross_border();
    const int last = last_;
    if (last != kNone && !open_.returned) {  // nothing else keeps these bytes
      border_key_.assign(views_[last].key, views_[last].key_size);
      views_[last].key = border_key_.data();
    }
    if (!load()) return false;
    last_ = last;           // else the pin on the block before keeps them
    open_.checking = true;  // across the border too
    return true;
  }

  // Makes the index's block the current one, standing before its first cell. Returns false after an error, or
  // if the keeper, which may be null, has got its slice at once.
  bool load(RowKeeper* keeper = nullptr) {
    const uint64_t offset = index_.offset();
    const bool same = open_.pin && offset == open_.offset;
    if (!same) {
      Pin kept = walk_.leave(open_.pin, open_.offset, open_.held, offset);
      if (open_.returned) previous_ = std::move(open_.pin);
      open_.pin.reset();
      open_.returned = false;
      open_.offset = offset;
      if (!fetch(std::move(kept), keeper)) return false;
    } else {
      open_.warm = true;
    }
    if (const char* fault = decoder_.open(block()->payload()); fault != nullptr) {
      return moved(parts_.blocks->corruption(offset, fault));
    }
    ahead_of_time_ = kNone;
    open_.trusted = block()->in_order();
    open_.checking = !open_.trusted;
    open_.guessed = false;
    open_.whole = true;
    last_ = kNone;
    next_block_.known = false;
    return same || !open_.from_disk || (first_cell_is_bounded() && admit());
  }

  // The block that was kept, or that of the cache, or of the file.
  bool fetch(Pin kept, RowKeeper* keeper) {
    BlockCache* const cache = parts_.options.cache.get();
    open_.from_disk = false;
    open_.warm = open_.held = static_cast<bool>(kept);
    open_.pin = std::move(kept);
    if (open_.pin) return true;
    if (cache != nullptr) {
      index_.hint().fetch();
      open_.pin = cache->lookup(index_.slot());
      if (open_.pin) {
        open_.warm = !options_.sequential;
        walk_.note_hit(parts_, options_, index_);
        if (ReadStats* const stats = options_.stats) ++stats->blocks_from_cache, ++stats->data_blocks;
        return true;
      }
    }
    open_.from_disk = open_.held = true;
    Result<Block*> read = read_block(keeper);
    if (!read.ok()) return moved(read.status());
    if (options_.stats != nullptr) options_.stats->data_blocks += 1;
    if (*read == nullptr) return end() != nullptr;
    if ((*read)->kind() != Decoder::kBlockKind) {
      const Pin unwanted(*read);
      return moved(parts_.blocks->corruption(index_.offset(), "not a data block of the file's encoding"));
    }
    // A mapped block is expected to stay: its first search makes the index, while its bytes are in the
    // processor's cache.
    open_.warm = (*read)->is_borrowed() && cache != nullptr && options_.fill_cache && !options_.sequential;
    open_.read = *read;
    open_.pin = Pin(*read);
    return true;
  }

  [[gnu::noinline]] Result<Block*> read_block(RowKeeper* keeper) {
    if constexpr (Decoder::kGrows) {
      const auto in_order = [this](const CellView& a, const CellView& b) { return are_in_order(a, b); };
      if (keeper != nullptr && parts_.blocks->works_in_steps())
        return read_for_row(parts_, index_, options_.stats, decoder_, in_order, *keeper);
    }
    return walk_.read(parts_, options_, index_);
  }

  // The block was read and lies at its place. Only now it may enter the cache, whose blocks readers trust.
  bool admit() {
    BlockCache* const cache = parts_.options.cache.get();
    Block* const read = std::exchange(open_.read, nullptr);
    CELLAR_DCHECK(read != nullptr && read == block());
    if (cache == nullptr) return true;
    read->set_id(index_.block_id());
    if (RowKeeper* keeper = options_.row_keeper; keeper && keeper->leaves_out(index_.slot(), *read)) {
      open_.left_out = read;
    } else if (options_.fill_cache) {
      open_.pin = cache->insert(index_.slot(), read);
    } else {
      cache->pass_by(*read);
    }
    if (block() == read) return true;
    // Another thread was faster, and this cursor reads that thread's block.
    const char* const fault = decoder_.open(block()->payload());
    open_.trusted = block()->in_order();
    open_.checking = !open_.trusted;
    return fault == nullptr || moved(parts_.blocks->corruption(open_.offset, fault));
  }

  // Keeps a slice of the wanted row, if the row lies in this block and a slice is worth its room. Returns
  // whether it does. If not, the decoder stands before the block's first cell.
  bool keep_row(RowKeeper& keeper) {
    Block* const left_out = std::exchange(open_.left_out, nullptr);
    const bool wanted =
        keeper.take_turn() && (left_out != nullptr || (!open_.from_disk && keeper.was_read_again(*block())));
    const bool kept = wanted && cut_row(keeper);
    if (left_out != nullptr) keeper.settle(index_.slot(), left_out);
    return kept;
  }
  bool cut_row(RowKeeper& keeper) {
    thread_local OwnedCell first;
    first_of_row(first, keeper.row());
    if (!keeper.begins_in(index_, first.view())) return false;
    start_near(first.view(), 0, Near::kAt);
    if (!status_.ok()) return false;
    keeper.begin(*block());
    const auto in_order = [this](const CellView& a, const CellView& b) { return are_in_order(a, b); };
    auto& views = views_;
    const auto no_more = [] { return false; };
    if (add_row(decoder_, views[(current_ + 1) % 3], views[(current_ + 2) % 3], index_, in_order, keeper,
                no_more) &&
        keeper.finish(parts_.options.in_memory))
      return true;
    decoder_.rewind();
    last_ = kNone;
    open_.whole = true;
    return false;
  }

  bool first_cell_is_bounded() {
    typename Decoder::Slot first;
    const DecodeStep step = decoder_.next(first);
    if (step == DecodeStep::kBad) return bad_cell() != nullptr;
    decoder_.rewind();
    if (step == DecodeStep::kEnd) return true;
    const Status placed = index_.check_first(first);
    return placed.ok() || moved(parts_.blocks->corruption(open_.offset, std::string(placed.message())));
  }

  enum class Near : uint8_t {
    kAt,      // at the first cell at or after the target, or before it
    kBefore,  // before it, if there is a cell before
  };

  // Moves the decoder near the target, or leaves it: never past the first cell at or after target, never
  // before `from`. Returns true if it stands before the first cell whose key is not less than the target's.
  bool start_near(const CellView& target, size_t from, Near near) {
    const CellIndex* cells = block()->cell_index();
    if (cells == nullptr && open_.warm) cells = build_cell_index();
    if (!status_.ok()) return false;
    if (cells != nullptr) index_.hint().remember(cells);
    bool exact = false;
    if constexpr (Decoder::kPlain) {
      size_t at = 0;
      if (cells == nullptr) {
        at = decoder_.near(target, order_);
      } else {
        const size_t entry = entry_at(*cells, target);
        exact = near == Near::kAt && cells->dense() && entry < cells->size();
        if (exact) {
          at = cells->offset(entry);
        } else if (entry > 0) {
          at = cells->offset(entry - 1);
        }
      }
      if (at <= from) return exact && at == from;
      decoder_.move_to(at);
      if (options_.span_cells > 1) decoder_.fetch_here();
      open_.guessed = cells == nullptr;
    } else {
      if (cells == nullptr) return false;
      // A note leads to the position after its cell.
      const size_t skipped = near == Near::kAt ? 1 : 2;
      const size_t entry = entry_at(*cells, target);
      if (entry < skipped) return false;
      if (!decoder_.restart(key_base(*cells) + cells->offset(entry - skipped), from)) return false;
    }
    last_ = kNone;
    open_.whole = false;
    return exact;
  }

  // The index's first entry at or after the target, or its size.
  size_t entry_at(const CellIndex& cells, const CellView& target) const {
    if (cells.size() == 0) return 0;
    const char* const keys = key_base(cells);
    auto [low, high] = cells.narrow(target, keys);
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      // Without the sequence: a search then starts a little earlier, never too late.
      if (order_(plain_key_at(keys + cells.offset(middle)), target) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // Where the offsets of an index lead: sizes and a key, in plain form.
  const char* key_base(const CellIndex& cells) const {
    if constexpr (Decoder::kPlain) {
      return decoder_.base();
    } else {
      return cells.records().data();
    }
  }
  static std::string_view row_at(const char* cell) {
    const char* const key = cell + 8;
    return {key + 2, load_be16(key)};
  }

  // Walks the whole block once, checking what no walk has checked before. Returns null where no index is
  // possible, or after an error.
  const CellIndex* build_cell_index() {
    CellIndexBuilder<Decoder> builder(parts_, *block());
    const CellIndex* const built = builder.build(
        decoder_, open_.trusted,
        [this](const CellView& before, const CellView& after) { return in_order(before, after); });
    if (builder.is_bad()) bad_cell(builder.walker());
    if (builder.is_walked()) open_.trusted = true;
    return built;
  }

  // Moves the index to the last block that can hold a cell before target. Returns false after an error, or if
  // no block can.
  bool seek_index_before(const CellView& target) {
    if (!parts_.index->root().row_only_keys()) {
      // Index keys have no sequence: cells of the target's own key with higher ones come before it.
      const bool first_of_key = target.sequence == kLatestSequence;
      return moved(
          index_.seek(target, first_of_key ? IndexSearch::kBefore : IndexSearch::kWidest, options_.stats));
    }
    OwnedCell row_end;  // such keys say only in which row a block begins
    last_of_row(row_end, target.row());
    return moved(index_.seek(row_end.view(), IndexSearch::kWidest, options_.stats));
  }

  // Returns the view of the block's last cell before target, and leaves the decoder after it. Returns kNone
  // after an error, or if no cell is before it.
  int last_before(const CellView& target) {
    start_near(target, 0, Near::kBefore);
    if (!status_.ok()) return kNone;
    int found = kNone;
    while (true) {
      const size_t position = decoder_.position();
      const DecodeStep step = take();
      if (step == DecodeStep::kBad) return kNone;
      if (step == DecodeStep::kEnd) return found;
      if (order_(views_[last_], target) >= 0) {
        give_back(position);
        return found;
      }
      found = last_;
    }
  }

  // The cell decoded last, from `position`, is to come once more.
  void give_back(size_t position) {
    if constexpr (Decoder::kPlain) {
      decoder_.move_to(position);
      open_.whole = false;
    } else {
      ahead_of_time_ = last_;
    }
  }

  std::shared_ptr<const FileParts> file_;
  const FileParts& parts_;
  FileCursorOptions options_;
  FileOrder order_;
  IndexCursor index_;
  Decoder decoder_;
  ThreeSlots<typename Decoder::Slot> views_;  // the current cell's, and two to step with
  int ahead_of_time_ = kNone;                 // decoded after the current cell, and not taken yet
  int current_ = 0;
  int last_ = kNone;  // the cell decoded last, if the walk to here was unbroken
  bool standing_ = false;
  OpenBlock open_;
  NextBlock next_block_;
  Spans spans_;
  Pin previous_;  // the block of the cell before, if that is another one
  std::string border_key_;
  WalkBlocks walk_;
  Status status_;
};

}  // namespace cellar
