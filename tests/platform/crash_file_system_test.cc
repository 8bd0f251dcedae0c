// Goal: an image holds what the mode promises, no more and no less, at every operation of a workload.
#include "tests/support/crash_file_system.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/fault_file_system.h"

namespace cellar::testing {

namespace {

std::string read_all(FileSystem& files, const std::string& path) {
  auto file = files.open_file(path);
  if (!file.ok()) return std::string(code_name(file.status().code()));
  std::string bytes((*file)->size(), '?');
  EXPECT_TRUE((*file)->read(0, bytes.size(), bytes.data()).ok());
  return bytes;
}

std::unique_ptr<Directory> open(FileSystem& files, const std::string& path = "/s") {
  return std::move(files.open_directory(path, true)).value();
}

std::unique_ptr<WritableFile> create(Directory& directory, const std::string& name,
                                     uint64_t mapped_bytes = 0) {
  return std::move(directory.create(name, mapped_bytes)).value();
}

// Puts `bytes` under `name` as a careful program does: a temporary file, synced, renamed, the directory
// synced.
Status replace(Directory& directory, std::string_view name, std::string_view bytes) {
  CELLAR_TRY_ASSIGN(auto file, directory.create("temporary", {}));
  CELLAR_TRY(file->append(bytes));
  CELLAR_TRY(file->sync());
  CELLAR_TRY(file->close());
  CELLAR_TRY(directory.rename("temporary", name));
  return directory.sync();
}

}  // namespace

TEST(CrashFileSystem, BytesAreDurableOnceSynced) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "f");
  ASSERT_TRUE(top->sync().ok());
  ASSERT_TRUE(file->append("synced ").ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->append("unsynced").ok());
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/f"), "synced ");
  EXPECT_EQ(read_all(*files.image(CrashMode::kKeepAll), "/s/f"), "synced unsynced");
  EXPECT_EQ(read_all(*files.image(CrashMode::kProcessKilled), "/s/f"), "synced unsynced");
  EXPECT_EQ(read_all(*files.image(CrashMode::kZeroTail), "/s/f"), "synced " + std::string(8, '\0'));
  EXPECT_EQ(read_all(*files.image(CrashMode::kTornTail), "/s/f"), "synced ");
  std::set<std::string> prefixes;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    prefixes.insert(read_all(*files.image(CrashMode::kPrefix, seed), "/s/f"));
  }
  EXPECT_EQ(prefixes.size(), 9U) << "every length from 7 to 15";
  for (const std::string& each : prefixes)
    EXPECT_TRUE(std::string("synced unsynced").starts_with(each)) << each;
}

TEST(CrashFileSystem, NamesAreDurableOnceTheDirectoryIsSynced) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "f");
  ASSERT_TRUE(file->append("x").ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/f"), "not_found");
  EXPECT_EQ(read_all(*files.image(CrashMode::kProcessKilled), "/s/f"), "x");
  ASSERT_TRUE(top->sync().ok());
  ASSERT_TRUE(top->rename("f", "g").ok());
  EXPECT_EQ(list_tree(*files.image(CrashMode::kLoseUnsynced)),
            list_tree(*files.image(CrashMode::kLoseUnsynced, 2)));
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/f"), "x");
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/g"), "not_found");
  ASSERT_TRUE(top->sync().ok());
  ASSERT_TRUE(top->unlink("g").ok());
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/g"), "x")
      << "its removal is not durable yet";
  EXPECT_EQ(read_all(*files.image(CrashMode::kKeepAll), "/s/g"), "not_found");
}

TEST(CrashFileSystem, ANewDirectoryIsLostWithAllInIt) {
  CrashFileSystem files;
  auto top = open(files);
  auto sub = std::move(top->directory("sub", true)).value();
  ASSERT_TRUE(replace(*sub, "f", "x").ok());
  EXPECT_EQ(list_tree(*files.image(CrashMode::kLoseUnsynced)), "/s/\n");
  ASSERT_TRUE(top->sync().ok());
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/sub/f"), "x");
  ASSERT_TRUE(sub->unlink("f").ok());
  ASSERT_TRUE(top->remove_directory("sub").ok());
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/sub/f"), "x");
}

TEST(CrashFileSystem, LinkedNamesShareTheirBytes) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "a");
  ASSERT_TRUE(file->append("0123456789").ok());
  ASSERT_TRUE(top->link("a", *top, "b").ok());
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto image = files.image(CrashMode::kRandomUnsynced, seed);
    const std::string a = read_all(*image, "/s/a");
    const std::string b = read_all(*image, "/s/b");
    EXPECT_TRUE(a == b || a == "not_found" || b == "not_found");
  }
}

TEST(CrashFileSystem, SectorsAreOldNewOrZero) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "f");
  ASSERT_TRUE(top->sync().ok());
  const std::string first(700, 'a');
  const std::string second(2000, 'b');
  ASSERT_TRUE(file->append(first).ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->append(second).ok());
  std::set<std::string> shapes;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string bytes = read_all(*files.image(CrashMode::kRandomSectors, seed), "/s/f");
    ASSERT_GE(bytes.size(), 700U);
    ASSERT_LE(bytes.size(), 2700U);
    EXPECT_EQ(bytes.substr(0, 700), first) << "what was synced is never touched";
    std::string shape = std::to_string(bytes.size() == 2700) + ":";
    for (size_t at = 700; at < bytes.size();) {
      const size_t end = std::min((at / 512 + 1) * 512, bytes.size());
      const std::string sector = bytes.substr(at, end - at);
      EXPECT_TRUE(sector == std::string(sector.size(), 'b') || sector == std::string(sector.size(), '\0'));
      shape.push_back(sector[0] == 'b' ? 'n' : '0');
      at = end;
    }
    shapes.insert(shape);
  }
  EXPECT_GT(shapes.size(), 20U);
  EXPECT_TRUE(shapes.contains("1:nnnnn"));
  EXPECT_TRUE(shapes.contains("1:n0nnn")) << "one hole in what else arrived whole";
  EXPECT_TRUE(shapes.contains("0:"));
}

TEST(CrashFileSystem, TornTailsEndAtSectors) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "f");
  ASSERT_TRUE(file->append(std::string(100, 'a')).ok());
  ASSERT_TRUE(file->append(std::string(1000, 'b')).ok());
  std::set<size_t> sizes;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    sizes.insert(read_all(*files.image(CrashMode::kTornTail, seed), "/s/f").size());
  }
  EXPECT_EQ(sizes, (std::set<size_t>{100, 512, 1024}));
}

TEST(CrashFileSystem, EntriesInOrderOrAsAnySubset) {
  CrashFileSystem files;
  auto top = open(files);
  ASSERT_TRUE(top->sync().ok());
  for (const char* name : {"1", "2", "3"}) (void)create(*top, name);
  const auto names = [&](CrashMode mode, uint64_t seed) {
    std::string text;
    const auto image = files.image(mode, seed);
    for (const DirectoryEntry& entry : *open(*image)->list()) text += entry.name;
    return text;
  };
  std::set<std::string> prefixes, subsets;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    prefixes.insert(names(CrashMode::kPrefix, seed));
    subsets.insert(names(CrashMode::kRandomUnsynced, seed));
  }
  EXPECT_EQ(prefixes, (std::set<std::string>{"", "1", "12", "123"}));
  EXPECT_EQ(subsets.size(), 8U);
}

TEST(CrashFileSystem, MappedFilesKeepTheirLengthWhenAProcessDies) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "m", 4096);
  ASSERT_TRUE(top->sync().ok());
  ASSERT_TRUE(file->append("12345678").ok());
  const std::string zeros(4088, '\0');
  EXPECT_EQ(read_all(*files.image(CrashMode::kProcessKilled), "/s/m"), "12345678" + zeros);
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/m"), "") << "not even its length was synced";
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/m"), "12345678" + zeros);
  ASSERT_TRUE(file->close().ok());
  EXPECT_EQ(read_all(*files.image(CrashMode::kProcessKilled), "/s/m"), "12345678");
  EXPECT_EQ(read_all(*files.image(CrashMode::kLoseUnsynced), "/s/m"), "12345678" + zeros)
      << "the cut is not synced";
}

TEST(CrashFileSystem, AMappedAppendUnderWayIsTornWithItsFirstWordLast) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "m", 4096);
  ASSERT_TRUE(file->append("header..").ok());
  files.stop_at(files.operations() + 1);
  EXPECT_EQ(file->append("aaaaaaaabbbbbbbbccccccccdddddddd").to_text(), "io_error: crashed");
  EXPECT_TRUE(files.crashed());
  EXPECT_EQ(files.last_append_bytes(), 32U);
  std::set<std::string> shapes;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const std::string bytes = read_all(*files.image(CrashMode::kProcessKilled, seed), "/s/m");
    EXPECT_EQ(bytes.size(), 4096U);
    EXPECT_EQ(bytes.substr(0, 8), "header..");
    EXPECT_EQ(bytes.substr(40), std::string(4096 - 40, '\0'));
    std::string shape;
    for (size_t word = 0; word < 4; ++word)
      shape.push_back(bytes[8 + word * 8] == '\0' ? '0' : bytes[8 + word * 8]);
    shapes.insert(shape);
  }
  EXPECT_EQ(shapes,
            (std::set<std::string>{"0000", "0b00", "00c0", "000d", "0bc0", "0b0d", "00cd", "0bcd", "abcd"}));
  EXPECT_EQ(read_all(*files.image(CrashMode::kKeepAll), "/s/m").substr(8), std::string(4088, '\0'));
}

TEST(CrashFileSystem, TheLastAppendCanBeCutAnywhere) {
  CrashFileSystem files;
  auto top = open(files);
  auto plain = create(*top, "p");
  ASSERT_TRUE(plain->append("first ").ok());
  ASSERT_TRUE(plain->append("second").ok());
  for (uint64_t bytes = 0; bytes <= 6; ++bytes) {
    const auto image = files.image({.mode = CrashMode::kProcessKilled, .last_append_bytes = bytes});
    EXPECT_EQ(read_all(*image, "/s/p"), std::string("first second").substr(0, 6 + bytes));
  }
  auto mapped = create(*top, "m", 64);
  ASSERT_TRUE(mapped->append("aaaaaaaabbbbbbbbcccccccc").ok());
  const auto words =
      files.image({.mode = CrashMode::kKeepAll, .last_append_words = std::vector<bool>{true, false, true}});
  EXPECT_EQ(read_all(*words, "/s/m"), "aaaaaaaa" + std::string(8, '\0') + "cccccccc" + std::string(40, '\0'));
  const auto bytes = files.image({.mode = CrashMode::kKeepAll, .last_append_bytes = 11});
  EXPECT_EQ(read_all(*bytes, "/s/m"), "aaaaaaaabbb" + std::string(53, '\0'));
}

TEST(CrashFileSystem, AStoppedPlainAppendHappensInPart) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "p");
  files.stop_at(files.operations() + 1, 3);
  EXPECT_FALSE(file->append("abcdef").ok());
  EXPECT_EQ(read_all(*files.image(CrashMode::kProcessKilled), "/s/p"), "abc");
  EXPECT_EQ(read_all(*files.image(CrashMode::kKeepAll), "/s/p"), "abc");
}

TEST(CrashFileSystem, AfterTheCrashNothingWorks) {
  CrashFileSystem files;
  auto top = open(files);
  auto file = create(*top, "f");
  ASSERT_TRUE(file->append("x").ok());
  auto reader = std::move(top->open("f")).value();
  files.crash();
  char into[1];
  EXPECT_EQ(reader->read(0, 1, into).to_text(), "io_error: crashed");
  EXPECT_EQ(file->append("y").to_text(), "io_error: crashed");
  EXPECT_EQ(file->sync().to_text(), "io_error: crashed");
  EXPECT_EQ(file->close().to_text(), "io_error: crashed");
  EXPECT_FALSE(top->create("g", {}).ok());
  EXPECT_FALSE(top->open("f").ok());
  EXPECT_FALSE(top->list().ok());
  EXPECT_FALSE(top->rename("f", "g").ok());
  EXPECT_FALSE(top->unlink("f").ok());
  EXPECT_FALSE(top->sync().ok());
  EXPECT_FALSE(top->lock("L").ok());
  EXPECT_FALSE(top->directory("d", true).ok());
  EXPECT_FALSE(files.open_directory("/s", false).ok());
  file.reset();
  EXPECT_TRUE(list_tree(*files.image(CrashMode::kProcessKilled)).starts_with("/s/\n/s/f 1 bytes "));
}

// The sweep that engine tests do, on the smallest protocol there is. Whenever the crash, the name holds the
// old bytes or the new ones. It holds the new ones once the call that put them there had returned.
TEST(CrashFileSystem, ACarefulReplacementSurvivesEveryCrash) {
  const std::string old_bytes(700, 'o');
  const std::string new_bytes(900, 'n');
  const auto run = [&](CrashFileSystem& files) {
    auto top = files.open_directory("/s", true);
    if (!top.ok() || !replace(**top, "current", old_bytes).ok()) return 0;
    return replace(**top, "current", new_bytes).ok() ? 2 : 1;
  };
  CrashFileSystem whole;
  ASSERT_EQ(run(whole), 2);
  EXPECT_EQ(whole.operation_text(2), "2: create /s/temporary");
  EXPECT_EQ(whole.operations(), 13U);
  for (uint64_t k = 1; k <= whole.operations() + 1; ++k) {
    CrashFileSystem files;
    files.stop_at(k);
    const int done = run(files);
    for (const CrashMode mode : all_crash_modes()) {
      for (uint64_t seed = 1; seed <= 10; ++seed) {
        const std::string found = read_all(*files.image(mode, seed), "/s/current");
        const int state = found == new_bytes ? 2 : found == old_bytes ? 1 : found == "not_found" ? 0 : -1;
        EXPECT_GE(state, done) << "stopped at " << whole.operation_text(k) << ", " << crash_mode_name(mode)
                               << ", seed " << seed;
      }
    }
  }
}

TEST(CrashFileSystem, ASwallowedSyncIsFoundOut) {
  int damaged = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    CrashFileSystem medium;
    FaultFileSystem files(medium);
    files.swallow(FileOperation::kSync, "*");
    ASSERT_TRUE(replace(*open(files), "current", std::string(900, 'n')).ok());
    const std::string found = read_all(*medium.image(CrashMode::kRandomUnsynced, seed), "/s/current");
    if (found != std::string(900, 'n')) ++damaged;
  }
  EXPECT_GT(damaged, 20);
}

TEST(CrashFileSystem, ImagesRepeatAndCanCrashAgain) {
  CrashFileSystem files;
  auto top = open(files);
  auto sub = std::move(top->directory("sub", true)).value();
  auto file = create(*sub, "f", 4096);
  ASSERT_TRUE(file->append(std::string(2000, 'x')).ok());
  (void)create(*top, "g");
  for (const CrashMode mode : all_crash_modes()) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const auto image = files.image(mode, seed);
      const auto again = files.crash_image({.mode = mode, .seed = seed});
      EXPECT_EQ(list_tree(*image), list_tree(*again)) << crash_mode_name(mode);
      EXPECT_EQ(again->operations(), 0U);
      EXPECT_EQ(list_tree(*again->image(CrashMode::kLoseUnsynced)), list_tree(*image))
          << "all of it is durable";
    }
  }
  const auto second = files.crash_image({.mode = CrashMode::kKeepAll});
  second->stop_at(2);
  auto reopened = open(*second);
  EXPECT_TRUE(reopened->create("h", {}).ok());
  EXPECT_FALSE(reopened->sync().ok());
  EXPECT_EQ(read_all(*second->image(CrashMode::kLoseUnsynced), "/s/h"), "not_found");
  EXPECT_EQ(power_loss_modes().size() + 1, all_crash_modes().size());
}

}  // namespace cellar::testing
