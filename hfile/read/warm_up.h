// WarmUp: brings the blocks of a file into memory before a read has to wait for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "hfile/block/index_reader.h"
#include "hfile/encoding/encoding.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

class BloomReader;
class ReadAhead;

// The parts of a file to load. The root of the index, the file's facts and the lists of filter chunks are
// read in any case when it is opened.
struct WarmUpParts {
  bool data = false;    // data blocks, into the cache; also the index nodes that lead to them
  bool index = false;   // all nodes of the index
  bool blooms = false;  // all chunks of both filters
};

struct WarmUpOptions {
  WarmUpParts parts = {};
  // False: ends when the cache has no room left, and evicts no block. The size of index nodes is estimated.
  bool evict = true;
  ReadStats* stats = nullptr;  // borrowed, may be null; counts all that is read, kept or not
};

// The parts that were loaded.
struct WarmedUp {
  uint64_t blocks = 0;
  uint64_t bytes = 0;         // as stored
  uint64_t memory_bytes = 0;  // what the cache is charged for them
};

// One reading of a file, in parts if need be: index, filters, then data in the order of keys. Parts in memory
// are skipped. For a file opened as a part, reads the blocks of that part. Follows HBase's HFilePreadReader.
// One thread at a time; borrows the file.
class WarmUp {
 public:
  WarmUp(const HFileReader& file, const WarmUpOptions& options);
  ~WarmUp();
  WarmUp(const WarmUp&) = delete;
  WarmUp& operator=(const WarmUp&) = delete;

  // Reads on until there is nothing more to do, or until `go_on`, called before each block, returns false.
  // The next call then continues there. Blocks are checked as reads check them when they load one; cells are
  // not. Errors end the warm-up and keep the blocks read so far: kCorruption, kLimit, kNotSupported (an
  // encoding that is not built in), kIoError.
  Status run(const std::function<bool()>& go_on);
  // Nothing more will be read: all is there, the cache is full, or something failed.
  bool done() const { return done_; }
  // By all calls together.
  const WarmedUp& loaded() const { return loaded_; }

 private:
  Status load_index(const IndexNode& node, uint32_t depth);
  Status load_chunks(const BloomReader& bloom);
  Status load_data();
  Status load_all();
  Status load_block();
  Status check_block(const Block& block);
  bool leads_into_part(const IndexNode& node, uint32_t i) const;
  bool beyond_part() const;
  bool may_go_on();
  Result<bool> may_keep(uint64_t offset);
  void count(uint64_t bytes, uint64_t memory_bytes);

  const HFileReader& file_;
  const FileParts& parts_;
  const WarmUpOptions options_;
  WarmedUp loaded_;
  const std::function<bool()>* go_on_ = nullptr;
  bool stopped_ = false;  // this call ends
  bool done_ = false;
  IndexCursor at_;  // the data block that comes next
  bool at_begun_ = false;
  std::unique_ptr<ReadAhead> ahead_;
  std::unique_ptr<BlockWalker> walker_;
};

}  // namespace cellar
