// Bloom type ROWCOL: hashes row and qualifier, as the flat key of the column's first place in an unnamed
// family.
#include "cell/cell_codec.h"
#include "cellar/bloom_type.h"

namespace cellar {
namespace {

class RowColumnBloom final : public BloomType {
 public:
  explicit RowColumnBloom(const PluginParams&) {}
  std::string_view name() const override { return "ROWCOL"; }
  std::string_view key_of(const CellView& cell, std::string& scratch) const override {
    key_of_column(cell.row(), cell.qualifier(), scratch);
    return scratch;
  }
  bool flat_keys() const override { return true; }
  bool key_of_column(std::string_view row, std::string_view qualifier, std::string& key) const override {
    key.clear();
    append_flat_key(key, row, "", qualifier, kLatestTimestamp, CellType::kMaximum);
    return true;
  }
  // A row's columns are not known from its key.
  bool key_of_row(std::string_view, std::string&) const override { return false; }
};

}  // namespace
CELLAR_PLUGIN(BloomType, bloom_type_rowcol, "rowcol", RowColumnBloom)
}  // namespace cellar
