// Goal: no file makes a command crash, take more than 256 MiB, print raw control bytes, or end with a status
// that is not documented. Method: blocks of every codec that inflate to what is allowed and beyond; small
// files with changed bytes; what is no file at all.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/random.h"
#include "cellar/hfile_builder.h"
#include "tests/support/address_space.h"
#include "tests/support/test_scale.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

constexpr uint64_t kMemoryKib = 256 << 10;

class Hostile : public ToolTest {
 protected:
  // Every command that looks at files.
  static std::vector<Strings> lines_for(const std::string& name) {
    return {
        {"inspect", name, "--all"},
        {"inspect", name, "--block", "0", "--cells"},
        {"verify", name, "--level", "deep"},
        {"dump", name},
        {"dump", name, "--format", "jsonl"},
        {"dump", name, "--format", "csv"},
        {"stats", name},
        {"find", "row1", name},
        {"diff", name, name},
        {"rewrite", name, "-o", "out/rewritten"},
        {"filter", name, "-o", "out/filtered"},
        {"merge", name, name, "-o", "out/merged"},
        {"split", name, "-o", "out", "--parts", "2"},
        {"salvage", name, "-o", "out/saved"},
    };
  }

  void fresh_out() const {
    fs::remove_all(path("out"));
    fs::create_directory(path("out"));
  }

  static void expect_documented(const ToolResult& result, const std::string& what) {
    static const std::set<int> kDocumented = {0, 1, 2, 3, 4};
    EXPECT_TRUE(kDocumented.contains(result.exit)) << what << " ended with " << result.exit << "\n"
                                                   << result.err.substr(0, 500);
  }

  void look_with_all(const std::string& name) {
    fresh_out();
    for (const Strings& line : lines_for(name)) {
      const ToolResult result = run(line);
      expect_documented(result, line[0]);
      for (const std::string& text : {result.out, result.err}) {
        const bool raw =
            std::ranges::any_of(text, [](char c) { return static_cast<uint8_t>(c) < 0x20 && c != '\n'; });
        EXPECT_FALSE(raw) << line[0] << " prints control bytes";
      }
    }
  }

  // Nothing that is printed is read: the memory of this process counts into what is measured.
  void measure_all(const std::string& name) {
    fresh_out();
    for (const Strings& line : lines_for(name)) {
      std::string words;
      for (const std::string& word : line) words += word + " ";
      const ToolResult result = shell("cellar " + words + "> /dev/null 2>&1");
      expect_documented(result, words);
      if (!kSanitized) {
        EXPECT_LE(result.memory_kib, kMemoryKib) << words;
      }
    }
  }

  void build(const std::string& name, const HFileBuilderOptions& options, size_t value_bytes) const {
    HFileBuilder file = HFileBuilder::create(posix_file_system(), path(name).string(), options).value();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(file.add(Cell("row" + std::to_string(i), "f", "\x1b[31mq", 5, CellType::kPut,
                                std::string(value_bytes, '\x1b')))
                      .ok());
    }
    ASSERT_TRUE(file.finish().ok());
  }
};

TEST_F(Hostile, BlocksThatInflate) {
  constexpr size_t kAllowed = (16 << 20) - 100;
  size_t files = 0;
  for (const char* codec : {"none", "zstd", "gz", "snappy", "lz4", "bzip2", "lzma", "brotli"}) {
    for (const char* encoding : {"none", "fast_diff"}) {
      HFileBuilderOptions options;
      options.compression = codec;
      options.encoding = encoding;
      options.cell_bytes_max = 100 << 20;
      if (!HFileBuilder::create(posix_file_system(), path("probe").string(), options).ok()) continue;
      SCOPED_TRACE(std::string(codec) + " " + encoding);
      if (test_scale() <= 1 && ++files > 4) break;
      build("largest", options, kAllowed);
      EXPECT_EQ(run({"verify", "largest"}).exit, 0);
      measure_all("largest");
      build("too_large", options, kAllowed + 200);
      const ToolResult refused = run({"dump", "too_large"});
      EXPECT_EQ(refused.exit, 1);
      EXPECT_NE(refused.err.find("cellar help limits"), std::string::npos) << refused.err;
      fs::remove(path("largest"));
      fs::remove(path("too_large"));
    }
  }
  EXPECT_EQ(shell("CELLAR_MAX_BLOCK=32m cellar version").exit, 0);
  EXPECT_EQ(shell("CELLAR_MAX_BLOCK=many cellar version").exit, 2);
}

TEST_F(Hostile, TheLimitCanBeRaised) {
  HFileBuilderOptions options;
  options.compression = "gz";
  options.cell_bytes_max = 100 << 20;
  build("large", options, 20 << 20);
  EXPECT_EQ(run({"verify", "large"}).exit, 1);
  EXPECT_EQ(shell("CELLAR_MAX_BLOCK=32m cellar verify large").exit, 0);
}

TEST_F(Hostile, SmallFilesWithChangedBytes) {
  HFileBuilderOptions options;
  options.compression = "snappy";
  options.encoding = "diff";
  options.trailer_sums = false;
  build("small", options, 50);
  const std::string sound = read_file("small");
  Random random(from_environment("CELLAR_SEED", 9));
  for (uint64_t i = 0; i < scaled(25); ++i) {
    std::string bytes = sound;
    for (uint64_t changes = 1 + random.below(6); changes > 0; --changes)
      bytes[random.below(random.one_in(2) ? bytes.size() : 700)] = static_cast<char>(random.below(256));
    if (random.one_in(4)) bytes.resize(random.below(bytes.size()));
    write_file("changed", bytes);
    SCOPED_TRACE("change " + std::to_string(i));
    look_with_all("changed");
  }
}

TEST_F(Hostile, WhatIsNoFile) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_symlink("loop", path("loop"));
  fs::create_directory(path("empty"));
  write_file("nothing", "");
  write_file("sparse", "");
  fs::resize_file(path("sparse"), uint64_t{256} << 20);
  for (const char* name : {"loop", "empty", "nothing", "sparse", "/dev/null", "/dev/zero", "absent"}) {
    SCOPED_TRACE(name);
    look_with_all(name);
    EXPECT_EQ(run({"verify", name}).exit, 3);
  }
  EXPECT_EQ(shell("timeout 20 cellar verify fifo").exit, 3);
}

}  // namespace
}  // namespace cellar::testing
