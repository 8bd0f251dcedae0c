// Helpers of the tests of the HFile writer: walking blocks, drawing cells, asking the outside checker.
#include "tests/hfile_support/writer_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/coding.h"
#include "cell/cell_codec.h"
#include "cell/cell_order.h"
#include "hfile/codec/codecs.h"

namespace cellar::testing {

CellView view_of(const Cell& cell, std::string& key) {
  key.clear();
  append_flat_key(key, cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type);
  CellView view;
  EXPECT_TRUE(parse_flat_key(key.data(), key.size(), view));
  view.value = cell.value.data();
  view.value_size = static_cast<uint32_t>(cell.value.size());
  view.tags = cell.tags.data();
  view.tags_size = static_cast<uint16_t>(cell.tags.size());
  view.sequence = cell.sequence;
  return view;
}

Status add_cell(HFileWriter& writer, const Cell& cell) {
  std::string key;
  return writer.add(view_of(cell, key));
}

WrittenFile write_cells(const HFileWriterOptions& options, const std::vector<Cell>& cells,
                        const Facts& facts) {
  StringFile file;
  Result<std::unique_ptr<HFileWriter>> writer = HFileWriter::create(file, options);
  if (!writer.ok()) {
    ADD_FAILURE() << writer.status().to_text();
    return {};
  }
  for (const Cell& cell : cells) {
    const Status status = add_cell(**writer, cell);
    if (!status.ok()) ADD_FAILURE() << status.to_text();
    if (!status.ok()) return {};
  }
  for (const auto& [key, value] : facts) EXPECT_EQ((*writer)->set_info(key, value).to_text(), "ok");
  Result<HFileSummary> summary = (*writer)->finish();
  if (!summary.ok()) {
    ADD_FAILURE() << summary.status().to_text();
    return {};
  }
  EXPECT_EQ(summary->file_bytes, file.size());
  EXPECT_EQ((*writer)->bytes_written(), file.size());
  return {file.bytes(), *summary};
}

std::vector<RawBlock> walk_blocks(std::string_view file, uint32_t codec) {
  std::vector<RawBlock> blocks;
  const Result<const Compressor*> compressor = compressor_by_id(codec);
  EXPECT_TRUE(compressor.ok() && file.size() >= kTrailerBytesV3);
  if (!compressor.ok() || file.size() < kTrailerBytesV3) return blocks;
  const uint64_t end = file.size() - kTrailerBytesV3;
  for (uint64_t at = 0; at < end;) {
    const std::string_view header = file.substr(at, kBlockHeaderBytes);
    const uint32_t stored = header.size() < kBlockHeaderBytes ? UINT32_MAX : load_be32(header.data() + 8);
    if (stored > end - at - kBlockHeaderBytes) {
      ADD_FAILURE() << "block at " << at << " runs past the blocks' end at " << end;
      return {};
    }
    const uint32_t body = load_be32(header.data() + 29) - static_cast<uint32_t>(kBlockHeaderBytes);
    RawBlock block{std::string(header.substr(0, 8)), at, std::string(load_be32(header.data() + 12), '\0')};
    const Status status = (*compressor)
                              ->decompress(file.substr(at + kBlockHeaderBytes, body), block.payload.size(),
                                           block.payload.data());
    if (!status.ok()) ADD_FAILURE() << "block at " << at << ": " << status.to_text();
    if (!status.ok()) return {};
    blocks.push_back(std::move(block));
    at += kBlockHeaderBytes + stored;
  }
  return blocks;
}

std::string read_test_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// ---- Drawing cells ----

namespace {

std::string draw_bytes(Random& random, size_t bytes_max) {
  std::string bytes(random.below(bytes_max + 1), '\0');
  for (char& byte : bytes)
    byte = static_cast<char>(random.one_in(4) ? random.below(256) : 'a' + random.below(4));
  return bytes;
}

CellType draw_type(Random& random) {
  constexpr std::array types = {CellType::kDelete, CellType::kDeleteColumn, CellType::kDeleteFamily,
                                CellType::kDeleteFamilyVersion};
  return random.below(10) < 8 ? CellType::kPut : types[random.below(types.size())];
}

Cell draw_cell(Random& random, const CellDraw& draw, const std::vector<std::string>& rows) {
  Cell cell;
  cell.row = rows[random.below(rows.size())];
  cell.family = "f";
  cell.type = draw_type(random);
  if (!covers_family(cell.type)) cell.qualifier = draw_bytes(random, 3);
  cell.timestamp = static_cast<int64_t>(random.one_in(3) ? random.next() >> 1 : random.below(20));
  if (cell.type == CellType::kPut) cell.value = draw_bytes(random, draw.value_bytes_max);
  cell.sequence = random.one_in(8) ? random.next() >> 1 : random.below(300);
  if (draw.tags && random.one_in(2)) {
    append_tag(cell.tags, static_cast<uint8_t>(65 + random.below(3)), draw_bytes(random, 10));
    if (random.one_in(3)) append_tag(cell.tags, kTtlTag, std::string("\0\0\0\0\0\0\x0e\x10", 8));
  }
  return cell;
}

bool before(const Cell& a, const Cell& b) {
  std::string a_key, b_key;
  return compare_cells(view_of(a, a_key), view_of(b, b_key)) < 0;
}

}  // namespace

std::vector<Cell> draw_cells(Random& random, const CellDraw& draw) {
  std::vector<std::string> rows;
  for (size_t i = 0; i < draw.rows; ++i) rows.push_back(draw_bytes(random, 12) + "r");
  std::vector<Cell> cells;
  for (size_t i = 0; i < draw.cells; ++i) cells.push_back(draw_cell(random, draw, rows));
  sort_cells(cells);
  return cells;
}

void sort_cells(std::vector<Cell>& cells) { std::ranges::stable_sort(cells, before); }

// ---- The outside checker ----

namespace {

const std::string kTools = std::string(CELLAR_FIXTURES_DIR) + "/tools";
const std::string kChecker = kTools + "/hfile_oracle.py";

// One process for all files, for starting one takes longer than its work: dumps each, then judges each.
constexpr std::string_view kScript = R"(
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import hfile_oracle as checker
for command in ["cells", "verify"]:
    for path in sys.argv[2:]:
        checker.main(["", command, path])
        print("----")
)";

// Returns the checker's output, one piece per command and file.
std::vector<std::string> run_checker(const std::string& paths) {
  const std::string command = "python3 -c '" + std::string(kScript) + "' '" + kTools + "'" + paths + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {"the shell could not be started"};
  std::string output;
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.append(buffer.data(), n);
  pclose(pipe);
  std::vector<std::string> pieces;
  size_t at = 0;
  for (size_t end; (end = output.find("----\n", at)) != std::string::npos; at = end + 5) {
    pieces.push_back(output.substr(at, end - at));
  }
  if (at < output.size()) pieces.push_back(output.substr(at));
  return pieces;
}

std::string dump(const FileToCheck& file) {
  std::string text;
  for (const Cell& cell : file.cells) {
    Cell shown = cell;
    if (!file.mvcc) shown.sequence = 0;
    std::string key;
    append_json(text, view_of(shown, key), true, true);
    text += '\n';
  }
  return text;
}

// The first line in which two texts differ, for people.
std::string first_difference(const std::string& expected, const std::string& got) {
  const auto [a, b] = std::ranges::mismatch(expected, got);
  const size_t start = expected.rfind('\n', static_cast<size_t>(a - expected.begin()));
  const size_t line = start == std::string::npos ? 0 : start + 1;
  return "expected " + expected.substr(line, 300) + "\ngot " + got.substr(std::min(line, got.size()), 300);
}

}  // namespace

bool has_outside_checker() {
  static const bool found =
      std::filesystem::exists(kChecker) && std::system("python3 -c 'import sys' >/dev/null 2>&1") == 0;
  return found;
}

std::string ask_outside_checker(const std::vector<FileToCheck>& files) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      ("cellar_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
  std::filesystem::create_directories(folder);
  std::string paths, complaints;
  for (const FileToCheck& file : files) {
    const std::string path = folder / file.name;
    std::ofstream(path, std::ios::binary) << file.bytes;
    paths += " '" + path + "'";
  }
  const std::vector<std::string> answers = run_checker(paths);
  if (answers.size() != 2 * files.size()) return answers.empty() ? "no answer" : answers.back();
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string expected = dump(files[i]);
    if (answers[i] != expected) {
      complaints += files[i].name + ": " + first_difference(expected, answers[i]) + "\n";
    }
    const std::string& verdict = answers[files.size() + i];
    if (!verdict.starts_with("ok ")) complaints += verdict;
  }
  if (complaints.empty()) std::filesystem::remove_all(folder);  // else kept for a look
  return complaints;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace cellar::testing
