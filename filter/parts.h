// Cloned, OwnFilter, quoted: what the filters of this folder are made with.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/filter.h"

namespace cellar {

// A filter whose clone is its copy.
template <class Self>
class Cloned : public Filter {
 public:
  std::unique_ptr<Filter> clone() const final {
    return std::make_unique<Self>(static_cast<const Self&>(*this));
  }
  bool depends_on_other_rows() const override { return false; }
};

// A filter inside another one: copied with it.
class OwnFilter {
 public:
  explicit OwnFilter(const Filter& filter) : filter_(filter.clone()) {}
  OwnFilter(const OwnFilter& other) : filter_(other.filter_->clone()) {}
  OwnFilter(OwnFilter&&) noexcept = default;
  OwnFilter& operator=(const OwnFilter&) = delete;
  OwnFilter& operator=(OwnFilter&&) noexcept = default;
  ~OwnFilter() = default;
  Filter* operator->() { return filter_.get(); }
  const Filter* operator->() const { return filter_.get(); }

 private:
  std::unique_ptr<Filter> filter_;
};

// Bytes as an argument of the language: in quotes, a quote inside doubled.
std::string quoted(std::string_view bytes);
inline std::string flag_text(bool flag) { return flag ? "true" : "false"; }
// "Name(first, second)".
std::string call_text(std::string_view name, std::initializer_list<std::string> arguments);
// The same for a test by operator and comparator.
std::string test_text(std::string_view name, CompareOp op, const Comparator& comparator);

inline bool in_column(const CellView& cell, std::string_view family, std::string_view qualifier) {
  return cell.family() == family && cell.qualifier() == qualifier;
}
// Order of keys, for hints; reversed it is turned round by who asks.
std::strong_ordering compare_hints(const Cell& a, const Cell& b);
std::strong_ordering compare_hint(const CellView& cell, const Cell& hint);

}  // namespace cellar
