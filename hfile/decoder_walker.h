// DecoderWalker<Decoder>: the walk over one block for any decoder of hfile_cursor.h.
#pragma once

#include <string>
#include <vector>

#include "cell/cell_order.h"
#include "hfile/encoding.h"
#include "hfile/plain_cells.h"

namespace cellar {

// Beside what hfile_cursor.h asks of a Decoder:
//   const char* check_rows(const std::vector<uint32_t>& row_starts);  what is wrong with the block's own
//   tables, or null
template <class Decoder>
class DecoderWalker final : public BlockWalker {
 public:
  explicit DecoderWalker(const CellFormat& format) : decoder_(format, std::nullopt) {}

  Status open(std::string_view payload) override {
    status_ = {};
    row_starts_.clear();
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
        if (const char* fault = decoder_.check_rows(row_starts_); fault != nullptr)
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
    return &cells_[at_];
  }

  Status status() const override { return status_; }

 private:
  Decoder decoder_;
  CellView cells_[2];
  int at_ = 0;
  std::vector<uint32_t> row_starts_;
  Status status_;
};

}  // namespace cellar
