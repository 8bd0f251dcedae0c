// UnsaltedFilter: shows a filter the rows of one salt without the salt.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/filter.h"

namespace cellar {

// For a scan of rows that all begin with the byte `salt`. The inner filter sees the row after the salt,
// and its hints lead to rows of the same salt. One thread at a time.
class UnsaltedFilter final : public Filter {
 public:
  UnsaltedFilter(const Filter& inside, char salt) : inside_(inside.clone()), salt_(salt) {}
  std::unique_ptr<Filter> clone() const override { return std::make_unique<UnsaltedFilter>(*inside_, salt_); }
  std::string to_text() const override { return inside_->to_text(); }

  void set_reversed(bool reversed) override;
  void reset() override { inside_->reset(); }
  bool all_done() override { return inside_->all_done(); }
  bool drop_row_key(const CellView& first) override { return inside_->drop_row_key(shown(first)); }
  FilterCode cell(const CellView& cell) override { return inside_->cell(shown(cell)); }
  std::optional<Cell> seek_hint(const CellView& cell) override;
  void transform(CellView& cell) override;
  bool needs_whole_row() const override { return inside_->needs_whole_row(); }
  void edit_row(std::vector<CellView>& cells) override;
  bool drop_row() override { return inside_->drop_row(); }
  bool is_family_essential(std::string_view family) const override {
    return inside_->is_family_essential(family);
  }
  bool depends_on_other_rows() const override { return inside_->depends_on_other_rows(); }

 private:
  CellView shown(const CellView& cell);

  std::unique_ptr<Filter> inside_;
  char salt_;
  std::string key_;                       // key of the cell shown last
  std::vector<std::string> shown_keys_;   // keys of the row edited last
  std::vector<std::string> salted_keys_;  // keys of cells that the filter added to that row
};

}  // namespace cellar
