// BlockEncoding: how cells lie in a data block. A plug-in for the pair of encoder and file cursor; decoders
// are inlined into their cursor (hfile_cursor.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cursor.h"
#include "cellar/plugin.h"
#include "hfile/format/cell_format.h"

namespace cellar {

struct FileParts;
struct FileCursorOptions;

// BlockEncoder: fills one data block after the other. One thread at a time.
class BlockEncoder {
 public:
  virtual ~BlockEncoder() = default;
  // Adds a cell, in file order.
  virtual void add(const CellView& cell) = 0;
  // Bytes that decide when a block is full, as HBase counts them: plain form of the cells, and encoded form.
  virtual size_t plain_bytes() const = 0;
  virtual size_t encoded_bytes() const = 0;
  virtual size_t cells() const = 0;
  // Puts the payload (for encodings with the 2-byte id first) in the place of what `payload` holds, whose
  // room serves the next, empty block.
  virtual void finish(std::string& payload) = 0;
};

// BlockWalker: one block's cells from the first to the last, without a file around it. For verification and
// descriptions. One thread at a time.
class BlockWalker {
 public:
  virtual ~BlockWalker() = default;
  // Stands before the first cell of a data block's payload, which must outlive the walk. kCorruption when its
  // frame is wrong.
  virtual Status open(std::string_view payload) = 0;
  // The next cell, valid until the second call after; null at the end or after an error.
  virtual const CellView* next() = 0;
  // kCorruption: a malformed cell; at the end also: tables of the block that differ from its cells.
  virtual Status status() const = 0;
};

// Stateless; any thread.
class BlockEncoding {
 public:
  virtual ~BlockEncoding() = default;
  // HBase's DataBlockEncoding id; 0: NONE, whose blocks carry no id.
  virtual uint16_t id() const = 0;
  // "NONE", "ROW_INDEX_V1", ….
  virtual std::string_view name() const = 0;
  virtual std::unique_ptr<BlockEncoder> make_encoder(const CellFormat& format) const = 0;
  virtual std::unique_ptr<RunCursor> make_cursor(std::shared_ptr<const FileParts> file,
                                                 const FileCursorOptions& options) const = 0;
  virtual std::unique_ptr<BlockWalker> make_walker(const CellFormat& format) const = 0;
};

// The names that options take, in lower case: "none", "row_index_v1", ….
std::vector<std::string> encoding_names();

// Returns the one name that options and files have for an encoding: "row_index_v1" for "row_index", which is
// accepted too. Returns every other text unchanged.
std::string encoding_name(std::string_view name);
// The encoding with this name (any case; "row_index" and "ROW_INDEX_V1" both), or kNotSupported naming it.
Result<const BlockEncoding*> encoding_by_name(std::string_view name);
// The encoding with this id, or kNotSupported.
Result<const BlockEncoding*> encoding_by_id(uint16_t id);

}  // namespace cellar
