// Goal: `cellar verify` finds in a store every fault that opening it refuses. It tells in plain words how a
// log ends that was not closed. It is quick with holes, and ends soon after a signal. Method: each obstacle
// is put into a sound store, which is then verified, and opened for reading and for writing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "engine/log/wal_format.h"
#include "engine/manifest/manifest.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A loader that has written to the store when it is killed.
constexpr std::string_view kKilledLoader =
    "mkfifo gate; cellar load shop people - --batch 1 --quiet < gate & loader=$!; exec 3> gate; "
    "for i in 1 2 3 4 5; do echo "
    "'{\"row\":\"row'$i'\",\"family\":\"d\",\"qualifier\":\"q\",\"value\":\"v\"}' >&3; done; "
    "for i in $(seq 400); do cellar verify shop --format json 2>/dev/null | "
    "grep -q '\"recovered_cells\": [1-9]' && break; sleep 0.05; done; "
    "kill -9 $loader; exec 3>&-; wait $loader; rm gate";

// Bits 2 and 15 of the mask are SIGINT and SIGTERM.
const std::string kUntilSignalsAreCaught =
    "until grep -Eq 'SigCgt:.*[4567cdef]..[2367abef]$' /proc/$verify/status; do sleep 0.01; done; ";

class StoreCheckTest : public ToolTest {
 protected:
  void make_flushed_shop() const {
    make_shop();
    out_of({"flush", "shop"});
  }
  void make_killed_shop() const {
    make_flushed_shop();
    shell(std::string(kKilledLoader));
  }

  // In the place of `name` a link to it.
  void turn_into_link(const std::string& name) const {
    fs::rename(path(name), path(name + ".real"));
    fs::create_symlink(path(name + ".real"), path(name));
  }

  std::string first_below(const std::string& directory) const {
    std::string first;
    for (const auto& entry : fs::directory_iterator(path(directory)))
      if (first.empty() || entry.path().filename().string() < first) first = entry.path().filename().string();
    return directory + "/" + first;
  }
  std::string family_directory() const { return first_below(first_below("shop/tables")); }
  fs::path next_manifest() const {
    uint64_t newest = 0;
    for (const auto& entry : fs::directory_iterator(path("shop"))) {
      uint64_t generation = 0;
      if (parse_manifest_name(entry.path().filename().string(), generation))
        newest = std::max(newest, generation);
    }
    return path("shop/" + manifest_name(newest + 1));
  }
  std::string last_segment() const {
    std::string last;
    for (const auto& entry : fs::directory_iterator(path("shop/wal")))
      last = std::max(last, entry.path().filename().string());
    return "shop/wal/" + last;
  }

  void set_family_options(const OptionTexts& options) const {
    const std::unique_ptr<Directory> root =
        posix_file_system().open_directory(path("shop").string(), false).value();
    const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
    const std::unique_ptr<Manifest> manifest = Manifest::load(*root, *executor).value();
    ManifestState state = manifest->state();
    state.tables.front().families.front().options = options;
    ASSERT_TRUE(manifest->switch_to(std::move(state)).ok());
  }

  Json store_of(const ToolResult& result) const {
    const Json json = Json::parse(result.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << result.out << result.err;
    return json.is_discarded() || json["stores"].empty() ? Json::object() : json["stores"][0];
  }

  struct Obstacle {
    std::string name;
    std::function<void()> put;
    std::string code;  // of the first finding
  };
  std::vector<Obstacle> obstacles();
};

std::vector<StoreCheckTest::Obstacle> StoreCheckTest::obstacles() {
  return {
      {"CURRENT absent", [&] { fs::remove(path("shop/CURRENT")); }, "V-CURRENT"},
      {"CURRENT is a link", [&] { turn_into_link("shop/CURRENT"); }, "V-CURRENT"},
      {"CURRENT is a directory",
       [&] {
         fs::remove(path("shop/CURRENT"));
         fs::create_directory(path("shop/CURRENT"));
       },
       "V-CURRENT"},
      {"LOCK is a directory",
       [&] {
         fs::remove(path("shop/LOCK"));
         fs::create_directory(path("shop/LOCK"));
       },
       "V-LOCK"},
      {"LOCK is a link", [&] { turn_into_link("shop/LOCK"); }, "V-LOCK"},
      {"CURRENT.tmp is a directory", [&] { fs::create_directory(path("shop/CURRENT.tmp")); }, "V-DIRECTORY"},
      {"the next manifest is a directory", [&] { fs::create_directory(next_manifest()); }, "V-DIRECTORY"},
      {"wal is a link", [&] { turn_into_link("shop/wal"); }, "V-LOG"},
      {"wal is absent", [&] { fs::remove_all(path("shop/wal")); }, "V-LOG"},
      {"a segment is a link", [&] { turn_into_link(last_segment()); }, "V-LOG"},
      {"tables is a link", [&] { turn_into_link("shop/tables"); }, "V-DIRECTORY"},
      {"a table's directory is a link", [&] { turn_into_link(first_below("shop/tables")); }, "V-DIRECTORY"},
      {"a family's directory is a link", [&] { turn_into_link(family_directory()); }, "V-DIRECTORY"},
      {"a family's directory is a file",
       [&] {
         const std::string family = family_directory();
         fs::remove_all(path(family));
         write_file(family, "");
       },
       "V-DIRECTORY"},
      {"a store file is a link", [&] { turn_into_link(first_below(family_directory())); }, "V-MANIFEST"},
      {"a store file is a directory",
       [&] {
         const std::string file = first_below(family_directory());
         fs::remove(path(file));
         fs::create_directory(path(file));
       },
       "V-MANIFEST"},
      {"a store file has lost its end",
       [&] {
         const std::string file = path(first_below(family_directory()));
         fs::resize_file(file, fs::file_size(file) / 2);
       },
       "V-MANIFEST"},
      {"an option has no meaning",
       [&] {
         set_family_options({{"max_versions", "-5"}});
       },
       "V-MANIFEST"},
      {"an option is not known",
       [&] {
         set_family_options({{"colour", "red"}});
       },
       "V-MANIFEST"},
      {"a codec is not known",
       [&] {
         set_family_options({{"compression", "shrink"}});
       },
       "V-MANIFEST"},
      {"a policy is not known",
       [&] {
         set_family_options({{"compaction", "none such"}});
       },
       "V-MANIFEST"},
  };
}

TEST_F(StoreCheckTest, WhatOpeningRefusesIsFound) {
  make_flushed_shop();
  fs::rename(path("shop"), path("sound"));
  for (const Obstacle& obstacle : obstacles()) {
    SCOPED_TRACE(obstacle.name);
    fs::remove_all(path("shop"));
    fs::copy(path("sound"), path("shop"), fs::copy_options::recursive);
    ASSERT_EQ(run({"verify", "shop"}).exit, 0);
    obstacle.put();
    // Verified before it is opened: that may change it.
    const ToolResult verified = run({"verify", "shop", "--level", "quick", "--format", "json"});
    const bool reads = run({"count", "shop", "orders"}).exit == 0;
    const bool writes = run({"put", "shop", "orders", "r", "d:q", "v"}).exit == 0;
    EXPECT_FALSE(reads && writes) << "it is no obstacle";
    EXPECT_EQ(verified.exit, 1) << verified.out << verified.err;
    const Json findings = store_of(verified)["findings"];
    ASSERT_FALSE(findings.empty()) << verified.out;
    EXPECT_EQ(findings[0]["code"], obstacle.code) << findings;
    EXPECT_NE(findings[0]["text"], "");
  }
}

TEST_F(StoreCheckTest, ATornEndIsToldInPlainWords) {
  make_killed_shop();
  const Json before = store_of(run({"verify", "shop", "--format", "json"}))["log"];
  ASSERT_EQ(before["closed"], false);
  EXPECT_EQ(before["torn_bytes"], 0);
  const uint64_t end = before["end_offset"];
  // A segment that was made in advance may follow.
  const std::string name = fmt::format("wal/{:010}.log", before["end_segment"].get<uint64_t>());
  const std::string segment = "shop/" + name;
  ASSERT_TRUE(fs::exists(path(segment)));
  {
    std::fstream file(path(segment), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(end));
    file << "half of a record";
  }
  const ToolResult text = run({"verify", "shop"});
  EXPECT_EQ(text.exit, 0) << "a crash may tear the end: " << text.out;
  const Json torn = store_of(run({"verify", "shop", "--format", "json"}))["log"];
  EXPECT_EQ(torn["torn_bytes"], 16);
  EXPECT_EQ(torn["end_offset"], end);
  EXPECT_EQ(torn["recovered_cells"], before["recovered_cells"]);
  EXPECT_NE(text.out.find(name + ": the last complete record, number " + torn["end_record"].dump()),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find(name + ", from offset " + human_count(end) + " on: 16 bytes"), std::string::npos)
      << text.out;
  const uint64_t cells = torn["recovered_cells"];
  const uint64_t records = torn["recovered_records"];
  const std::string recovery = fmt::format("the next open recovers {} record{} with {} cell{}", records,
                                           records == 1 ? "" : "s", cells, cells == 1 ? "" : "s");
  EXPECT_NE(text.out.find(recovery), std::string::npos) << text.out;
  const std::string counts = out_of({"count", "shop", "people", "--format", "csv"});
  EXPECT_TRUE(counts.ends_with("," + std::to_string(cells) + "\n")) << "none of them was flushed: " << counts;
}

TEST_F(StoreCheckTest, ASparseSegmentOfATerabyteIsNoWork) {
  make_killed_shop();
  const Json before = store_of(run({"verify", "shop", "--format", "json"}))["log"];
  std::error_code error;
  fs::resize_file(path(last_segment()), uint64_t{1} << 40, error);
  if (error) GTEST_SKIP() << "no file of a terabyte here: " << error.message();
  const ToolResult result = shell("timeout 60 cellar verify shop --format json");
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(store_of(result)["log"]["recovered_cells"], before["recovered_cells"]);
}

// In one run of the machine, the system writes the pages of a log in any order, but loses none of them.
TEST_F(StoreCheckTest, AHoleInALogOfThisRunOfTheMachineIsDamage) {
  if (!fs::exists("/proc/sys/kernel/random/boot_id"))
    GTEST_SKIP() << "the system does not tell its runs apart";
  make_killed_shop();
  const Json log = store_of(run({"verify", "shop", "--format", "json"}))["log"];
  ASSERT_GE(log["recovered_cells"].get<int>(), 2);
  const std::string segment = fmt::format("shop/wal/{:010}.log", log["end_segment"].get<uint64_t>());
  {
    std::fstream file(path(segment), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kFileHeaderBytes);
    file << std::string(16, '\0');  // the beginning of the first record
  }
  const ToolResult looked = run({"verify", "shop"});
  EXPECT_EQ(looked.exit, 1) << looked.out;
  EXPECT_NE(looked.out.find("the machine has not been restarted"), std::string::npos) << looked.out;
  const ToolResult written = run({"put", "shop", "people", "later", "d:q", "v"});
  EXPECT_NE(written.exit, 0);
  EXPECT_NE(written.err.find("the machine has not been restarted"), std::string::npos) << written.err;
}

// Thousands of deep looks at one file take longer than the wait before the signal.
TEST_F(StoreCheckTest, ASignalEndsALongVerification) {
  fs::copy_file(example_file("weblog.hfile"), path("weblog.hfile"));
  const std::string verify =
      "cellar verify $(yes weblog.hfile | head -20000) --level deep --jobs 1 > /dev/null";
  make_flushed_shop();
  const std::string verify_store = "cellar verify $(yes shop | head -50000) > /dev/null";
  for (const auto& [line, signal, status] : {std::tuple{verify, "INT", 130},
                                             {verify, "TERM", 143},
                                             {verify_store, "INT", 130},
                                             {verify_store, "TERM", 143}}) {
    const ToolResult result = shell(line + " & verify=$!; " + kUntilSignalsAreCaught + "sleep 0.3; kill -" +
                                    signal + " $verify; wait $verify");
    EXPECT_EQ(result.exit, status) << line << "\n" << result.err;
    EXPECT_NE(result.err.find("CEL-INTERRUPTED"), std::string::npos) << line << "\n" << result.err;
  }
}

}  // namespace
}  // namespace cellar::testing
