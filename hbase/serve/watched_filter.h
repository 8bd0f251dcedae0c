// WatchedFilter: a filter that tells the owner of a scan that it ended the scan.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellar/filter.h"

namespace cellar::hbase::serve {

// Works as the filter inside. It and its clones set `done` once the filter inside lets nothing more pass.
// Like each Filter, it serves one thread at a time; any thread may read `done`.
class WatchedFilter final : public Filter {
 public:
  WatchedFilter(const Filter& inside, std::shared_ptr<std::atomic<bool>> done)
      : inside_(inside.clone()), done_(std::move(done)) {}
  std::unique_ptr<Filter> clone() const override { return std::make_unique<WatchedFilter>(*inside_, done_); }
  std::string to_text() const override { return inside_->to_text(); }

  void set_reversed(bool reversed) override {
    Filter::set_reversed(reversed);
    inside_->set_reversed(reversed);
  }
  void reset() override { inside_->reset(); }
  bool all_done() override {
    const bool done = inside_->all_done();
    if (done) done_->store(true);
    return done;
  }
  bool drop_row_key(const CellView& first) override { return inside_->drop_row_key(first); }
  FilterCode cell(const CellView& cell) override { return inside_->cell(cell); }
  std::optional<Cell> seek_hint(const CellView& cell) override { return inside_->seek_hint(cell); }
  void transform(CellView& cell) override { inside_->transform(cell); }
  bool needs_whole_row() const override { return inside_->needs_whole_row(); }
  void edit_row(std::vector<CellView>& cells) override { inside_->edit_row(cells); }
  bool drop_row() override { return inside_->drop_row(); }
  bool depends_on_other_rows() const override { return inside_->depends_on_other_rows(); }
  bool is_family_essential(std::string_view family) const override {
    return inside_->is_family_essential(family);
  }

 private:
  std::unique_ptr<Filter> inside_;
  std::shared_ptr<std::atomic<bool>> done_;
};

}  // namespace cellar::hbase::serve
