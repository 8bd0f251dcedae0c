// Goal: at a terminal, answers are never mixed with progress. No byte of a file, of a name or of a value can
// drive the terminal. Output for programs that goes elsewhere is exact. Method: the real program at a
// pseudo-terminal, whose screen is computed from the bytes that it got.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/bytes.h"
#include "base/text_width.h"
#include "cellar/hfile_builder.h"
#include "engine/manifest/manifest.h"
#include "tests/support/test_scale.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

// The lines of a screen that is wide enough, once all of `bytes` was drawn.
std::string screen_of(const std::string& bytes) {
  std::string screen;
  std::string line;
  size_t column = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\n') {
      screen += line + "\n";
      line.clear();
      column = 0;
    } else if (bytes[i] == '\r') {
      column = 0;
    } else if (bytes.compare(i, 3, "\x1b[K") == 0) {
      line.resize(column, ' ');
      i += 2;
    } else {
      line.resize(std::max(line.size(), column + 1), ' ');
      line[column++] = bytes[i];
    }
  }
  return screen + line;
}

bool drives_a_terminal(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const bool line_end = text[i] == '\n' || (text[i] == '\r' && text.compare(i, 2, "\r\n") == 0);
    if ((byte < 0x20 && !line_end) || byte == 0x7F) return true;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

class Terminal : public ToolTest {
 protected:
  void make_file(const std::string& name, size_t rows, const std::string& value) const {
    HFileBuilder file =
        HFileBuilder::create(posix_file_system(), path(name).string(), HFileBuilderOptions()).value();
    for (size_t i = 0; i < rows; ++i) {
      ASSERT_TRUE(
          file.add(Cell("row" + std::to_string(100000 + i), "f", "q", 5, CellType::kPut, value)).ok());
    }
    ASSERT_TRUE(file.finish().ok());
  }

  void expect_same_answers(const Strings& line) const {
    const std::string answers = out_of(line);
    constexpr int kLongEnoughForProgressMs = 800;
    const std::string screen =
        screen_of(on_terminal(line, {.waiting_ms = kLongEnoughForProgressMs, .columns = 200}));
    ASSERT_GT(answers.size(), 200'000u) << "more than a terminal takes before it is read";
    EXPECT_TRUE(screen.starts_with(answers))
        << line[0] << ": what differs begins with " << *std::ranges::mismatch(screen, answers).in1;
  }
};

TEST_F(Terminal, ProgressIsNotMixedWithAnswers) {
  make_file("rows.hfile", 6000, std::string(50, 'v'));
  expect_same_answers({"dump", "rows.hfile"});
  const std::string rows = out_of({"dump", "rows.hfile", "--format", "jsonl"});
  out_of({"create", "db", "t", "f"});
  out_of({"load", "db", "t", "-", "--quiet"}, rows);
  expect_same_answers({"scan", "db", "t"});
  expect_same_answers({"export", "db", "t", "--to", "jsonl"});
}

TEST_F(Terminal, ProgressIsDrawnAndTakenAway) {
  make_file("rows.hfile", 6000, std::string(50, 'v'));
  const std::string seen = on_terminal({"dump", "rows.hfile", "--format", "raw"}, 800);
  EXPECT_EQ(screen_of(seen).find(" cells"), std::string::npos) << "nothing of it stays";
}

// Work is made long by stopping the program within it: when that is depends on the machine, hence the tries.
class TerminalProgress : public Terminal {
 protected:
  // Returns the first line of this command's progress that holds `part`.
  std::string progress_of(const Strings& line, const std::string& part, unsigned short columns = 100) const {
    std::string seen;
    for (const int after_ms :
         {20, 40, 80, 120, 160, 240, 320, 480, 640, 30, 60, 100, 140, 200, 280, 400, 560, 900}) {
      seen = on_terminal(line, {.columns = columns, .stopped_after_ms = after_ms});
      for (size_t at = 0; (at = seen.find('\r', at)) != std::string::npos;) {
        const size_t end = seen.find("\x1b[K", ++at);
        const std::string drawn = seen.substr(at, end - at);
        if (end != std::string::npos && drawn.find(part) != std::string::npos) return drawn;
      }
    }
    ADD_FAILURE() << line[0] << " has drawn no " << part << ": " << seen;
    return "";
  }
};

TEST_F(TerminalProgress, IsDrawnWhateverAFilterDrops) {
  fs::create_directories(path("bulk/f"));
  const size_t rows = std::clamp<size_t>(scaled(800'000), 300'000, 800'000);
  make_file("bulk/f/rows.hfile", rows, "v");
  const std::string none = "ValueFilter(=, 'binary:none')";
  const Strings total = {" %  ", " left  ", " of " + human_count(rows) + " cells"};
  const auto expect_total = [&](const std::string& drawn) {
    for (const std::string& part : total) EXPECT_NE(drawn.find(part), std::string::npos) << drawn;
  };
  expect_total(progress_of({"dump", "bulk/f/rows.hfile", "--versions", "1", "--grep", "none"}, "dump  "));
  out_of({"create", "db", "t", "f"});
  out_of({"bulkload", "ingest", "bulk", "db", "t", "--level", "cells"});
  for (const char* command : {"scan", "count", "export"})
    expect_total(progress_of({command, "db", "t", "--filter", none}, std::string(command) + "  "));
  const std::string drawn = progress_of({"compact", "db", "t", "--major"}, "compact  ");
  EXPECT_NE(drawn.find("t/f"), std::string::npos) << drawn;
  EXPECT_NE(progress_of({"verify", "bulk/f/rows.hfile", "--level", "deep", "--jobs", "1"}, "verify  "), "");
  const std::string narrow = progress_of({"dump", "bulk/f/rows.hfile", "--grep", "none"}, "dump", 24);
  EXPECT_LE(text_width(narrow), 23u) << narrow;
  EXPECT_EQ(on_terminal({"count", "db", "t", "--quiet"}, {.stopped_after_ms = 100}).find(" left"),
            std::string::npos);
}

TEST_F(Terminal, ValuesDoNotDriveIt) {
  const std::string evil =
      "a\x1b]0;title\x07"
      "b\xC2\x9B"
      "31m\x7F\x9B"
      "c\rd";
  make_file("evil.hfile", 1, evil);
  const std::string shown = "a\\x1B]0;title\\x07b\\xC2\\x9B31m\\x7F\\x9Bc\\x0Dd";
  for (const Strings& how : std::vector<Strings>{{"--as", "utf8"}, {"--decode", "value=utf8"}}) {
    for (const char* format : {"table", "csv", "raw", "json", "jsonl"}) {
      Strings line = {"dump", "evil.hfile", "--format", format};
      line.insert(line.end(), how.begin(), how.end());
      const std::string seen = on_terminal(line);
      EXPECT_FALSE(drives_a_terminal(seen)) << format << ": " << seen;
      if (std::string(format).find("json") == std::string::npos) {
        EXPECT_NE(seen.find(shown), std::string::npos) << format << ": " << seen;
      }
    }
  }
  EXPECT_EQ(out_of({"dump", "evil.hfile", "--format", "raw", "--as", "utf8"}), evil + "\n") << "exact";
  EXPECT_NE(out_of({"dump", "evil.hfile", "--format", "csv", "--as", "utf8"}).find("\x1b]0;title\x07"),
            std::string::npos)
      << "exact";
  const std::string table = out_of({"dump", "evil.hfile", "--as", "utf8"});
  EXPECT_NE(table.find(shown), std::string::npos) << "a table is for people wherever it goes: " << table;
}

// Returns true if a name that contains a newline is printed, and not as two lines.
bool stays_on_its_line(const ToolResult& result) {
  const std::string text = result.out + result.err;
  return text.find("ok  b.hfile") != std::string::npos && text.find("\nok  b.hfile") == std::string::npos;
}

TEST_F(Terminal, NamesDoNotDriveIt) {
  const std::string evil = "a\x1b[31m\xC2\x9B\nok  b.hfile";
  make_file(evil, 3, "v");
  for (const Strings& line : std::vector<Strings>{{"verify", evil},
                                                  {"verify", "."},
                                                  {"inspect", evil},
                                                  {"stats", evil},
                                                  {"dump", evil},
                                                  {"find", "row100000", "."},
                                                  {"verify", evil + "absent"}}) {
    const ToolResult result = run(line);
    EXPECT_FALSE(drives_a_terminal(result.out)) << line[0] << ": " << result.out;
    EXPECT_FALSE(drives_a_terminal(result.err)) << line[0] << ": " << result.err;
    EXPECT_FALSE(drives_a_terminal(on_terminal(line))) << line[0];
  }
  fs::create_directories(path("bulk/f"));
  fs::copy_file(path(evil), path("bulk/f/" + evil));
  fs::copy_file(path(evil), path("bulk/" + evil));
  for (const Strings& line : std::vector<Strings>{{"verify", evil}, {"bulkload", "check", "bulk"}})
    EXPECT_TRUE(stays_on_its_line(run(line))) << line[0];
  EXPECT_FALSE(drives_a_terminal(on_terminal({"bulkload", "check", "bulk"})));
  fs::create_directories(path(evil + ".d/f"));
  EXPECT_TRUE(stays_on_its_line(run({"bulkload", "ingest", evil + ".d", "none", "t"})));
  fs::copy_file(path(evil), path(evil + ".d/f/sound.hfile"));
  EXPECT_TRUE(stays_on_its_line(run({"bulkload", "check", evil + ".d"})));
  fs::copy_file(path(evil), path("\xFF\xFE.hfile"));
  const ToolResult json = run({"verify", "\xFF\xFE.hfile", "--format", "json"});
  EXPECT_EQ(json.exit, 0) << json.err;
  EXPECT_FALSE(nlohmann::json::parse(json.out, nullptr, false).is_discarded()) << json.out;
}

TEST_F(Terminal, NamesInAForgedManifestDoNotDriveIt) {
  const std::unique_ptr<Directory> root = posix_file_system().open_directory(path("forged"), true).value();
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
  ManifestState state;
  state.identity = {1, 2};
  state.tables.push_back({.id = 1, .name = "evil\x1b[31m\x07", .families = {{.id = 1, .name = "f"}}});
  state.next_table_id = state.next_family_id = 2;
  ASSERT_TRUE(Manifest::create(*root, *executor, state).ok());
  for (const Strings& line : std::vector<Strings>{{"list", "forged"},
                                                  {"list", "forged", "--format", "csv"},
                                                  {"describe", "forged"},
                                                  {"describe", "forged", "--as", "create"},
                                                  {"verify", "forged"},
                                                  {"count", "forged", "none"}}) {
    const std::string seen = on_terminal(line);
    EXPECT_FALSE(drives_a_terminal(seen)) << line[0] << ": " << seen;
    EXPECT_NE(seen, "");
    EXPECT_FALSE(drives_a_terminal(run(line).err)) << line[0];
  }
}

}  // namespace
}  // namespace cellar::testing
