// DecoderWalker<Decoder>: the walk over one block for any decoder of hfile_cursor.h.
#pragma once

#include <string>
#include <vector>

#include "cell/cell_order.h"
#include "hfile/encoding/encoding.h"
#include "hfile/encoding/plain_cells.h"

namespace cellar {

// In addition to the members that hfile_cursor.h requires, a Decoder has:
//   - const char* check_end(const std::vector<uint32_t>& row_starts, uint64_t plain_bytes); Returns a fault
//     if the block states other figures, or null.
//   - static constexpr bool kSaysPlainBytes; true if the block says the size of its cells in plain form
template <class Decoder>
class DecoderWalker final : public BlockWalker {
 public:
  explicit DecoderWalker(const CellFormat& format) : format_(format), decoder_(format, std::nullopt) {}

  Status open(std::string_view payload) override {
    status_ = {};
    row_starts_.clear();
    plain_bytes_ = 0;
    at_ = 0;
    const char* fault = decoder_.open(payload);
    if (fault != nullptr) status_ = Status::corruption(fault);
    return status_;
  }

  const CellView* next() override {
    if (!status_.ok()) return nullptr;
    const size_t position = decoder_.position();
    at_ ^= 1;
    switch (decoder_.next(cells_[at_])) {
      case DecodeStep::kCell:
        break;
      case DecodeStep::kEnd:
        if (const char* fault = decoder_.check_end(row_starts_, plain_bytes_); fault != nullptr)
          status_ = Status::corruption(fault);
        return nullptr;
      case DecodeStep::kBad:
        status_ = Status::corruption(std::string(decoder_.fault()) + ", " + std::to_string(position) +
                                     " bytes into the block");
        return nullptr;
    }
    if (row_starts_.empty() || !same_row(cells_[at_ ^ 1], cells_[at_])) {
      row_starts_.push_back(static_cast<uint32_t>(position));
    }
    if constexpr (Decoder::kSaysPlainBytes) plain_bytes_ += plain_cell_bytes(cells_[at_], format_);
    return &cells_[at_];
  }

  Status status() const override { return status_; }

 private:
  CellFormat format_;
  Decoder decoder_;
  typename Decoder::Slot cells_[2];
  int at_ = 0;
  std::vector<uint32_t> row_starts_;
  uint64_t plain_bytes_ = 0;
  Status status_;
};

}  // namespace cellar
