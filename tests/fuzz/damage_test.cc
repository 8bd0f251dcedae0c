// Goal: damage to a file of Cellar's never gives other cells, fewer cells without a word, a crash or much
// memory. Method: small files of every encoding with every codec, and of other shapes. In each, every bit is
// flipped (a sample of them in short runs), and the file is cut to every length. Bytes are appended, and
// blocks swapped and doubled. The file is then opened, read to the end, and asked for every row. The outcomes
// are counted.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "base/plugins.h"
#include "base/random.h"
#include "cell/cell_key.h"
#include "hfile/check/verify.h"
#include "hfile/codec/codecs.h"
#include "hfile/encoding/encoding.h"
#include "hfile/read/hfile_reader.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets.h"
#include "tests/support/address_space.h"
#include "tests/support/byte_files.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kMemoryMax = 256 << 20;  // more than before, while damaged files are read

enum class Outcome : uint8_t { kRefused, kNamed, kUnseen, kWrong, kLost };
using Counts = std::array<uint64_t, 5>;

// Every cell, as text, and whether there was an error.
struct Reading {
  bool ok = false;
  std::string cells;
};

Reading read_all(const HFileReader& file) {
  Reading reading;
  const std::unique_ptr<CellCursor> cursor = file.cursor({.fill_cache = false});
  OwnedCell target;
  first_of_row(target, {});
  for (const CellView* cell = cursor->seek(target.view()); cell != nullptr; cell = cursor->next()) {
    reading.cells.append(cell->key_bytes()).append(cell->value_bytes());
    reading.cells.append(cell->tags, cell->tags_size).append(std::to_string(cell->sequence)) += '\n';
  }
  reading.ok = cursor->status().ok();
  return reading;
}

Result<std::shared_ptr<HFileReader>> open(std::string_view bytes) {
  HFileReaderOptions options;
  options.name = "damaged";
  return HFileReader::open(std::make_unique<ViewFile>(bytes), std::move(options));
}

// One file, and what it holds.
class Subject {
 public:
  explicit Subject(std::string bytes) : bytes_(std::move(bytes)) {
    const auto file = open(bytes_).value();
    sound_ = read_all(*file);
    EXPECT_TRUE(sound_.ok);
    const std::unique_ptr<CellCursor> cursor = file->cursor({});
    OwnedCell target;
    first_of_row(target, {});
    for (const CellView* cell = cursor->seek(target.view()); cell != nullptr; cell = cursor->next())
      rows_.emplace(cell->row());
  }

  const std::string& bytes() const { return bytes_; }

  Outcome look_at(std::string_view damaged) const {
    const auto file = open(damaged);
    if (!file.ok()) return Outcome::kRefused;
    const Reading reading = read_all(**file);
    if (!sound_.cells.starts_with(reading.cells)) return Outcome::kWrong;
    if (!reading.ok) return Outcome::kRefused;
    if (reading.cells.size() < sound_.cells.size()) return Outcome::kLost;
    for (const std::string& row : rows_) {
      if (!(*file)->may_contain_row(row, nullptr)) return Outcome::kLost;
    }
    const VerifyReport report =
        verify(std::make_unique<ViewFile>(damaged), {.name = "damaged", .level = VerifyLevel::kDeep});
    return report.findings.empty() ? Outcome::kUnseen : Outcome::kNamed;
  }

 private:
  std::string bytes_;
  Reading sound_;
  std::set<std::string> rows_;
};

struct Shape {
  std::string name;
  std::string bytes;
  HFileWriterOptions options;
  size_t cells = 0;
};

void add_shape(std::vector<Shape>& shapes, const std::string& name, HFileWriterOptions options, size_t cells,
               void (*change)(HFileWriterOptions&)) {
  change(options);
  shapes.push_back({name, fuzz::small_file(options, cells), options, cells});
}

std::vector<Shape> shapes() {
  constexpr size_t kCells = 20;
  register_hfile_plugins();
  HFileWriterOptions options;
  options.bloom = "row";
  options.block_bytes = 200;
  options.bloom_chunk_bytes = 64;
  options.tags = options.mvcc = options.trailer_sums = true;
  std::vector<Shape> all;
  for (const std::string& encoding : Registry<BlockEncoding>::instance().names()) {
    for (uint32_t codec = 0; codec < kCodecCount; ++codec) {
      if (!compressor_by_id(codec).ok()) continue;
      options.encoding = encoding;
      options.compression = std::string(codec_name(codec));
      add_shape(all, encoding + " " + options.compression, options, kCells, [](HFileWriterOptions&) {});
    }
  }
  options.compression = "none";
  options.encoding = "fast_diff";
  using Options = HFileWriterOptions;
  add_shape(all, "compressed tags", options, kCells, [](Options& o) { o.compress_tags = true; });
  add_shape(all, "neither tags nor sequences", options, kCells, [](Options& o) { o.tags = o.mvcc = false; });
  add_shape(all, "no filter", options, kCells, [](Options& o) { o.bloom = "none"; });
  add_shape(all, "filter of columns", options, kCells, [](Options& o) { o.bloom = "rowcol"; });
  add_shape(all, "filter of prefixes", options, kCells,
            [](Options& o) { o.bloom = "rowprefix_fixed_length(prefix_length=5)"; });
  add_shape(all, "CRC32", options, kCells, [](Options& o) { o.checksum = ChecksumType::kCrc32; });
  add_shape(all, "small sums", options, kCells, [](Options& o) { o.bytes_per_checksum = 64; });
  add_shape(all, "empty", options, 0, [](Options&) {});
  add_shape(all, "one cell", options, 1, [](Options&) {});
  add_shape(all, "deep index", options, 40, [](Options& o) {
    o.index_chunk_bytes = 64;
    o.index_entries_min = 2;
    o.block_bytes = 60;
  });
  add_shape(all, "one block", options, 200, [](Options& o) { o.block_bytes = 65536; });
  return all;
}

const char* const kOutcomes[] = {"refused", "harmless, named by verify", "harmless, seen by nobody",
                                 "wrong data", "silent loss"};

class Tally {
 public:
  void add(const std::string& what, Outcome outcome) { counts_[what][static_cast<size_t>(outcome)] += 1; }

  void print() const {
    for (const auto& [what, counts] : counts_) {
      for (size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0) count(counts[i], "HFiles with " + what + ": " + kOutcomes[i]);
      }
    }
  }
  uint64_t of(const std::string& what, Outcome outcome) const {
    const auto found = counts_.find(what);
    return found == counts_.end() ? 0 : found->second[static_cast<size_t>(outcome)];
  }
  uint64_t all_of(const std::string& what) const {
    uint64_t sum = 0;
    for (const Outcome each : {Outcome::kRefused, Outcome::kNamed, Outcome::kUnseen}) sum += of(what, each);
    return sum;
  }
  uint64_t of(Outcome outcome) const {
    uint64_t sum = 0;
    for (const auto& [what, counts] : counts_) sum += counts[static_cast<size_t>(outcome)];
    return sum;
  }

 private:
  std::map<std::string, Counts> counts_;
};

// Returns each block's bytes with header and sums, in the file's order, and the bytes after them.
std::vector<std::string> blocks_of(std::string_view bytes) {
  std::vector<std::string> blocks;
  size_t at = 0;
  while (const std::optional<fuzz::BlockPlace> block = fuzz::block_at(bytes, at)) {
    blocks.emplace_back(bytes.substr(at, block->end - at));
    at = block->end;
  }
  blocks.emplace_back(bytes.substr(at));
  return blocks;
}

std::string joined(const std::vector<std::string>& blocks) {
  std::string bytes;
  for (const std::string& block : blocks) bytes += block;
  return bytes;
}

class Damage : public ::testing::Test {
 protected:
  void look(const Subject& subject, std::string_view damaged, const std::string& what,
            const std::string& where) {
    const Outcome outcome = subject.look_at(damaged);
    tally_.add(what, outcome);
    if (outcome == Outcome::kWrong || outcome == Outcome::kLost)
      ADD_FAILURE() << kOutcomes[static_cast<size_t>(outcome)] << ": " << where;
  }

  // One in so many bits is flipped, and one in so many lengths cut to: all from a scale of 1 on.
  uint64_t step_ = std::max<uint64_t>(1, static_cast<uint64_t>(1 / test_scale()));
  uint64_t phase_ = from_environment("CELLAR_SEED", 1) % step_;
  // Every block of `sibling` over the same place of `shape`, one at a time, and the two trailers.
  void take_blocks_over(const Shape& shape, const Subject& subject, const std::string& sibling) {
    const std::vector<std::string> ours = blocks_of(shape.bytes);
    const std::vector<std::string> theirs = blocks_of(sibling);
    for (size_t i = 0, at = 0, their_at = 0; i < std::min(ours.size(), theirs.size()); ++i) {
      if (at == their_at && ours[i].size() == theirs[i].size() && ours[i] != theirs[i]) {
        std::string damaged = shape.bytes;
        damaged.replace(at, theirs[i].size(), theirs[i]);
        const std::string kind = i + 1 < ours.size() ? theirs[i].substr(0, 8) : "the trailer";
        look(subject, damaged, kind + " of a sibling", shape.name + ", block " + std::to_string(i));
      }
      at += ours[i].size();
      their_at += theirs[i].size();
    }
  }

  Tally tally_;
  AddressSpace bound_{kMemoryMax};
};

TEST_F(Damage, EveryBitAndLengthOfEachKindOfFile) {
  uint64_t files = 0;
  for (const Shape& shape : shapes()) {
    const Subject subject(shape.bytes);
    std::string damaged = shape.bytes;
    for (uint64_t bit = phase_; bit < damaged.size() * 8; bit += step_) {
      char& byte = damaged[bit / 8];
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      look(subject, damaged, "a flipped bit", shape.name + ", bit " + std::to_string(bit));
      byte = shape.bytes[bit / 8];
    }
    for (uint64_t bytes = phase_; bytes < damaged.size(); bytes += step_)
      look(subject, std::string_view(shape.bytes).substr(0, bytes), "an end cut off",
           shape.name + ", cut to " + std::to_string(bytes));
    ++files;
  }
  EXPECT_GE(files, 40u);
  EXPECT_EQ(tally_.of(Outcome::kWrong) + tally_.of(Outcome::kLost), 0u);
  count(files, "kinds of HFiles damaged");
  tally_.print();
}

TEST_F(Damage, BytesAfterTheEndAndBlocksInOtherPlaces) {
  Random random(from_environment("CELLAR_SEED", 1));
  for (const Shape& shape : shapes()) {
    const Subject subject(shape.bytes);
    const auto longer = [&](const std::string& more) {
      look(subject, shape.bytes + more, "bytes after the end",
           shape.name + ", longer by " + std::to_string(more.size()));
    };
    longer(std::string(1, '\0'));
    longer(std::string(4096, '\0'));
    longer(shape.bytes.substr(0, 1000));
    std::string noise(random.below(5000), '\0');
    for (char& c : noise) c = static_cast<char>(random.below(256));
    longer(noise);

    const std::vector<std::string> blocks = blocks_of(shape.bytes);
    ASSERT_GT(blocks.size(), 3u);
    for (size_t i = 0; i + 1 < blocks.size(); ++i) {
      for (size_t j = i + 1; j + 1 < blocks.size(); ++j) {
        const std::string where = shape.name + ", blocks " + std::to_string(i) + " and " + std::to_string(j);
        std::vector<std::string> changed = blocks;
        std::swap(changed[i], changed[j]);
        if (changed[i] != changed[j]) look(subject, joined(changed), "two blocks swapped", where);
        if (blocks[i].size() != blocks[j].size() || blocks[i] == blocks[j]) continue;
        changed = blocks;
        changed[i] = blocks[j];
        look(subject, joined(changed), "a block in another's place", where);
        changed = blocks;
        changed[j] = blocks[i];
        look(subject, joined(changed), "a block in another's place", where);
      }
      std::vector<std::string> fewer = blocks;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      look(subject, joined(fewer), "a block missing", shape.name + ", without block " + std::to_string(i));
    }
  }
  tally_.print();
  // Bytes after the end hide the trailer. Each block knows its place.
  EXPECT_EQ(tally_.of(Outcome::kUnseen), 0u);
}

TEST_F(Damage, BlocksOfASiblingInTheSamePlace) {
  using fuzz::Sibling;
  for (const Shape& shape : shapes()) {
    const Subject subject(shape.bytes);
    for (const Sibling sibling : {Sibling::kOtherValues, Sibling::kOtherTime, Sibling::kOtherRows})
      take_blocks_over(shape, subject, fuzz::small_file(shape.options, shape.cells, sibling));
  }
  tally_.print();
  EXPECT_EQ(tally_.of(Outcome::kUnseen), 0u);
  EXPECT_GE(tally_.of("DATABLK* of a sibling", Outcome::kRefused), 50u);
  EXPECT_GE(tally_.of("DATABLKE of a sibling", Outcome::kRefused), 100u);
  for (const char* kind : {"DATABLK*", "DATABLKE"})
    EXPECT_EQ(tally_.of(std::string(kind) + " of a sibling", Outcome::kNamed), 0u) << "not believed by reads";
  for (const char* kind :
       {"IDXLEAF2", "IDXINTE2", "BLMFBLK2", "METABLKc", "IDXROOT2", "FILEINF2", "BLMFMET2"})
    EXPECT_GT(tally_.all_of(std::string(kind) + " of a sibling"), 0u) << kind;
}

// Cellar wrote no sums of blocks before: what could be told then still is.
TEST_F(Damage, FilesWithoutBlockSumsAreReadAsBefore) {
  for (const Shape& shape : shapes()) {
    Trailer trailer = read_trailer(ViewFile(shape.bytes)).value();
    std::string older = shape.bytes.substr(0, shape.bytes.size() - trailer.trailer_bytes());
    trailer.block_sums.clear();
    older += encode_trailer(trailer);
    EXPECT_EQ(Subject(shape.bytes).look_at(older), Outcome::kUnseen) << shape.name;
  }
}

}  // namespace
}  // namespace cellar::testing
