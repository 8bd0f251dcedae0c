// Goal: names mean one thing each, CURRENT is exact to the byte, and a directory is taken for what it is.
// Method: round trips; every flipped bit and every cut of CURRENT; directories with each kind of leftover.
#include "engine/log/directory.h"

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "base/memory_file_system.h"
#include "tests/engine/wal_support.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {

namespace {

TEST(DirectoryNames, ComeBackAndNothingElseIsAccepted) {
  uint64_t number = 0;
  for (const uint64_t each : {1ull, 7ull, 999999ull, 1000000ull, 12345678901ull}) {
    ASSERT_TRUE(parse_manifest_name(manifest_name(each), number));
    EXPECT_EQ(number, each);
    ASSERT_TRUE(parse_segment_name(segment_name(each), number));
    EXPECT_EQ(number, each);
    ASSERT_TRUE(parse_store_file_name(kTestIdentity, store_file_name(kTestIdentity, each), number));
    EXPECT_EQ(number, each);
  }
  EXPECT_EQ(manifest_name(3), "MANIFEST-000003");
  EXPECT_EQ(segment_name(7), "0000000007.log");
  EXPECT_EQ(store_file_name(kTestIdentity, 255), "0123456789abcdef00000000000000ff");
  for (const char* bad : {"MANIFEST-", "MANIFEST-3", "MANIFEST-0000003", "MANIFEST-00000x", "manifest-000003",
                          "MANIFEST-99999999999999999999", "MANIFEST-000003.tmp", ""}) {
    EXPECT_FALSE(parse_manifest_name(bad, number)) << bad;
  }
  for (const char* bad :
       {".log", "7.log", "00000000007.log", "0000000007.LOG", "000000000x.log", "0000000007"}) {
    EXPECT_FALSE(parse_segment_name(bad, number)) << bad;
  }
  EXPECT_TRUE(is_store_file_name("0123456789abcdef0123456789abcdef"));
  EXPECT_FALSE(is_store_file_name("0123456789ABCDEF0123456789abcdef"));
  EXPECT_FALSE(is_store_file_name("0123456789abcdef0123456789abcde"));
  EXPECT_FALSE(parse_store_file_name({1, 2}, store_file_name(kTestIdentity, 1), number)) << "another store's";
  EXPECT_TRUE(parse_store_file_name(kTestIdentity, store_file_name(kTestIdentity, kCountMax - 1), number));
  EXPECT_FALSE(parse_store_file_name(kTestIdentity, store_file_name(kTestIdentity, kCountMax), number))
      << "no store comes so far, and the manifest refuses the number";
  Identity identity;
  ASSERT_TRUE(parse_identity(kTestIdentity.hex(), identity));
  EXPECT_EQ(identity, kTestIdentity);
}

TEST(CurrentFile, ComesBackAndEveryBitCounts) {
  const std::string text = to_text(Current{kTestIdentity, 12, 345});
  EXPECT_TRUE(text.starts_with(kStoreMarker));
  const Result<Current> back = parse_current(text);
  ASSERT_TRUE(back.ok()) << back.status().to_text();
  EXPECT_EQ(back->identity, kTestIdentity);
  EXPECT_EQ(back->generation, 12u);
  EXPECT_EQ(back->edit, 345u);
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_TRUE(parse_current(flipped).status().is(Code::kCorruption)) << flipped;
  }
  for (size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(parse_current(text.substr(0, bytes)).ok());
  EXPECT_FALSE(parse_current(text + "\n").ok());
}

TEST(CurrentFile, ANewerFormatIsNotDamage) {
  std::string text = std::string(kStoreMarker) + "format 2\nsomething new\n";
  char crc[16];
  std::snprintf(crc, sizeof crc, "crc %08x\n", crc32c(text));
  EXPECT_TRUE(parse_current(text + crc).status().is(Code::kNotSupported));
  EXPECT_TRUE(parse_current(text + "crc 00000000\n").status().is(Code::kCorruption));
}

StoreKind kind_of(const std::function<void(Directory&)>& fill) {
  auto memory = make_memory_file_system();
  auto root = must_open(*memory, "store");
  fill(*root);
  const Result<StoreProbe> probe = probe_store(*root);
  EXPECT_TRUE(probe.ok()) << probe.status().to_text();
  const Status required = require_store(*root);
  EXPECT_EQ(required.ok(), probe->kind == StoreKind::kStore);
  if (probe->kind == StoreKind::kLost) {
    EXPECT_TRUE(required.is(Code::kCorruption));
  }
  return probe->kind;
}

TEST(Probe, TakesADirectoryForWhatItIs) {
  const auto file = [](const char* name) { return [name](Directory& root) { write_file(root, name, "x"); }; };
  EXPECT_EQ(kind_of([](Directory&) {}), StoreKind::kEmpty);
  EXPECT_EQ(kind_of(file("notes.txt")), StoreKind::kEmpty);
  EXPECT_EQ(kind_of(file("LOCK")), StoreKind::kEmpty);
  EXPECT_EQ(kind_of(file("CURRENT")), StoreKind::kStore);
  EXPECT_EQ(kind_of(file("CURRENT.tmp")), StoreKind::kInterrupted);
  EXPECT_EQ(kind_of(file("MANIFEST-000001")), StoreKind::kInterrupted);
  EXPECT_EQ(kind_of(file("MANIFEST-000002")), StoreKind::kLost);
  EXPECT_EQ(kind_of([](Directory& root) { EXPECT_TRUE(root.directory("wal", true).ok()); }),
            StoreKind::kInterrupted);
  EXPECT_EQ(kind_of([](Directory& root) { write_file(**root.directory("wal", true), segment_name(1), "x"); }),
            StoreKind::kLost);
  EXPECT_EQ(kind_of([](Directory& root) {
              write_file(**open_family_directory(root, 3, "f", true), store_file_name(kTestIdentity, 1), "x");
            }),
            StoreKind::kLost);
}

TEST(StoreFiles, AreListedInOrderAndStrangersApart) {
  auto memory = make_memory_file_system();
  auto root = must_open(*memory, "store");
  std::vector<std::string> strangers;
  EXPECT_TRUE(list_store_files(*root, &strangers)->empty());
  write_file(**open_family_directory(*root, 10, "f", true), store_file_name(kTestIdentity, 2), "12345");
  write_file(**open_family_directory(*root, 10, "f", true), store_file_name(kTestIdentity, 1), "1");
  write_file(**open_family_directory(*root, 2, "g", true), store_file_name({5, 0}, 1), "1");
  write_file(**open_family_directory(*root, 2, "g", true), "readme", "1");
  write_file(**root->directory("tables", false), "stray", "1");
  const Result<std::vector<StoredFile>> files = list_store_files(*root, &strangers);
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 3u);
  EXPECT_EQ(to_text((*files)[0]),
            "tables/2/g/0000000000000005"
            "0000000000000001");
  EXPECT_EQ((*files)[1].name, store_file_name(kTestIdentity, 1));
  EXPECT_EQ((*files)[2].bytes, 5u);
  EXPECT_EQ(strangers, (std::vector<std::string>{"tables/2/g/readme", "tables/stray"}));

  remove_family_directory(*root, 2, "g");  // not empty: stays
  EXPECT_EQ(list_store_files(*root, nullptr)->size(), 3u);
  auto family = std::move(open_family_directory(*root, 2, "g", false)).value();
  for (const DirectoryEntry& entry : *family->list()) EXPECT_TRUE(family->unlink(entry.name).ok());
  remove_family_directory(*root, 2, "g");
  EXPECT_TRUE(remove_table_directories(*root, 2));
  EXPECT_TRUE(open_family_directory(*root, 2, "g", false).status().is(Code::kNotFound));
  EXPECT_FALSE(open_family_directory(*root, 2, "../g", true).ok());
}

TEST(StoreFiles, DirectoriesOfATableAreDurableOnceSynced) {
  CrashFileSystem files;
  auto root = must_open(files, "store");
  for (const char* family : {"f", "g"}) EXPECT_TRUE(open_family_directory(*root, 3, family, true).ok());
  EXPECT_TRUE(root->sync().ok());
  const auto found = [&](const char* family) {
    const auto image = files.image(CrashMode::kLoseUnsynced);
    return open_family_directory(*must_open(*image, "store"), 3, family, false).ok();
  };
  EXPECT_FALSE(found("f"));
  EXPECT_TRUE(sync_table_directory(*root, 3).ok());
  EXPECT_TRUE(found("f") && found("g"));
}

}  // namespace
}  // namespace cellar::testing
