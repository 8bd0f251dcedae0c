// salvage: the cells of all blocks of a damaged HFile that can still be read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cellar/file_system.h"
#include "hfile/encoding/encoding.h"
#include "hfile/format/caps.h"
#include "hfile/write/hfile_writer.h"

namespace cellar {

// How the cells of a file are stored; from its trailer and file info, or found out by trying.
struct SalvageFormat {
  uint32_t codec = 2;  // Compressor::id; 2: NONE
  CellFormat cells;
  HFileWriterOptions like;  // for a file of the same form
  bool guessed = false;     // the file itself could not be asked
};

// A stretch of the file from which nothing was taken.
struct SalvageLoss {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason = {};
  bool data = true;  // it held, or may have held, cells
  // The rows of the kept cells before and after it. The loss is between them, both rows included. Absent at
  // the beginning and at the end.
  std::optional<std::string> after_row = std::nullopt;
  std::optional<std::string> before_row = std::nullopt;
};

struct SalvageReport {
  SalvageFormat format;
  Status trouble;                          // why the file does not open; ok when it does
  uint64_t data_blocks = 0;                // read
  uint64_t cells = 0;                      // kept
  uint64_t out_of_order = 0;               // cells that were not kept, because a later cell sorts before them
  std::optional<uint64_t> cells_expected;  // as the trailer says
  std::vector<SalvageLoss> losses;         // at most kLossesMax
  uint64_t losses_left_out = 0;

  static constexpr size_t kLossesMax = 10000;
};

struct SalvageTaker {
  // Called once, before the first cell.
  std::function<Status(const SalvageFormat&)> begin;
  // Each cell, in order. A status that is not ok ends the salvage with it.
  std::function<Status(const CellView&)> take;
};

// Walks the file from its first byte, block by block. After bytes that are no block it goes on from the next
// block that it finds. Reads no more than one block at a time. Errors: kNotSupported (version, codec,
// encoding, encryption, the order of hbase:meta), kCorruption if no data block can be read at all, kIoError,
// errors of the taker.
Result<SalvageReport> salvage(std::shared_ptr<const ReadableFile> file, const std::string& name,
                              const SalvageTaker& taker,
                              uint64_t block_payload_bytes_max = kBlockPayloadBytesMax);

}  // namespace cellar
