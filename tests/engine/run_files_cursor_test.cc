// Goal: the files of a run read like one sorted run. Each is opened only when it is needed, and at most two
// are open. Method: the contract of cursors over poisoned sources that are dealt to files by rows. Some
// files the read does not need, and some fail after each number of moves. Opened files are counted.
#include "engine/read/run_files_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "cell/cell_key.h"
#include "cell/reverse_row_cursor.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/forwarding_cursor.h"
#include "tests/cell_support/poison_cursor.h"
#include "tests/cell_support/vector_cursor.h"

namespace cellar::testing {
namespace {

struct CursorLog {
  std::vector<size_t> opened;
  std::vector<size_t> asked;
  size_t open = 0;
  size_t open_max = 0;
};

// Counts as open while it lives.
class CountedCursor final : public ForwardingCursor {
 public:
  CountedCursor(std::unique_ptr<RunCursor> cursor, CursorLog& log)
      : ForwardingCursor(std::move(cursor)), log_(log) {
    log_.open_max = std::max(log_.open_max, ++log_.open);
  }
  ~CountedCursor() override { --log_.open; }

 private:
  CursorLog& log_;
};

struct TestFile {
  std::string first;
  std::string last;
  Cells cells;
  bool wanted = true;
};

TestFile file_of(Cells cells, bool wanted = true) {
  TestFile file{cells.front().row, cells.back().row, cells, wanted};
  return file;
}

using Maker = std::function<std::unique_ptr<RunCursor>(size_t file, const Cells& cells)>;

std::unique_ptr<RunCursor> poisoned(size_t, const Cells& cells) { return poison(vector_cursor(cells)); }

// TestRun: owns files in memory, and the rows that their cursor borrows.
class TestRun {
 public:
  explicit TestRun(std::vector<TestFile> files) : files_(std::move(files)) {
    for (const TestFile& file : files_) rows_.push_back({file.first, file.last, 0});
  }
  TestRun(const TestRun&) = delete;
  TestRun& operator=(const TestRun&) = delete;

  std::unique_ptr<RunCursor> cursor(CursorLog& log, Maker make = poisoned) const {
    return make_run_files_cursor(rows_, std::make_unique<Files>(files_, log, std::move(make)));
  }
  size_t size() const { return files_.size(); }
  const std::vector<TestFile>& files() const { return files_; }

 private:
  class Files final : public RunFiles {
   public:
    Files(const std::vector<TestFile>& files, CursorLog& log, Maker make)
        : files_(files), log_(log), make_(std::move(make)) {}
    bool wants(size_t at) override {
      log_.asked.push_back(at);
      return files_[at].wanted;
    }
    std::unique_ptr<RunCursor> open(size_t at) override {
      EXPECT_TRUE(files_[at].wanted) << "opens the unwanted file " << at;
      log_.opened.push_back(at);
      return std::make_unique<CountedCursor>(make_(at, files_[at].cells), log_);
    }

   private:
    const std::vector<TestFile>& files_;
    CursorLog& log_;
    Maker make_;
  };

  std::vector<TestFile> files_;
  std::vector<FileRows> rows_;
};

// HeldRun: a run and what its cursor does. A base class, so that it lives before and after the cursor.
struct HeldRun {
  explicit HeldRun(std::vector<TestFile> files) : run(std::move(files)) {}
  TestRun run;
  CursorLog log;
};

// HoldingCursor: a cursor together with the run that it reads.
class HoldingCursor final : private HeldRun, public ForwardingCursor {
 public:
  explicit HoldingCursor(std::vector<TestFile> files)
      : HeldRun(std::move(files)), ForwardingCursor(run.cursor(log)) {}
  ~HoldingCursor() override {
    close();
    EXPECT_EQ(log.open, 0u);
    EXPECT_LE(log.open_max, 2u);
  }
};

// Cuts the cells into files at borders of rows. Some unwanted files with rows of their own lie between them.
std::vector<TestFile> dealt(const Cells& cells, Random& random) {
  std::vector<TestFile> files;
  const auto add_unwanted = [&](const std::string& row, const std::string& before) {
    if (random.below(3) != 0 || (!before.empty() && row >= before)) return;
    files.push_back(file_of({Cell(row, "f", "q", 5, CellType::kPut, "unwanted")}, false));
  };
  const uint64_t rows_at_most = 1 + random.below(4);
  for (size_t begin = 0; begin < cells.size();) {
    size_t end = begin;
    for (uint64_t rows = 1 + random.below(rows_at_most); rows > 0 && end < cells.size(); --rows) {
      const std::string row = cells[end].row;
      while (end < cells.size() && cells[end].row == row) ++end;
    }
    files.push_back(file_of(Cells(cells.begin() + static_cast<std::ptrdiff_t>(begin),
                                  cells.begin() + static_cast<std::ptrdiff_t>(end))));
    add_unwanted(cells[end - 1].row + std::string(1, '\0'), end < cells.size() ? cells[end].row : "");
    begin = end;
  }
  if (files.empty()) files.push_back(file_of({Cell("m", "f", "q", 5, CellType::kPut, "unwanted")}, false));
  return files;
}

TEST(RunFilesCursor, KeepsTheCursorContract) {
  check_cursor_contract([](const Cells& cells,
                           Random& random) { return std::make_unique<HoldingCursor>(dealt(cells, random)); },
                        test_seed(11), {.rounds = 400});
}

TEST(RunFilesCursor, KeepsItBackward) {
  check_cursor_contract(
      [](const Cells& cells, Random& random) {
        return make_reverse_row_cursor(std::make_unique<HoldingCursor>(dealt(cells, random)));
      },
      test_seed(12), {.reversed = true, .seek_before = false, .rounds = 400});
}

// `count` files of two rows with two cells each: a00, a01 | b00, b01 | ….
std::vector<TestFile> letters(size_t count) {
  std::vector<TestFile> files;
  for (size_t i = 0; i < count; ++i) {
    const std::string letter(1, static_cast<char>('a' + i));
    files.push_back(file_of(parse_cells(letter + "00/f:p/1=1\n" + letter + "00/f:q/1=2\n" + letter +
                                        "01/f:p/1=3\n" + letter + "01/f:q/1=4\n")));
  }
  return files;
}

std::string row_of(const CellView* cell) { return cell == nullptr ? "" : std::string(cell->row()); }

std::string row_after(RunCursor& cursor, const std::string& row) {
  OwnedCell target;
  last_of_row(target, row);
  return row_of(cursor.seek(target.view()));
}
std::string row_at(RunCursor& cursor, const std::string& row) {
  OwnedCell target;
  first_of_row(target, row);
  return row_of(cursor.seek(target.view()));
}
std::string row_before(RunCursor& cursor, const std::string& row) {
  OwnedCell target;
  first_of_row(target, row);
  return row_of(cursor.seek_before(target.view()));
}

using Places = std::vector<size_t>;

TEST(RunFilesCursor, OpensOneFileAfterTheOther) {
  const TestRun run(letters(10));
  CursorLog log;
  const auto cursor = run.cursor(log);
  EXPECT_EQ(log.opened, Places());
  EXPECT_EQ(drain(*cursor).size(), 40u);
  EXPECT_EQ(log.opened, (Places{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(log.asked, log.opened);
  EXPECT_EQ(log.open_max, 2u);
}

TEST(RunFilesCursor, ClosesAFileAtTheSecondMoveAfterItsLastCell) {
  const TestRun run(letters(2));
  CursorLog log;
  const auto cursor = run.cursor(log);
  OwnedCell last;
  last.assign("a01", "f", "q", 1, CellType::kPut, 0);
  const CellView* of_a = cursor->seek(last.view());
  ASSERT_EQ(row_of(of_a), "a01");
  ASSERT_EQ(row_of(cursor->next()), "b00");
  EXPECT_EQ(row_of(of_a), "a01") << "is still the cell before";
  EXPECT_EQ(of_a->value_bytes(), "4");
  EXPECT_EQ(log.open, 2u);
  ASSERT_EQ(row_of(cursor->next()), "b00");
  EXPECT_EQ(log.open, 1u);
  EXPECT_EQ(log.open_max, 2u);
}

TEST(RunFilesCursor, SearchesOpenOneFile) {
  const TestRun run(letters(20));
  const auto opened = [&](const std::function<std::string(RunCursor&)>& move, const std::string& found) {
    CursorLog log;
    const auto cursor = run.cursor(log);
    EXPECT_EQ(move(*cursor), found);
    EXPECT_LE(log.asked.size(), 2u);
    return log.opened;
  };
  EXPECT_EQ(opened([](RunCursor& of) { return row_at(of, "k01"); }, "k01"), Places{10});
  EXPECT_EQ(opened([](RunCursor& of) { return row_at(of, "k02"); }, "l00"), Places{11}) << "in a gap";
  EXPECT_EQ(opened([](RunCursor& of) { return row_at(of, ""); }, "a00"), Places{0});
  EXPECT_EQ(opened([](RunCursor& of) { return row_at(of, "u"); }, ""), Places()) << "after all files";
  EXPECT_EQ(opened([](RunCursor& of) { return row_after(of, "k01"); }, "l00"), (Places{10, 11}));
  EXPECT_EQ(opened([](RunCursor& of) { return row_before(of, "k01"); }, "k00"), Places{10});
  EXPECT_EQ(opened([](RunCursor& of) { return row_before(of, "k02"); }, "k01"), Places{10}) << "in a gap";
  EXPECT_EQ(opened([](RunCursor& of) { return row_before(of, "k00"); }, "j01"), (Places{10, 9}));
  EXPECT_EQ(opened([](RunCursor& of) { return row_before(of, "z"); }, "t01"), Places{19});
  EXPECT_EQ(opened([](RunCursor& of) { return row_before(of, "a"); }, ""), Places());
  EXPECT_EQ(opened(
                [](RunCursor& of) {
                  EXPECT_EQ(row_at(of, "c00"), "c00");
                  OwnedCell target;
                  first_of_row(target, "p00");
                  return row_of(of.skip_to(target.view()));
                },
                "p00"),
            (Places{2, 15}))
      << "a long hop passes over the files between";
}

TEST(RunFilesCursor, AReversedReadOpensEachFileOnce) {
  const TestRun run(letters(10));
  CursorLog log;
  const auto cursor = make_reverse_row_cursor(run.cursor(log));
  OwnedCell from;
  last_of_row(from, "z");
  EXPECT_EQ(drain_from(*cursor, from.view()).size(), 40u);
  EXPECT_EQ(log.opened, (Places{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(log.open_max, 2u);
}

TEST(RunFilesCursor, UnwantedFilesStayClosed) {
  std::vector<TestFile> files = letters(6);
  for (const size_t unwanted : {0, 2, 3, 5}) files[unwanted].wanted = false;
  const TestRun run(std::move(files));
  CursorLog log;
  const auto cursor = run.cursor(log);
  EXPECT_EQ(drain(*cursor).size(), 8u);
  EXPECT_EQ(log.opened, (Places{1, 4}));
  EXPECT_EQ(row_before(*cursor, "e00"), "b01");
  EXPECT_EQ(row_at(*cursor, "c00"), "e00");
  EXPECT_EQ(row_at(*cursor, "f00"), "");
  EXPECT_EQ(row_before(*cursor, "b00"), "");
}

// Returns nothing from now on, whatever is asked.
void expect_stuck(RunCursor& cursor) {
  const std::string status = cursor.status().to_text();
  EXPECT_EQ(cursor.next(), nullptr);
  for (const char* row : {"", "a00", "b01", "c00", "d01", "e"}) {
    EXPECT_EQ(row_at(cursor, row), "");
    EXPECT_EQ(row_before(cursor, row), "");
    EXPECT_EQ(cursor.next(), nullptr);
    OwnedCell target;
    last_of_row(target, row);
    EXPECT_EQ(cursor.skip_to(target.view()), nullptr);
  }
  EXPECT_EQ(cursor.pinned(), nullptr);
  EXPECT_EQ(cursor.status().to_text(), status);
  TextPrinter out;
  cursor.print(out);
  EXPECT_NE(out.text().find("disk"), std::string::npos);
}

TEST(RunFilesCursor, TheErrorOfAFileEndsTheScan) {
  const TestRun run(letters(4));
  for (size_t bad = 0; bad < run.size(); ++bad) {
    for (int moves = 0; moves < 5; ++moves) {
      CursorLog log;
      const auto cursor = run.cursor(log, [&](size_t at, const Cells& cells) {
        return at == bad ? failing_after(cells, moves, Status::io_error("disk")) : vector_cursor(cells);
      });
      EXPECT_EQ(drain(*cursor).size(), 4 * bad + static_cast<size_t>(moves)) << bad << " " << moves;
      EXPECT_TRUE(cursor->status().is(Code::kIoError));
      EXPECT_EQ(log.opened.back(), bad);
      expect_stuck(*cursor);
      EXPECT_EQ(log.opened.back(), bad);
    }
  }
}

TEST(RunFilesCursor, TheErrorOfAFileEndsAllMoves) {
  const TestRun run(letters(5));
  Random random(test_seed(13));
  uint64_t failed = 0;
  for (uint64_t round = 0; round < std::max<uint64_t>(100, scaled(2000)); ++round) {
    const size_t bad = random.below(run.size());
    const int moves_of_bad = static_cast<int>(random.below(6));
    CursorLog log;
    const auto cursor = run.cursor(log, [&](size_t at, const Cells& cells) {
      return at == bad ? failing_after(cells, moves_of_bad, Status::io_error("disk")) : vector_cursor(cells);
    });
    // A cell of the failed file's moves is right, or the cursor has failed.
    const auto check = [&](const std::string& found, const std::string& expected) {
      EXPECT_EQ(found, cursor->status().ok() ? expected : "");
    };
    for (int i = 0; i < 30 && cursor->status().ok(); ++i) {
      const char letter = static_cast<char>('a' + random.below(5));
      const std::string row = std::string(1, letter) + (random.one_in(2) ? "00" : "01");
      switch (random.below(3)) {
        case 0:
          check(row_at(*cursor, row), row);
          break;
        case 1:
          check(row_before(*cursor, row), row == "a00" ? ""
                                          : row.ends_with('1')
                                              ? row.substr(0, 2) + "0"
                                              : std::string(1, static_cast<char>(letter - 1)) + "01");
          break;
        default:
          check(row_after(*cursor, row), row == "e01" ? ""
                                         : row.ends_with('0')
                                             ? row.substr(0, 2) + "1"
                                             : std::string(1, static_cast<char>(letter + 1)) + "00");
      }
    }
    if (cursor->status().ok()) continue;
    ++failed;
    expect_stuck(*cursor);
  }
  EXPECT_GT(failed, scaled(2000) / 8);
}

// Moves after the end return nothing.
TEST(RunFilesCursor, TheEndIsNoError) {
  const TestRun run(letters(3));
  CursorLog log;
  const auto cursor = run.cursor(log);
  EXPECT_EQ(drain(*cursor).size(), 12u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cursor->next(), nullptr);
    EXPECT_EQ(cursor->pinned(), nullptr);
    EXPECT_EQ(cursor->take_cell(), nullptr);
    EXPECT_TRUE(cursor->status().ok());
  }
  EXPECT_EQ(row_at(*cursor, "b00"), "b00");
  EXPECT_NE(cursor->take_cell(), nullptr);
}

}  // namespace
}  // namespace cellar::testing
