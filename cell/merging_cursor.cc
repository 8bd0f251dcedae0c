// MergingCursor: keeps the smallest entry (the lead) outside a small heap of the rest. When the lead is
// no longer the smallest, it is swapped with the root, which is then sifted once.
//
// This shape was chosen among four by measurement (200,000 cells, ns per cell). With one large source and
// fifteen small ones: 31, against 39 for a plain binary heap and 40 for a loser tree. With each cell from
// a random one of sixteen sources: 100, against 88 and 87. Real stores look like the first case.
//
// Cells that alternate between the sources are handed over in merged spans. With eight sources a cell then
// takes 29 ns instead of 52, and with sixteen 33 instead of 89 (bench/micro_merge.cc).
#include "cell/merging_cursor.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/recycled.h"
#include "cell/cell_order.h"
#include "cell/cell_room.h"

namespace cellar {
namespace {

// EmptyCursor: a cursor without cells.
class EmptyCursor final : public CellCursor {
 public:
  const CellView* seek(const CellView&) override { return nullptr; }
  const CellView* next() override { return nullptr; }
  Status status() const override { return {}; }
  const Pinnable* pinned() const override { return nullptr; }
  void print(TextPrinter& out) const override { out.line("empty"); }
};

struct Forward {
  // Returns a number of the row after the bytes that all rows share. Rows with different numbers have the
  // order of their numbers.
  [[gnu::always_inline]] static uint64_t word(const CellView& cell, size_t shared) {
    return row_word_of(cell, shared);
  }
  static std::strong_ordering compare(const CellView& a, const CellView& b) { return compare_cells(a, b); }
  [[gnu::always_inline]] static std::strong_ordering compare_stored(const CellView& a, const CellView& b) {
    return cellar::compare_stored(a, b);
  }
};

// RowsBackward: rows in descending order, the cells of a row in their normal order.
struct RowsBackward {
  [[gnu::always_inline]] static uint64_t word(const CellView& cell, size_t shared) {
    return ~row_word_of(cell, shared);
  }
  static std::strong_ordering compare(const CellView& a, const CellView& b) {
    const std::strong_ordering rows = b.row() <=> a.row();
    return rows != 0 ? rows : compare_cells(a, b);
  }
  [[gnu::always_inline]] static std::strong_ordering compare_stored(const CellView& a, const CellView& b) {
    if (!same_sizes(a, b)) return compare(a, b);
    const uint32_t at = first_difference(a, b);
    if (at < a.row_size + 2u) return static_cast<uint8_t>(b.key[at]) <=> static_cast<uint8_t>(a.key[at]);
    return compare_cells(a, b);
  }
};

// PinGroup: one pin for the cells of several sources.
class PinGroup final : public Pinnable, public Recycled<PinGroup> {
 public:
  void add(const Pinnable* held) { pins_.emplace_back(held); }
  const Pinnable* held(size_t at) const { return pins_[at].get(); }

 private:
  std::vector<Pin, RecycledAllocator<Pin>> pins_;
};

// GroupPin: a pin of a group, or of nothing.
class GroupPin {
 public:
  GroupPin() = default;
  explicit GroupPin(const PinGroup* group) : pin_(group) {}
  const PinGroup* get() const { return static_cast<const PinGroup*>(pin_.get()); }

 private:
  Pin pin_;
};

// Source: a source of the merge, and a span of its cells. The merge compares the first cell of the span.
struct Source {
  std::unique_ptr<CellCursor> cursor;
  uint32_t age = 0;
  const CellView* at = nullptr;
  const CellView* end = nullptr;

  const CellView* hold(std::span<const CellView> span) {
    at = span.data();
    end = at + span.size();
    return span.empty() ? nullptr : at;
  }
  const CellView* hold(const CellView* cell) {
    return hold(cell != nullptr ? std::span(cell, 1) : std::span<const CellView>());
  }
  const CellView* next() { return ++at != end ? at : hold(cursor->next_span()); }
};

// MergingCursor: `Order` is the order of the cells in the sources.
template <class Order>
class MergingCursor final : public CellCursor, public Recycled<MergingCursor<Order>> {
 public:
  explicit MergingCursor(std::span<MergeSource> sources) {
    CELLAR_ASSERT(sources.size() > 1);
    sources_.reserve(sources.size());
    rest_.reserve(sources.size());
    for (MergeSource& each : sources) {
      CELLAR_ASSERT(each.cursor != nullptr);
      sources_.push_back({std::move(each.cursor), each.age});
    }
  }

  const CellView* seek(const CellView& target) override {
    if (!status_.ok()) return nullptr;
    lead_ = {};
    rest_.clear();
    is_merged_ = false;
    for (Source& source : sources_) {
      const CellView* cell = source.hold(source.cursor->seek(target));
      if (cell != nullptr) {
        rest_.push_back({.cell = cell, .source = &source});
      } else if (Status status = source.cursor->status(); !status.ok()) {
        return fail(status);
      }
    }
    std::ranges::make_heap(rest_, [](const Entry& a, const Entry& b) { return Cells::before(b, a); });
    return promote();
  }

  const CellView* next() override {
    if (lead_.source == nullptr) return nullptr;
    is_merged_ = false;
    lead_.cell = lead_.source->next();
    return settle();
  }

  // Gives the cells of the lead's span that come before the cells of all other sources. If they are few,
  // merges the cells of all sources that are at hand.
  std::span<const CellView> next_span() override {
    const CellView* const first = next();
    if (first == nullptr) return {};
    Source& source = *lead_.source;
    const CellView* const last = rest_.empty() ? source.end - 1 : last_before_rest(source);
    if (last + 1 != source.end && last - first < kFew) return merged_span();
    lead_.cell = source.at = last;
    return {first, last + 1};
  }

  const CellView* skip_to(const CellView& target) override {
    if (lead_.source == nullptr) return nullptr;
    is_merged_ = false;
    // Sources before the target skip to it: the lead first, then each source that comes to the root.
    const CellView* cell = nullptr;
    do {
      lead_.cell = skip_to(*lead_.source, target);
      cell = settle();
    } while (cell != nullptr && Order::compare(*cell, target) < 0);
    return cell;
  }

  Status status() const override { return status_; }
  const Pinnable* pinned() const override {
    if (is_merged_) return groups_[room_].get();
    return lead_.source != nullptr ? lead_.source->cursor->pinned() : nullptr;
  }
  const Pinnable* take_cell() override {
    if (is_merged_) return groups_[room_].get();
    return lead_.source != nullptr ? lead_.source->cursor->take_cell() : nullptr;
  }

  void print(TextPrinter& out) const override {
    out.line("merge of " + std::to_string(sources_.size()));
    out.indent();
    for (const Source& source : sources_) source.cursor->print(out);
    out.outdent();
  }

 private:
  static constexpr ptrdiff_t kFew = 8;          // so many cells at least are worth a span without a copy
  static constexpr uint32_t kMergedCells = 64;  // of a merged span at most

  struct Entry {
    const CellView* cell = nullptr;
    Source* source = nullptr;
    uint64_t word = 0;  // of the row of the cell, while a span is merged
  };

  // Compares two entries by their cells. Equal cells occur when sequences have been zeroed, or in bulk-loaded
  // files: the younger source wins.
  struct Cells {
    static bool before(const Entry& a, const Entry& b) {
      const auto order = Order::compare_stored(*a.cell, *b.cell);
      return order != 0 ? order < 0 : a.source->age < b.source->age;
    }
  };
  // The same with the words of the rows, most of which differ.
  struct Words {
    [[gnu::always_inline]] static bool before(const Entry& a, const Entry& b) {
      return a.word != b.word ? a.word < b.word : Cells::before(a, b);
    }
  };

  // Returns the last cell of the source's span that comes before all other sources. The source is the lead,
  // so its first cell does.
  const CellView* last_before_rest(const Source& source) const {
    const CellView& bound = *rest_.front().cell;
    const auto is_before = [&](const CellView& cell) { return Order::compare_stored(cell, bound) < 0; };
    const CellView* at = source.at + 1;
    // Sources that alternate do so after a few cells.
    for (int steps = 0; steps < 4; ++steps, ++at)
      if (at == source.end || !is_before(*at)) return at - 1;
    if (is_before(source.end[-1])) return source.end - 1;
    return std::partition_point(at, source.end, is_before) - 1;
  }

  // Merges cells until a source has no more of them at hand. No cursor moves. The lead stands on the first
  // cell.
  std::span<const CellView> merged_span() {
    CELLAR_DCHECK(!rest_.empty() && lead_.source->at + 1 != lead_.source->end);
    const size_t shared = shared_bytes();
    for (Entry& entry : rest_) entry.word = Order::word(*entry.cell, shared);
    CellView* const cells = rooms_[room_ ^= 1].of(kMergedCells);
    uint32_t count = 0;
    while (true) {
      Source& source = *lead_.source;
      cells[count++] = *lead_.cell;
      if (count == kMergedCells || source.at + 1 == source.end) break;
      lead_.cell = ++source.at;
      lead_.word = Order::word(*lead_.cell, shared);
      if (!Words::before(rest_.front(), lead_)) continue;
      std::swap(lead_, rest_.front());
      sift_down<Words>();
    }
    CELLAR_DCHECK(count > 1 && !Cells::before(rest_.front(), lead_));
    group_pins();
    is_merged_ = true;
    return {cells, count};
  }

  // Returns the number of bytes with which the rows of all cells at hand begin.
  size_t shared_bytes() const {
    const std::string_view first = lead_.cell->row();
    size_t shared = first.size();
    for (const Source& source : sources_)
      if (source.at != source.end) shared = common_prefix(first.substr(0, shared), source.end[-1].row());
    return shared;
  }

  // Makes the group of this span hold what the sources hold now. The group of the span before stays.
  void group_pins() {
    const PinGroup* const before = groups_[room_ ^ 1].get();
    if (before != nullptr && holds_all(*before)) {
      if (groups_[room_].get() != before) groups_[room_] = groups_[room_ ^ 1];
      return;
    }
    auto* const group = new PinGroup;
    for (const Source& source : sources_) group->add(source.cursor->pinned());
    groups_[room_] = GroupPin(group);
  }
  bool holds_all(const PinGroup& group) const {
    for (size_t i = 0; i < sources_.size(); ++i)
      if (group.held(i) != sources_[i].cursor->pinned()) return false;
    return true;
  }

  // Moves the source to its first cell at or after the target, which may lie in its span.
  static const CellView* skip_to(Source& source, const CellView& target) {
    const auto is_before = [&](const CellView& cell) { return Order::compare(cell, target) < 0; };
    if (source.at + 1 == source.end || is_before(source.end[-1]))
      return source.hold(source.cursor->skip_to(target));
    return source.at = std::partition_point(source.at + 1, source.end, is_before);
  }

  const CellView* fail(const Status& status) {
    CELLAR_ASSERT(!status.ok() && status_.ok());  // the first failure stays
    status_ = status;
    lead_ = {};
    rest_.clear();
    return nullptr;
  }

  // Restores the order after the lead has moved: puts the smallest entry in the lead.
  const CellView* settle() {
    CELLAR_DCHECK(lead_.source != nullptr && rest_.size() < sources_.size());
    if (lead_.cell == nullptr) {
      if (Status status = lead_.source->cursor->status(); !status.ok()) return fail(status);
      return promote();
    }
    if (!rest_.empty() && Cells::before(rest_.front(), lead_)) {
      std::swap(lead_, rest_.front());
      sift_down<Cells>();
    }
    CELLAR_DCHECK(rest_.empty() || !Cells::before(rest_.front(), lead_));
    return lead_.cell;
  }

  // Makes the root the lead, after the lead was exhausted.
  const CellView* promote() {
    CELLAR_DCHECK(lead_.cell == nullptr && rest_.size() <= sources_.size());
    if (rest_.empty()) {
      lead_ = {};
      return nullptr;
    }
    lead_ = rest_.front();
    rest_.front() = rest_.back();
    rest_.pop_back();
    if (!rest_.empty()) sift_down<Cells>();
    CELLAR_DCHECK(rest_.empty() || !Cells::before(rest_.front(), lead_));
    return lead_.cell;
  }

  template <class By>
  void sift_down() {
    CELLAR_DCHECK(!rest_.empty());
    const Entry moved = rest_.front();
    size_t hole = 0;
    while (true) {
      size_t child = 2 * hole + 1;
      if (child >= rest_.size()) break;
      if (child + 1 < rest_.size() && By::before(rest_[child + 1], rest_[child])) ++child;
      if (!By::before(rest_[child], moved)) break;
      rest_[hole] = rest_[child];
      hole = child;
    }
    rest_[hole] = moved;
    CELLAR_DCHECK(
        std::ranges::is_heap(rest_, [](const Entry& a, const Entry& b) { return Cells::before(b, a); }));
  }

  std::vector<Source, RecycledAllocator<Source>> sources_;
  Entry lead_;
  std::vector<Entry, RecycledAllocator<Entry>> rest_;  // min-heap
  CellRoom rooms_[2];                                  // of the last two merged spans
  GroupPin groups_[2];                                 // the same
  size_t room_ = 0;                                    // of the last merged span
  bool is_merged_ = false;                             // True after a move that gave a merged span
  Status status_;
};

template <class Order>
std::unique_ptr<CellCursor> merge(std::vector<MergeSource>& sources) {
  std::unique_ptr<CellCursor> merged;
  if (sources.empty()) {
    merged = std::make_unique<EmptyCursor>();
  } else if (sources.size() == 1) {
    merged = std::move(sources.front().cursor);
  } else {
    merged = std::make_unique<MergingCursor<Order>>(sources);
  }
  sources.clear();
  CELLAR_ASSERT(merged != nullptr);
  return merged;
}

}  // namespace

std::unique_ptr<CellCursor> make_merging_cursor(std::vector<MergeSource>&& sources) {
  return merge<Forward>(sources);
}

std::unique_ptr<CellCursor> make_backward_merging_cursor(std::vector<MergeSource>&& sources) {
  return merge<RowsBackward>(sources);
}

}  // namespace cellar
