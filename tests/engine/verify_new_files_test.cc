// Goal: with verify_new_files, a new store file whose content differs from the written cells does not count,
// though each of its checksums is right. Method: two engines write files of the same shape with other values.
// When the second one opens its new file, the file system has put the first one's bytes into it.
#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/memory_file_system.h"
#include "cellar/cellar.h"
#include "engine/store/file_copy.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_clock.h"

namespace cellar::testing {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;  // names and contents

class VerifyNewFiles : public ::testing::Test {
 protected:
  // An engine with one row of this value in memory. Equal seeds and clocks: names and times of files agree.
  std::unique_ptr<Engine> engine_with(FileSystem& files, const std::string& value, bool verify) {
    EngineOptions options;
    options.create_if_missing = true;
    options.automatic_flush = false;  // a flush that fails is not tried again
    options.verify_new_files = verify;
    options.environment.files = &files;
    options.environment.clock = &clock_;
    options.environment.seed = 5;
    auto engine = Engine::open("store", options).value();
    FamilyOptions family;
    family.name = "f";
    auto table = engine->create_table("t", {.families = {family}}).value();
    EXPECT_TRUE(table->put(Put("row").add_at("f", "q", 1, value)).ok());
    return engine;
  }

  static std::unique_ptr<Directory> family_directory(FileSystem& files) {
    auto root = files.open_directory("store", false).value();
    return root->directory("tables", false)
        .value()
        ->directory("1", false)
        .value()
        ->directory("f", false)
        .value();
  }

  static Files files_of(FileSystem& files) {
    Files found;
    const auto directory = family_directory(files);
    for (const DirectoryEntry& entry : directory->list().value()) {
      const auto file = directory->open(entry.name).value();
      std::string bytes(file->size(), '\0');
      EXPECT_TRUE(file->read(0, bytes.size(), bytes.data()).ok());
      found.emplace_back(entry.name, std::move(bytes));
    }
    return found;
  }

  enum class Exchange : uint8_t { kFile, kBlock };

  // Puts the other files, or their first blocks, in the place of the store's own.
  static void put_in_place(FileSystem& files, const Files& others, Exchange what) {
    const auto directory = family_directory(files);
    const Files own = files_of(files);
    for (size_t i = 0; i < others.size(); ++i) {
      const std::string& name = others[i].first;
      std::string bytes = others[i].second;
      if (what == Exchange::kBlock) {
        constexpr size_t kHeaderBytes = 33;
        const size_t block = kHeaderBytes + load_be32(bytes.data() + 8);
        ASSERT_EQ(own[i].second.size(), bytes.size());
        bytes = bytes.substr(0, block) + own[i].second.substr(block);
      }
      ASSERT_TRUE(directory->unlink(name).ok());
      const auto file = directory->create(name, {}).value();
      ASSERT_TRUE(file->append(bytes).ok());
      ASSERT_TRUE(file->close().ok());
    }
  }

  static std::string value_in(Engine& engine) {
    const auto row = engine.open_table("t").value()->get(Get("row"));
    return row.ok() && !row->empty() ? std::string(row->row().cells().front().value_bytes()) : "nothing";
  }

  // Flushes "mine" while the file system puts the file of "oops", or its block, in its place.
  Status flush_into_another_file(bool verify, Exchange what) {
    const std::unique_ptr<FileSystem> first = make_memory_file_system();
    auto other = engine_with(*first, "oops", verify);
    EXPECT_TRUE(other->flush().ok());
    const Files others = files_of(*first);
    EXPECT_EQ(others.size(), 1u);
    other.reset();

    engine_ = engine_with(files_, "mine", verify);
    bool placed = false;
    files_.before_each([&](const FileCall& call) {
      if (placed || call.operation != FileOperation::kOpen || !call.name.starts_with("tables/")) return;
      placed = true;
      put_in_place(*memory_, others, what);
    });
    const Status flushed = engine_->flush();
    EXPECT_TRUE(placed);
    files_.before_each(nullptr);
    return flushed;
  }

  Status remove_store() {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Directory> root, memory_->open_directory("", false));
    return remove_tree(*root, "store");
  }

  ManualClock clock_;
  const std::unique_ptr<FileSystem> memory_ = make_memory_file_system();
  FaultFileSystem files_{*memory_};
  std::unique_ptr<Engine> engine_;
};

TEST_F(VerifyNewFiles, RefusesABlockWithOtherValues) {
  const Status flushed = flush_into_another_file(true, Exchange::kBlock);
  EXPECT_TRUE(flushed.is(Code::kCorruption)) << flushed.to_text();
  EXPECT_NE(flushed.to_text().find("not the one that was written at this offset"), std::string::npos)
      << flushed.to_text();
  EXPECT_EQ(value_in(*engine_), "mine") << "it is still in memory, and in the log";
  EXPECT_TRUE(engine_->flush().ok());
  EXPECT_EQ(value_in(*engine_), "mine") << "in a file of its own";
}

TEST_F(VerifyNewFiles, WithoutItReadsRefuseTheBlock) {
  EXPECT_TRUE(flush_into_another_file(false, Exchange::kBlock).ok());
  const Status read = engine_->open_table("t").value()->get(Get("row")).status();
  EXPECT_TRUE(read.is(Code::kCorruption)) << read.to_text();
}

TEST_F(VerifyNewFiles, AnotherFileIsRefusedInAnyCase) {
  for (const bool verify : {false, true}) {
    const Status flushed = flush_into_another_file(verify, Exchange::kFile);
    EXPECT_TRUE(flushed.is(Code::kCorruption)) << flushed.to_text();
    EXPECT_NE(flushed.to_text().find("it is another file"), std::string::npos) << flushed.to_text();
    EXPECT_EQ(value_in(*engine_), "mine");
    engine_.reset();
    ASSERT_TRUE(remove_store().ok());
  }
}

}  // namespace
}  // namespace cellar::testing
