// Encoding NONE: cells in plain form, one after the other, nothing else.
#include "hfile/encoding/decoder_walker.h"
#include "hfile/encoding/encoding.h"
#include "hfile/encoding/hfile_cursor.h"
#include "hfile/encoding/plain_cells.h"

namespace cellar {
namespace {

class NoneEncoder final : public BlockEncoder {
 public:
  explicit NoneEncoder(const CellFormat& format) : format_(format) {}

  void add(const CellView& cell) override {
    append_plain_cell(bytes_, cell, format_);
    cells_ += 1;
  }
  size_t plain_bytes() const override { return bytes_.size(); }
  size_t encoded_bytes() const override { return plain_bytes(); }
  size_t cells() const override { return cells_; }
  void finish(std::string& payload) override {
    payload.swap(bytes_);
    bytes_.clear();
    cells_ = 0;
  }

 private:
  CellFormat format_;
  std::string bytes_;
  size_t cells_ = 0;
};

// The decoder for HFileCursor: plain cells from the first byte to the last.
class NoneDecoder : public PlainCells {
 public:
  using PlainCells::PlainCells;
  static constexpr BlockKind kBlockKind = BlockKind::kData;
  static constexpr bool kGrows = true;

  const char* open(std::string_view payload) {
    PlainCells::open(payload.data(), payload.data() + payload.size());
    return nullptr;
  }
  const char* check_end(const std::vector<uint32_t>&, uint64_t) const { return nullptr; }
  // No help from the block: a search starts at its beginning.
  template <class Order>
  size_t near(const CellView&, const Order&) const {
    return 0;
  }
};

class NoneEncoding final : public BlockEncoding {
 public:
  explicit NoneEncoding(const PluginParams&) {}
  uint16_t id() const override { return 0; }
  std::string_view name() const override { return "NONE"; }
  std::unique_ptr<BlockEncoder> make_encoder(const CellFormat& format) const override {
    return std::make_unique<NoneEncoder>(format);
  }
  std::unique_ptr<RunCursor> make_cursor(std::shared_ptr<const FileParts> file,
                                         const FileCursorOptions& options) const override {
    return std::make_unique<HFileCursor<NoneDecoder>>(std::move(file), options);
  }
  std::unique_ptr<BlockWalker> make_walker(const CellFormat& format) const override {
    return std::make_unique<DecoderWalker<NoneDecoder>>(format);
  }
};

}  // namespace
CELLAR_PLUGIN(BlockEncoding, hfile_encoding_encoding_none, "none", NoneEncoding)
}  // namespace cellar
