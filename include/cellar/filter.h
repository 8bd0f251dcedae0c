// Filter and Comparator: which rows and cells a Get or Scan returns, decided inside the store; and their text
// language.
//
//   Scan().filter(all_of({prefix_filter("user"), value_filter(CompareOp::kEqual, substring("mail"))}))
//   CELLAR_TRY_ASSIGN(const FilterPtr filter, parse_filter("PrefixFilter('user') AND PageFilter(10)"));
//
// Names, answers and quirks are HBase's (org.apache.hadoop.hbase.filter). A filter given to a read is a
// prototype: each read works with a clone of its own. So one filter, or one Scan that holds it, may serve
// many reads and threads.
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
#include "cellar/keys.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

// FilterCode: the answer of a filter for one cell. "Row" means the cell's row within the cell's family: the
// filter may be asked about the same row again in the next family.
enum class FilterCode : uint8_t {
  kInclude,
  kIncludeAndNextColumn,  // includes the cell, and none of the older versions
  kIncludeAndNextRow,     // includes the cell, and nothing else of the row
  kSkip,
  kNextColumn,
  kNextRow,
  kSeekHint,  // not this one, nor any before seek_hint()
};
// Returns whether the cell is part of the result.
constexpr bool includes(FilterCode code) { return code <= FilterCode::kIncludeAndNextRow; }

// Filter: user code may derive from it. A read first calls set_reversed. For each row it calls, in this
// order, reset, all_done, drop_row_key; for each visible cell all_done, cell, and transform if the cell is
// included. The row ends with edit_row and drop_row. One thread at a time, except that any thread may call
// clone() and to_text() of a prototype.
class Filter {
 public:
  virtual ~Filter();
  // Returns the same filter in the state before its first row.
  virtual std::unique_ptr<Filter> clone() const = 0;
  // Returns text that parse_filter reads; for filters that the language does not know, text for people.
  virtual std::string to_text() const = 0;

  // Tells whether rows come in descending order, before the first row.
  virtual void set_reversed(bool reversed) { reversed_ = reversed; }
  // A new row begins.
  virtual void reset() {}
  // Returns whether nothing more will pass. The read then ends, after the current row if that passes.
  virtual bool all_done() { return false; }
  // Returns whether the row is excluded, by its first stored cell, which may be a deleted one.
  virtual bool drop_row_key(const CellView&) { return all_done(); }
  // Decides about one cell. Called for the cells that a read of all kept versions without a filter would
  // return.
  virtual FilterCode cell(const CellView& cell) = 0;
  // Returns, after kSeekHint, the cell at which to go on, in the direction of the read: see row_hint and
  // column_hint. If it returns nothing, or a cell that is not ahead, the read goes on with the next cell.
  virtual std::optional<Cell> seek_hint(const CellView&) { return std::nullopt; }
  // Changes an included cell. The bytes that it points to must live until the next call.
  virtual void transform(CellView&) {}
  // Returns whether edit_row and drop_row must see whole rows. Such a filter cannot be used with Scan::batch.
  virtual bool needs_whole_row() const { return false; }
  // Removes or changes cells of the row. The bytes must live until the next call.
  virtual void edit_row(std::vector<CellView>&) {}
  // Returns whether the row is excluded, after edit_row has left cells of it. With Scan::batch this excludes
  // only its last part.
  virtual bool drop_row() { return false; }
  // Returns whether the answer for a row depends on which rows, or how many, came before it, as that of
  // PageFilter does. The order alone does not count. Such a filter must see all rows, and scan_salted()
  // refuses it.
  virtual bool depends_on_other_rows() const { return true; }
  // Returns whether the family decides if a row passes. Other families are read only for rows that pass.
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

// Returns a hint for Filter::seek_hint: the first cell of the row (reversed: or of the row before it).
Cell row_hint(std::string_view row);
// Returns the hint of the first cell of the column.
Cell column_hint(const CellView& in_row, std::string_view qualifier);
// Returns the hint of the first cell of the column that is not newer than the timestamp.
Cell version_hint(const CellView& in_column, int64_t timestamp);

// ---- Comparators ----

enum class CompareOp : uint8_t { kLess, kLessOrEqual, kEqual, kNotEqual, kGreaterOrEqual, kGreater, kNoOp };
// Returns "<", "<=", "=", "!=", ">=", ">" or "no_op". As in HBase, nothing passes no_op.
std::string_view op_text(CompareOp op);

// Comparator: compares stored bytes with given ones. Any thread.
class Comparator {
 public:
  virtual ~Comparator();
  // Returns how `stored` compares with the given bytes. Unordered means that the two differ and have no
  // order: then only kNotEqual passes.
  virtual std::partial_ordering compare(std::string_view stored) const = 0;
  // Returns its text in the language: "binary:abc".
  virtual std::string to_text() const = 0;
};
using ComparatorPtr = std::shared_ptr<const Comparator>;

// Returns true if `a op b` holds, given that a <=> b is `order`. kNoOp never holds.
bool holds(CompareOp op, std::partial_ordering order);
// Returns true if `stored op given` holds, as HBase's filters decide.
bool passes(CompareOp op, const Comparator& given, std::string_view stored);

// Compares all bytes. HBase: BinaryComparator.
ComparatorPtr binary(std::string_view bytes);
// Compares the first stored bytes, as many as are given. HBase: BinaryPrefixComparator.
ComparatorPtr binary_prefix(std::string_view bytes);
// Compares as many stored bytes as are given, from `offset` on. HBase: BinaryComponentComparator.
ComparatorPtr binary_component(std::string_view bytes, uint32_t offset);
// Compares 8 stored bytes, big-endian, as a number. HBase: LongComparator.
ComparatorPtr long_number(int64_t number);
// Compares a stored Bytes.toBytes(BigDecimal), 4 bytes of scale and the unscaled value, with a decimal number
// such as "-12.50" or "1e3". Stored numbers of more than 4 KiB equal no number. kInvalidArgument if `number`
// is not a decimal number.
Result<ComparatorPtr> big_decimal(std::string_view number);
// Equals nothing, because a stored value is never null. HBase: NullComparator.
ComparatorPtr null_value();
// Equal if the sizes are equal and stored & bytes, stored | bytes or stored ^ bytes has a bit set. HBase:
// BitComparator.
ComparatorPtr bits_and(std::string_view bytes);
ComparatorPtr bits_or(std::string_view bytes);
ComparatorPtr bits_xor(std::string_view bytes);
// Equals bytes in which the regular expression is found anywhere. RE2's syntax over UTF-8; the dot matches
// newlines too. Bytes that are not UTF-8 count as U+FFFD, as in HBase. kInvalidArgument if the expression is
// invalid.
Result<ComparatorPtr> regex(std::string_view expression);
Result<ComparatorPtr> regex_ignoring_case(std::string_view expression);
// Equals bytes that contain the text, whatever the case of letters: those of Unicode if the text is UTF-8
// beyond ASCII, else those of ASCII.
ComparatorPtr substring(std::string_view text);

// ---- Rows ----

FilterPtr row_filter(CompareOp op, ComparatorPtr comparator);
// Rows with the prefix. Ends the read after the prefix, but does not seek to it: Scan::prefix does.
FilterPtr prefix_filter(std::string_view prefix);
FilterPtr inclusive_stop_filter(std::string_view row);
// The first `rows` rows that reach the filter and pass.
FilterPtr page_filter(uint64_t rows);
// Each row with this probability, by random numbers from the seed.
FilterPtr random_row_filter(double chance, uint64_t seed);
// Rows that match one of the keys, each given with a mask of the same size. Mask '\0': the byte must be that
// of the key; '\1': any byte matches. Longer rows are compared by their first bytes, shorter ones as far as
// they go. The filter seeks from match to match. kInvalidArgument for no keys, other masks, or different
// sizes.
Result<FilterPtr> fuzzy_row_filter(const std::vector<std::pair<std::string, std::string>>& keys_and_masks);
// Rows in any of the ranges. The filter seeks from range to range. An empty start or stop is open. The row
// after "a" is "a\0": a range that stops there includes "a", and one that starts there does not. Error:
// kInvalidArgument for no ranges, or for one that starts after it stops.
Result<FilterPtr> multi_row_range_filter(std::vector<KeyRange> ranges);
Result<FilterPtr> multi_row_prefix_filter(const std::vector<std::string>& prefixes);

// ---- Columns ----

FilterPtr family_filter(CompareOp op, ComparatorPtr comparator);
FilterPtr qualifier_filter(CompareOp op, ComparatorPtr comparator);
FilterPtr column_prefix_filter(std::string_view prefix);
FilterPtr multiple_column_prefix_filter(std::vector<std::string> prefixes);
// An empty `min` or `max` is open.
FilterPtr column_range_filter(std::string_view min, bool min_inclusive, std::string_view max,
                              bool max_inclusive);
// The first `columns` columns of a row, newest version only. For gets: it ends a scan at the first row that
// has more.
FilterPtr column_count_get_filter(uint32_t columns);
FilterPtr column_pagination_filter(uint32_t columns, uint32_t skipped);
// The same from the column `first` on.
FilterPtr column_pagination_filter(uint32_t columns, std::string_view first);
FilterPtr first_key_only_filter();
// The cells of a row up to the first of one of these columns.
FilterPtr first_key_value_matching_qualifiers_filter(std::vector<std::string> qualifiers);

// ---- Cells ----

FilterPtr value_filter(CompareOp op, ComparatorPtr comparator);
// Only that column, and only where its value passes.
FilterPtr column_value_filter(std::string_view family, std::string_view qualifier, CompareOp op,
                              ComparatorPtr comparator);
// Cells with one of these timestamps.
FilterPtr timestamps_filter(std::vector<int64_t> timestamps);
// The same, but it seeks from timestamp to timestamp where nothing that is read holds delete markers. Skipped
// versions do not count towards the versions that the family keeps, so a surplus version may show until a
// compaction drops it. HBase: TimestampsFilter with canHint.
FilterPtr seeking_timestamps_filter(std::vector<int64_t> timestamps);
// Empties each value, or replaces it by its size in 4 bytes, big-endian. HBase: KeyOnlyFilter.
FilterPtr key_only_filter();
FilterPtr value_size_filter();

// Whole rows whose column passes. The column must be among those that are read. filter_if_missing: rows
// without the column do not pass. With latest_version_only only the newest version is compared, else any
// version may pass.
FilterPtr single_column_value_filter(std::string_view family, std::string_view qualifier, CompareOp op,
                                     ComparatorPtr comparator, bool filter_if_missing = false,
                                     bool latest_version_only = true);
// The same without that column.
FilterPtr single_column_value_exclude_filter(std::string_view family, std::string_view qualifier,
                                             CompareOp op, ComparatorPtr comparator,
                                             bool filter_if_missing = false, bool latest_version_only = true);
// Cells with a timestamp that a cell of this column has: a cell that passes, or without a comparator any
// cell.
FilterPtr dependent_column_filter(std::string_view family, std::string_view qualifier,
                                  CompareOp op = CompareOp::kNoOp, ComparatorPtr comparator = nullptr);
// The same, without that column.
FilterPtr dependent_column_exclude_filter(std::string_view family, std::string_view qualifier,
                                          CompareOp op = CompareOp::kNoOp,
                                          ComparatorPtr comparator = nullptr);

// ---- Combinations ----

// Asks the members in order, until one excludes the cell. So a PageFilter does not count rows that a member
// before it excluded. An empty list passes everything.
FilterPtr all_of(const std::vector<FilterPtr>& members);
FilterPtr any_of(const std::vector<FilterPtr>& members);
// Rows of which the filter answers kInclude for every cell. Answers that include and move on do not count.
FilterPtr skip_filter(const FilterPtr& filter);
// Ends the read at the first row or cell that is excluded.
FilterPtr while_match_filter(const FilterPtr& filter);

// ---- The language ----

constexpr size_t kFilterTextBytesMax = 64u << 10;
constexpr size_t kFilterDepthMax = 32;

// "PrefixFilter('user') AND (SKIP ValueFilter(=, 'binary:') OR PageFilter(10))"; see docs/filters.md.
// kInvalidArgument with the position and the reason.
Result<FilterPtr> parse_filter(std::string_view text);

// FilterArgument: one argument of a filter in the language. 'bytes' are quoted; numbers, true, false and
// operators are words.
struct FilterArgument {
  std::string text;
  bool quoted = false;
};
// Makes a filter of its arguments. kInvalidArgument if they are invalid.
using FilterMaker = std::function<Result<FilterPtr>(std::span<const FilterArgument>)>;
// Adds a filter to the language, or replaces one. Call it at the start of a program, not while another thread
// parses.
void add_filter_name(std::string name, FilterMaker maker);
// Returns the names of all filters of the language, sorted.
std::vector<std::string> filter_names();

}  // namespace cellar
