// Goal: merge, walk and judges together answer as the model does, for any history of one family. Method:
// short random histories of writes, flushes, compactions and snapshots over few rows, columns and timestamps,
// so that everything collides. After every step, reads at open read points are compared with the brute-force
// model. Every rewrite is compared cell by cell. Sources are poisoned. A failing history is shrunk by leaving
// out cells, then printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/cell/pipeline.h"
#include "tests/cell_support/cursor_contract.h"

namespace cellar::testing {
namespace {

constexpr int64_t kNow = 20;

FamilyRules random_rules(Random& random) {
  FamilyRules rules;
  rules.max_versions = static_cast<uint32_t>(1 + random.below(3));
  if (random.one_in(3)) rules.min_versions = static_cast<uint32_t>(random.below(rules.max_versions + 1));
  if (random.one_in(2)) rules.ttl_ms = static_cast<int64_t>(5 + random.below(15));
  rules.keep_deleted_cells = static_cast<KeepDeleted>(random.one_in(2) ? random.below(3) : 0);
  if (random.one_in(3)) rules.delete_order = MarkerOrder::kSequence;
  return rules;
}

Cell random_cell(Random& random, bool only_wide_deletes) {
  constexpr CellType kTypes[] = {CellType::kDelete, CellType::kDeleteFamilyVersion, CellType::kDeleteColumn,
                                 CellType::kDeleteFamily};
  static const std::string qualifiers[] = {"", "p", "q"};
  const size_t first = only_wide_deletes ? 2 : 0;
  const CellType type = random.below(5) < 3 ? CellType::kPut : kTypes[first + random.below(4 - first)];
  Cell cell(random.one_in(4) ? "b" : "a", "f", covers_family(type) ? "" : qualifiers[random.below(3)],
            static_cast<int64_t>(1 + random.below(10) * 2), type, "");
  if (random.one_in(12)) cell.tags = ttl_tag(static_cast<int64_t>(random.below(10)));
  return cell;
}

ModelQuery random_query(Random& random, uint64_t read_point, int64_t now) {
  ModelQuery query;
  query.read_point = read_point;
  query.now_ms = now;
  query.versions = random.one_in(3) ? UINT32_MAX : static_cast<uint32_t>(1 + random.below(3));
  if (random.one_in(3)) query.time_from = static_cast<int64_t>(random.below(12));
  if (random.one_in(3)) query.time_until = query.time_from + static_cast<int64_t>(random.below(12));
  if (random.one_in(4)) query.raw = true;
  if (!query.raw && random.one_in(3)) {
    for (const std::string name : {"", "o", "p", "q", "z"})
      if (random.one_in(2)) query.columns.insert(name);
  }
  if (random.one_in(5)) query.start = "b";
  if (random.one_in(5)) query.stop = "b";
  return query;
}

ModelRewrite random_rewrite(Random& random, uint64_t last, int64_t now) {
  ModelRewrite how;
  how.now_ms = now;
  how.read_point = random.one_in(4) ? last - random.below(std::min<uint64_t>(last, 3)) : last;
  for (uint64_t point = 1; point < how.read_point; ++point)
    if (random.one_in(6)) how.snapshots.push_back(point);
  if (random.one_in(2)) how.snapshots.clear();
  if (random.one_in(4)) how.purge_deletes_ms = static_cast<int64_t>(random.below(15));
  if (random.one_in(4)) how.earliest_outside = static_cast<int64_t>(random.below(15));
  how.keep_versions = random.one_in(4);
  how.oldest_put_known = random.one_in(2);
  return how;
}

std::string print_sources(const std::vector<Cells>& sources) {
  std::string text;
  for (const Cells& source : sources) text += "source:\n" + print_cells(source);
  return text;
}

// The sources with as few cells as still make `fails` true.
template <class Fails>
std::vector<Cells> shrunk(std::vector<Cells> sources, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = 0; i < sources.size(); ++i)
      for (size_t k = 0; k < sources[i].size(); ++k) {
        std::vector<Cells> fewer = sources;
        fewer[i].erase(fewer[i].begin() + static_cast<ptrdiff_t>(k));
        if (!fails(fewer)) continue;
        sources = std::move(fewer);
        smaller = true;
        --k;
      }
  }
  std::erase_if(sources, [](const Cells& source) { return source.empty(); });
  return sources;
}

void check_read(const std::vector<Cells>& sources, const FamilyRules& rules, const ModelQuery& query,
                bool reversed) {
  const auto differs = [&](const std::vector<Cells>& some) {
    return read_through(some, rules, query, reversed) != read_by_model(some, rules, query, reversed);
  };
  if (!differs(sources)) return;
  const std::vector<Cells> small = shrunk(sources, differs);
  ADD_FAILURE() << "family " << print_rules(rules) << "\nread " << print_query(query)
                << (reversed ? " reversed" : "") << "\n"
                << print_sources(small) << "returns\n"
                << print_cells(read_through(small, rules, query, reversed)) << "the model says\n"
                << print_cells(read_by_model(small, rules, query, reversed));
}

void check_rewrite(const std::vector<Cells>& sources, const FamilyRules& rules, bool all_files,
                   ModelRewrite how) {
  how.zero_sequences = false;
  const auto differs = [&](const std::vector<Cells>& some) {
    return rewrite_through(some, rules, all_files, how).kept !=
           ModelStore::rewritten(some, rules, all_files, how);
  };
  if (!differs(sources)) return;
  const std::vector<Cells> small = shrunk(sources, differs);
  ADD_FAILURE() << "family " << print_rules(rules) << "\nrewrite " << print_rewrite(all_files, how) << "\n"
                << print_sources(small) << "keeps\n"
                << print_cells(rewrite_through(small, rules, all_files, how).kept) << "the model says\n"
                << print_cells(ModelStore::rewritten(small, rules, all_files, how));
}

// One history. `wide`: deletes of columns and families only, no cell lives shorter than others; rewrites then
// change no plain read, which is checked too.
class History {
 public:
  History(Random& random, bool wide) : random_(random), wide_(wide), store_(random_rules(random)) {}

  void run() {
    const size_t steps = 4 + random_.below(20);
    for (size_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      switch (random_.below(10)) {
        case 0:
          rewrite_memory();
          break;
        case 1:
          rewrite_runs();
          break;
        default:
          write();
      }
      if (random_.one_in(3)) now_ += static_cast<int64_t>(random_.below(4));
    }
    for (int i = 0; i < 4; ++i) read(1 + random_.below(sequence_ + 1));
    read(sequence_);
    read(UINT64_MAX);
  }

 private:
  void write() {
    Cells cells;
    for (uint64_t i = 1 + random_.below(3); i > 0; --i) {
      cells.push_back(random_cell(random_, wide_ && !by_sequence()));
      cells.back().value = std::to_string(++values_);
      if (is_delete(cells.back().type)) cells.back().value.clear();
      if (wide_) cells.back().tags.clear();
    }
    store_.write(cells, ++sequence_);
  }
  void read(uint64_t point) {
    check_read(store_.sources(), store_.rules(), random_query(random_, point, now_), random_.one_in(3));
  }
  void rewrite_memory() {
    if (sequence_ == 0) return;
    const ModelRewrite how = random_rewrite(random_, sequence_, now_);
    check_rewrite({store_.sources().front()}, store_.rules(), false, how);
    keeping_reads(how, [&] { store_.flush(how); });
  }
  void rewrite_runs() {
    const size_t runs = store_.runs().size();
    if (runs == 0) return;
    const size_t first = random_.below(runs);
    const size_t last = first + random_.below(runs - first);
    std::vector<size_t> places;
    std::vector<Cells> inputs;
    for (size_t i = first; i <= last; ++i) places.push_back(i);
    for (size_t i = last + 1; i-- > first;) inputs.push_back(store_.runs()[i]);
    const bool all_files = places.size() == runs && random_.one_in(2);
    ModelRewrite how = random_rewrite(random_, sequence_, now_);
    how.zero_sequences = random_.one_in(2);
    check_rewrite(inputs, store_.rules(), all_files, how);
    if (::testing::Test::HasFailure()) return;
    // Memory is no part of "all files". A marker that goes may have hidden a cell in memory.
    if (all_files && !by_sequence() && !store_.sources().front().empty())
      return store_.compact(places, all_files, how);
    keeping_reads(how, [&] { store_.compact(places, all_files, how); });
  }
  template <class Change>
  void keeping_reads(const ModelRewrite& how, const Change& change) {
    std::vector<uint64_t> points = how.snapshots;
    points.push_back(how.read_point);
    points.push_back(UINT64_MAX);
    std::vector<Cells> before;
    for (const uint64_t point : points) before.push_back(store_.read(plain(point)));
    const std::vector<Cells> sources = store_.sources();
    change();
    // Puts that are deleted but kept count as versions, and may push out one written after the delete.
    const bool kept_count = by_sequence() && store_.rules().keep_deleted_cells != KeepDeleted::kFalse;
    if (!wide_ || kept_count) return;
    for (size_t i = 0; i < points.size(); ++i)
      EXPECT_EQ(print_cells(without_sequences(before[i])),
                print_cells(without_sequences(store_.read(plain(points[i])))))
          << "at " << points[i] << " of family " << print_rules(store_.rules()) << " after rewrite "
          << print_rewrite(false, how) << "\n"
          << print_sources(sources);
  }
  ModelQuery plain(uint64_t point) const {
    ModelQuery query;
    query.read_point = point;
    query.versions = UINT32_MAX;
    query.now_ms = now_;
    return query;
  }
  static Cells without_sequences(Cells cells) {
    for (Cell& cell : cells) cell.sequence = 0;
    return cells;
  }
  bool by_sequence() const { return store_.rules().delete_order == MarkerOrder::kSequence; }

  Random& random_;
  bool wide_;
  ModelStore store_;
  uint64_t sequence_ = 0;
  uint64_t values_ = 0;
  int64_t now_ = kNow;
};

void run_histories(uint64_t seed, bool wide) {
  const uint64_t histories = scaled(12000);
  for (uint64_t i = 0; i < histories && !::testing::Test::HasFailure(); ++i) {
    Random random(seed + i);
    SCOPED_TRACE("CELLAR_SEED=" + std::to_string(seed + i));
    History(random, wide).run();
  }
}

TEST(Differential, AnyHistoryReadsAndRewritesAsTheModel) { run_histories(test_seed(1), false); }

// Deletes of exact versions may bring back cells that a rewrite has dropped, and so may cells with their own
// time to live. Without them, no rewrite changes a plain read at an open read point.
TEST(Differential, RewritesKeepWhatOpenReadPointsSee) { run_histories(test_seed(100000), true); }

}  // namespace
}  // namespace cellar::testing
