// Bloom type ROW: hashes the row alone, so it answers reads of one row, whatever columns they ask for.
#include "cellar/bloom_type.h"

namespace cellar {
namespace {

class RowBloom final : public BloomType {
 public:
  explicit RowBloom(const PluginParams&) {}
  std::string_view name() const override { return "ROW"; }
  std::string_view key_of(const CellView& cell, std::string&) const override { return cell.row(); }
  bool key_of_row(std::string_view row, std::string& key) const override {
    key.assign(row);
    return true;
  }
  bool keys_are_rows() const override { return true; }
};

}  // namespace
CELLAR_PLUGIN(BloomType, bloom_type_row, "row", RowBloom)
}  // namespace cellar
