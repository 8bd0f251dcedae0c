// Bloom type ROWPREFIX_FIXED_LENGTH: hashes the first bytes of the row. It answers reads of one row, and
// scans of rows that share these bytes.
#include "cell/cell_codec.h"
#include "cellar/bloom_type.h"

namespace cellar {
namespace {

class RowPrefixBloom final : public BloomType {
 public:
  explicit RowPrefixBloom(const PluginParams& params)
      : bytes_(params.count_within("prefix_length", 0, 1, kRowBytesMax)) {}
  std::string_view name() const override { return "ROWPREFIX_FIXED_LENGTH"; }
  // A shorter row is its own prefix.
  std::string_view key_of(const CellView& cell, std::string&) const override {
    return cell.row().substr(0, bytes_);
  }
  bool key_of_row(std::string_view row, std::string& key) const override {
    key.assign(row.substr(0, bytes_));
    return true;
  }
  bool keys_are_rows() const override { return true; }
  size_t prefix_bytes() const override { return bytes_; }

 private:
  size_t bytes_;
};

}  // namespace
CELLAR_PLUGIN(BloomType, bloom_type_rowprefix, "rowprefix_fixed_length", RowPrefixBloom)
}  // namespace cellar
