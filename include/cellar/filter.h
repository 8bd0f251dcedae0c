// Filter and Comparator: which rows and cells a Get or Scan returns, decided inside the store; and their text
// language.
//
//   Scan().filter(all_of({prefix_filter("user"), value_filter(CompareOp::kEqual, substring("mail"))}))
//   CELLAR_TRY_ASSIGN(const FilterPtr filter, parse_filter("PrefixFilter('user') AND PageFilter(10)"));
//
// Names, answers and quirks are HBase's (org.apache.hadoop.hbase.filter). A filter given to a read is a
// prototype: each read works with a clone of its own, so that one filter, or one Scan that holds it, may
// serve many reads and threads.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/cell.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// What a filter says of one cell. "Row" means the cell's row within the cell's family: the same row may be
// asked about again in the next family.
enum class FilterCode : uint8_t {
  kInclude,
  kIncludeAndNextColumn,  // but none of the older versions
  kIncludeAndNextRow,     // but nothing else of the row
  kSkip,
  kNextColumn,
  kNextRow,
  kSeekHint,  // not this one, nor any before seek_hint()
};
// Whether the cell is part of the result.
constexpr bool includes(FilterCode code) { return code <= FilterCode::kIncludeAndNextRow; }

// Filter: user code may derive from it. Of a read, calls come in this order: set_reversed, then for each row
// reset, all_done, drop_row_key, for each visible cell all_done, cell and (included) transform, then
// edit_row and drop_row. One thread at a time; clone() and to_text() of a prototype by any number.
class Filter {
 public:
  virtual ~Filter();
  // The same filter in the state before its first row.
  virtual std::unique_ptr<Filter> clone() const = 0;
  // As parse_filter reads it; of filters that the language does not know, text for people.
  virtual std::string to_text() const = 0;

  // Whether rows come in descending order; told before the first row.
  virtual void set_reversed(bool reversed) { reversed_ = reversed; }
  // A new row begins.
  virtual void reset() {}
  // Nothing more will pass: the read ends (after the row that is being read, if it passes).
  virtual bool all_done() { return false; }
  // Whether the row is out, judged by its first stored cell, which may be a deleted one.
  virtual bool drop_row_key(const CellView&) { return all_done(); }
  // Asked for the cells that a read without filter would see if it wanted all the versions that are kept.
  virtual FilterCode cell(const CellView& cell) = 0;
  // After kSeekHint: where to go on, in the direction of the read, from the cell last asked about; see
  // row_hint and column_hint. Nothing, or what does not lead on: the next cell.
  virtual std::optional<Cell> seek_hint(const CellView&) { return std::nullopt; }
  // Changes an included cell. Bytes it points to must live until the next call.
  virtual void transform(CellView&) {}
  // Whether edit_row and drop_row must see whole rows: such a filter cannot be used with Scan::batch.
  virtual bool needs_whole_row() const { return false; }
  // Removes cells of the row, or changes them: bytes must live until the next call.
  virtual void edit_row(std::vector<CellView>&) {}
  // Whether the row, of which cells are left, is out. With Scan::batch only the row's last part is.
  virtual bool drop_row() { return false; }
  // Whether the answer for a row depends on which rows, or how many, came before it, as a page's does (that
  // rows come in order does not count): such a filter must see all of them, and SaltedScan refuses it.
  virtual bool depends_on_other_rows() const { return true; }
  // Families that say nothing about whether a row passes need be read only for rows that do.
  virtual bool is_family_essential(std::string_view) const { return true; }

 protected:
  Filter() = default;
  Filter(const Filter&) = default;
  Filter& operator=(const Filter&) = default;
  bool reversed() const { return reversed_; }

 private:
  bool reversed_ = false;
};
using FilterPtr = std::shared_ptr<const Filter>;

// Hints: the first cell of that row (reversed: that row or the one before it), of that column, and the first
// of the column that is not younger.
Cell row_hint(std::string_view row);
Cell column_hint(const CellView& in_row, std::string_view qualifier);
Cell version_hint(const CellView& in_column, int64_t timestamp);

// ---- Comparators ----

enum class CompareOp : uint8_t { kLess, kLessOrEqual, kEqual, kNotEqual, kGreaterOrEqual, kGreater, kNoOp };
// "<", "<=", "=", "!=", ">=", ">", "no_op". As in HBase, no_op lets nothing pass.
std::string_view op_text(CompareOp op);

// Comparator: stored bytes against given ones. Any number of threads.
class Comparator {
 public:
  virtual ~Comparator();
  // How `stored` compares with what was given; unordered when the two cannot be equal and no order is
  // defined: only kNotEqual passes then.
  virtual std::partial_ordering compare(std::string_view stored) const = 0;
  // "binary:abc", as the language has it.
  virtual std::string to_text() const = 0;
};
using ComparatorPtr = std::shared_ptr<const Comparator>;

// Whether `a op b` holds where a <=> b is `order`; kNoOp: never. And whether `stored op given` does, which is
// what HBase's filters ask.
bool holds(CompareOp op, std::partial_ordering order);
bool passes(CompareOp op, const Comparator& given, std::string_view stored);

ComparatorPtr binary(std::string_view bytes);
// The first bytes of what is stored, as many as are given.
ComparatorPtr binary_prefix(std::string_view bytes);
// As many bytes as are given, from `offset` on.
ComparatorPtr binary_component(std::string_view bytes, uint32_t offset);
// 8 bytes big-endian, as a number (Bytes.toBytes(long)).
ComparatorPtr long_number(int64_t number);
// A decimal number such as "-12.50" or "1e3" against HBase's Bytes.toBytes(BigDecimal): 4 bytes scale, then
// the unscaled value. Stored ones of more than 4 KiB equal none. kInvalidArgument when `number` is none.
Result<ComparatorPtr> big_decimal(std::string_view number);
// Equal to nothing: a stored value is never null.
ComparatorPtr null_value();
enum class BitOp : uint8_t { kAnd, kOr, kXor };
// Equal when sizes are and the combination has a bit set.
ComparatorPtr bits(std::string_view bytes, BitOp op);
// RE2's syntax over UTF-8, found anywhere, the dot takes newlines too; bytes that are not UTF-8 count as
// U+FFFD, as in HBase. kInvalidArgument when the expression is none.
enum class RegexCase : uint8_t { kRespect, kIgnore };
Result<ComparatorPtr> regex(std::string_view expression, RegexCase letters = RegexCase::kRespect);
// Contains it, upper and lower case taken as the same: all of Unicode's if the text is UTF-8 beyond ASCII,
// else ASCII's.
ComparatorPtr substring(std::string_view text);

// ---- Rows ----

FilterPtr row_filter(CompareOp op, ComparatorPtr comparator);
// Ends the read once past the prefix. It does not seek there: Scan::prefix does.
FilterPtr prefix_filter(std::string_view prefix);
FilterPtr inclusive_stop_filter(std::string_view row);
// The first `rows` rows that reach it and pass.
FilterPtr page_filter(uint64_t rows);
// Each row with this probability, by the seeded numbers of one read.
FilterPtr random_row_filter(double chance, uint64_t seed);
// `mask`: '\0' where the byte must be the key's, '\1' where any will do; as long as the key. Longer rows are
// compared on their first bytes, shorter ones as far as they go. Seeks from match to match.
// kInvalidArgument for no keys, other masks, other sizes.
struct FuzzyKey {
  std::string key;
  std::string mask;
};
Result<FilterPtr> fuzzy_row_filter(std::vector<FuzzyKey> keys);
// Rows in any of the ranges; seeks from range to range. Empty start and stop are open. kInvalidArgument for
// no ranges, or one that starts after it stops.
struct FilterRowRange {
  std::string start;
  bool start_inclusive = true;
  std::string stop;
  bool stop_inclusive = false;
};
Result<FilterPtr> multi_row_range_filter(std::vector<FilterRowRange> ranges);
Result<FilterPtr> multi_row_prefix_filter(const std::vector<std::string>& prefixes);

// ---- Columns ----

FilterPtr family_filter(CompareOp op, ComparatorPtr comparator);
FilterPtr qualifier_filter(CompareOp op, ComparatorPtr comparator);
FilterPtr column_prefix_filter(std::string_view prefix);
FilterPtr multiple_column_prefix_filter(std::vector<std::string> prefixes);
// An empty `min` or `max` is open.
FilterPtr column_range_filter(std::string_view min, bool min_inclusive, std::string_view max,
                              bool max_inclusive);
// The first `columns` columns of a row, newest version only; meant for gets: it ends a scan at the first row
// that has more.
FilterPtr column_count_get_filter(uint32_t columns);
FilterPtr column_pagination_filter(uint32_t columns, uint32_t skipped);
// … from the column `first` on.
FilterPtr column_pagination_filter(uint32_t columns, std::string_view first);
FilterPtr first_key_only_filter();
// The cells of a row up to the first of one of these columns.
FilterPtr first_key_value_matching_qualifiers_filter(std::vector<std::string> qualifiers);

// ---- Cells ----

FilterPtr value_filter(CompareOp op, ComparatorPtr comparator);
// Only that column, and only where its value passes.
FilterPtr column_value_filter(std::string_view family, std::string_view qualifier, CompareOp op,
                              ComparatorPtr comparator);
enum class HintVersions : bool { kNo, kYes };
// kYes seeks from timestamp to timestamp where nothing that is read holds delete markers. Versions passed
// over do not use up the versions that the family keeps: surplus ones may show until they are dropped.
FilterPtr timestamps_filter(std::vector<int64_t> timestamps, HintVersions hint = HintVersions::kNo);
// Empties values, or replaces each by its size (4 bytes big-endian).
enum class KeyOnlyValue : bool { kEmpty, kSize };
FilterPtr key_only_filter(KeyOnlyValue value = KeyOnlyValue::kEmpty);

struct SingleColumnRule {
  bool filter_if_missing = false;   // rows without the column are out
  bool latest_version_only = true;  // else any version may pass
};
// Whole rows whose column passes. The column must be among those that are read.
FilterPtr single_column_value_filter(std::string_view family, std::string_view qualifier, CompareOp op,
                                     ComparatorPtr comparator, SingleColumnRule rule = {});
// … without that column.
FilterPtr single_column_value_exclude_filter(std::string_view family, std::string_view qualifier,
                                             CompareOp op, ComparatorPtr comparator,
                                             SingleColumnRule rule = {});
// Cells of the timestamps that the column's cells have: those that pass, or without comparator all.
enum class DependentColumn : bool { kKeep, kDrop };
FilterPtr dependent_column_filter(std::string_view family, std::string_view qualifier,
                                  DependentColumn column = DependentColumn::kKeep,
                                  CompareOp op = CompareOp::kNoOp, ComparatorPtr comparator = nullptr);

// ---- Combinations ----

// Members are asked in order, and no further once one excludes the cell: behind a PageFilter stands what it
// does not count. Empty lists pass everything.
FilterPtr all_of(const std::vector<FilterPtr>& members);
FilterPtr any_of(const std::vector<FilterPtr>& members);
// Rows of which the filter says "include" to every cell; "include and go on elsewhere" is not that.
FilterPtr skip_filter(const FilterPtr& filter);
// Ends the read at the first row or cell that is out.
FilterPtr while_match_filter(const FilterPtr& filter);

// ---- The language ----

constexpr size_t kFilterTextBytesMax = 64u << 10;
constexpr size_t kFilterDepthMax = 32;

// "PrefixFilter('user') AND (SKIP ValueFilter(=, 'binary:') OR PageFilter(10))"; see docs/filters.md.
// kInvalidArgument saying where and what.
Result<FilterPtr> parse_filter(std::string_view text);

// One argument of a filter in the language: 'bytes' are quoted; numbers, true, false and operators are words.
struct FilterArgument {
  std::string text;
  bool quoted = false;
};
// Makes a filter of a name's arguments; what is wrong with them as kInvalidArgument.
using FilterMaker = std::function<Result<FilterPtr>(std::span<const FilterArgument>)>;
// Adds a name to the language, or replaces it. First thing in a program: not while another thread parses.
void add_filter_name(std::string name, FilterMaker maker);
// What the language knows, sorted.
std::vector<std::string> filter_names();

}  // namespace cellar
