// Goal: `cellar verify` says the same with any number of threads, in every form, and looks at stores that
// others have open. Method: the files of the repository, sound and damaged, through the real program; stores
// with one thing wrong; a JUnit report read by another parser.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/coding.h"
#include "base/random.h"
#include "cellar/environment.h"
#include "cellar/hfile_builder.h"
#include "engine/manifest/manifest.h"
#include "tests/support/address_space.h"
#include "tests/tools/tool_runner.h"
#include "tools/hbase/hfile_paths.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

// A loader that has the store open and waits for more input.
constexpr std::string_view kHoldShop =
    "mkfifo gate; cellar load shop people - --quiet < gate & loader=$!; exec 3> gate; "
    "echo '{\"row\":\"r\",\"family\":\"d\",\"qualifier\":\"q\",\"value\":\"v\"}' >&3; "
    "for i in $(seq 400); do ls -l /proc/$loader/fd 2>/dev/null | grep -q /shop/wal/.*log && break; sleep "
    "0.05; "
    "done; ";
constexpr std::string_view kLetGo = "; status=$?; exec 3>&-; wait $loader || exit 99; exit $status";

class Verify : public ToolTest {
 protected:
  // Every HFile of the repository, sound or not.
  static Strings all_files() {
    Strings files;
    for (const char* folder : {"/tests/data/hfile", "/tests/data/golden", "/examples/data"}) {
      for (const auto& entry : fs::recursive_directory_iterator(std::string(CELLAR_SOURCE_DIR) + folder))
        if (entry.path().extension() == ".hfile") files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
  }

  // The document, without what a clock says.
  static Json timeless(const std::string& text) {
    Json json = Json::parse(text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << text.substr(0, 200);
    for (Json& file : json["files"]) file.erase("micros");
    return json;
  }

  void make_file(const std::string& name, size_t cells, size_t value_bytes) const {
    HFileBuilderOptions options;
    Result<HFileBuilder> builder = HFileBuilder::create(posix_file_system(), path(name).string(), options);
    ASSERT_TRUE(builder.ok()) << builder.status().to_text();
    Random random(3);
    std::string value(value_bytes, '\0');
    for (size_t i = 0; i < cells; ++i) {
      for (size_t at = 0; at + 8 <= value.size(); at += 8) store_le64(value.data() + at, random.next());
      ASSERT_TRUE(
          builder->add(Cell("row" + std::to_string(1000000 + i), "f", "q", 5, CellType::kPut, value)).ok());
    }
    ASSERT_TRUE(builder->finish().ok());
  }

  // Returns the path of a file of the flushed shop.
  std::string a_store_file() const {
    const Json files = json_of({"verify", "shop"})["files"];
    return files.at(0)["path"];
  }

  std::string code_of_fault() const {
    const ToolResult result = run({"verify", "shop", "--format", "json"});
    EXPECT_EQ(result.exit, 1) << result.out << result.err;
    const Json findings = Json::parse(result.out)["stores"][0]["findings"];
    return findings.empty() ? "" : findings[0]["code"].get<std::string>();
  }
};

TEST_F(Verify, TheReportDoesNotDependOnTheThreads) {
  Strings words = all_files();
  ASSERT_GE(words.size(), 60u);
  words.insert(words.begin(), "verify");
  words.insert(words.end(), {"--format", "json", "--level", "deep", "--max-errors", "1000"});
  std::vector<Json> reports;
  for (const char* jobs : {"1", "2", "4"}) {
    Strings line = words;
    line.insert(line.end(), {"--jobs", jobs});
    const ToolResult result = run(line);
    EXPECT_EQ(result.exit, 1) << "there are damaged ones among them";
    reports.push_back(timeless(result.out));
  }
  EXPECT_EQ(reports[0]["files"].size(), words.size() - 7);
  EXPECT_EQ(reports[0], reports[1]);
  EXPECT_EQ(reports[0], reports[2]);
}

TEST_F(Verify, ALargeFileTakesLittleMemory) {
  make_file("large.hfile", 6000, 16000);
  ASSERT_GT(fs::file_size(path("large.hfile")), 90u << 20);
  // Address space, which is more than memory; arenas of threads only reserve it.
  const std::string bound = kSanitized ? "" : "ulimit -v 262144; ";
  const ToolResult result =
      shell(bound + "MALLOC_ARENA_MAX=1 cellar verify large.hfile --level deep --jobs 4 --format json");
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["files"][0]["cells"], 6000);
}

TEST_F(Verify, JUnitReportsAreWellFormed) {
  make_shop();
  out_of({"flush", "shop"});
  const std::string odd = "odd <&\"' \xC3\xA9\x01.hfile";
  fs::copy(example_file("versions.hfile"), path(odd));
  write_file("none.hfile", "not an HFile, but this long");
  std::string bytes = read_file(odd);
  bytes[1500] = static_cast<char>(bytes[1500] ^ 1);
  write_file("damaged.hfile", bytes);
  write_file("report.xml", "an older one");
  EXPECT_EQ(run({"verify", "shop", odd, "none.hfile", "damaged.hfile", "--junit", "report.xml"}).exit, 1);
  const ToolResult parsed = shell(
      "python3 -c '\n"
      "import xml.etree.ElementTree as tree, json\n"
      "root = tree.parse(\"report.xml\").getroot()\n"
      "suite = root[0]\n"
      "print(json.dumps([root.tag, suite.attrib, [[c.get(\"classname\"), c.get(\"name\"), [e.tag for e in "
      "c], "
      "\"\".join(c.itertext()).strip()] for c in suite]]))'");
  ASSERT_EQ(parsed.exit, 0) << parsed.err << read_file("report.xml");
  const Json report = Json::parse(parsed.out);
  EXPECT_EQ(report[0], "testsuites");
  EXPECT_EQ(report[1]["tests"], "6") << "the store, its two files, and three more";
  EXPECT_EQ(report[1]["failures"], "1");
  EXPECT_EQ(report[1]["errors"], "1");
  const Json& cases = report[2];
  EXPECT_EQ(cases[0][0], "cellar.verify.store");
  EXPECT_EQ(cases[3][1], "odd <&\"' \\xC3\\xA9\\x01.hfile");
  EXPECT_EQ(cases[3][2], Json::array());
  EXPECT_EQ(cases[4][2], Json::array({"error"}));
  EXPECT_EQ(cases[5][2], Json::array({"failure"}));
  EXPECT_NE(cases[5][3].get<std::string>().find("V-CHECKSUM"), std::string::npos) << cases[5];
}

TEST_F(Verify, AStoreThatIsOpenElsewhereIsLookedAt) {
  make_shop();
  out_of({"flush", "shop"});
  for (const char* command : {"verify shop --format json", "dump shop --format jsonl",
                              "inspect shop --format json", "stats shop --format json"}) {
    const ToolResult result =
        shell(std::string(kHoldShop) + "cellar " + command + " > held.txt" + std::string(kLetGo) + "");
    EXPECT_EQ(result.exit, 0) << command << "\n" << result.err;
    EXPECT_EQ(result.err.find("CEL-LOCKED"), std::string::npos) << result.err;
    fs::remove(path("gate"));
  }
}

TEST_F(Verify, AStoreConsistsOfWhatItsManifestNames) {
  make_shop();
  out_of({"flush", "shop"});
  const std::string before = out_of({"dump", "shop", "--format", "jsonl"});
  const fs::path file = path(a_store_file());
  fs::copy(file, file.parent_path() / "0123456789abcdef0123456789abcdef");
  for (const char* command : {"dump", "verify", "inspect", "stats"}) {
    const ToolResult result = run({command, "shop", "--format", "jsonl"});
    EXPECT_EQ(result.exit, 0) << result.err;
    EXPECT_EQ(result.out.find("0123456789abcdef"), std::string::npos) << result.out;
    EXPECT_NE(result.err.find("left out, not in the store's manifest: shop/tables/"), std::string::npos)
        << command << result.err;
    if (std::string(command) == "dump") {
      EXPECT_EQ(result.out, before) << "an orphan's cells are no data";
    }
  }
}

TEST_F(Verify, AStoreWithoutFilesIsCalledSo) {
  out_of({"create", "one", "t", "d"});
  out_of({"create", "two", "t", "d"});
  EXPECT_EQ(run({"verify", "one"}).err, "the store has no files\n");
  EXPECT_EQ(run({"verify", "one", "two"}).err, "the stores have no files\n");
  out_of({"put", "one", "t", "r", "d:q", "v"});
  EXPECT_EQ(run({"verify", "one"}).err, "the store has no files\n") << "the cell is in the log";
  out_of({"flush", "one"});
  EXPECT_EQ(run({"verify", "one"}).err, "1 file sound\n");
  EXPECT_EQ(run({"verify", "one", "two"}).err, "1 file sound\n");
  // A file that is missing is no store without files.
  const fs::path tables = path("one") / "tables";
  for (const auto& entry : fs::recursive_directory_iterator(tables))
    if (entry.is_regular_file()) fs::remove(entry.path());
  const ToolResult lost = run({"verify", "one"});
  EXPECT_EQ(lost.exit, 1);
  EXPECT_NE(lost.err.find("0 files sound\n"), std::string::npos) << lost.err;
}

TEST_F(Verify, StoresAreHeldAgainstTheirManifest) {
  make_shop();
  out_of({"flush", "shop"});
  const Json store = json_of({"verify", "shop"})["stores"][0];
  EXPECT_EQ(store["verdict"], "sound");
  EXPECT_EQ(store["tables"], 2);
  EXPECT_EQ(store["files"], 2);
  EXPECT_EQ(store["log"]["closed"], true);
  const std::string victim = a_store_file();
  const std::string bytes = read_file(victim);
  write_file(victim, bytes + "x");
  EXPECT_EQ(code_of_fault(), "V-MANIFEST") << "another size";
  fs::remove(path(victim));
  EXPECT_EQ(code_of_fault(), "V-FILE-MISSING");
  write_file(victim, bytes);
  EXPECT_EQ(run({"verify", "shop"}).exit, 0) << "healed";
}

// The manifest's statement about a file is not in the file. Here the manifest is changed instead of the
// cells.
TEST_F(Verify, CellsOfAnotherTimeThanTheirFileAreFound) {
  make_shop();
  out_of({"flush", "shop"});
  const auto change = [&](const std::function<void(FileRecord&)>& each) {
    const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
    const auto root = posix_file_system().open_directory(path("shop").string(), false).value();
    const auto manifest = Manifest::load(*root, *executor, {}).value();
    ManifestState state = manifest->state();
    for (TableRecord& table : state.tables)
      for (FamilyRecord& family : table.families)
        for (FileRecord& file : family.files) each(file);
    ASSERT_TRUE(manifest->switch_to(state).ok());
  };
  const std::string file_alone = a_store_file();
  change([](FileRecord& file) { file.sequence_min += 1000; });
  const Json found = Json::parse(run({"verify", "shop", "--format", "json"}).out)["files"][0];
  EXPECT_EQ(found["verdict"], "unsound");
  EXPECT_EQ(found["findings"][0]["code"], "V-SEQUENCE");
  EXPECT_EQ(found["findings"][0]["block_kind"], "data");
  EXPECT_TRUE(found["findings"][0].contains("risk_first_row"));
  EXPECT_EQ(run({"verify", file_alone}).exit, 0) << "the file alone is sound";
  change([](FileRecord& file) { file.sequence_min -= 1000; });
  EXPECT_EQ(run({"verify", "shop"}).exit, 0);
  change([](FileRecord& file) { file.trailer_crc ^= 1; });
  EXPECT_EQ(code_of_fault(), "V-MANIFEST") << "another file";
}

TEST_F(Verify, TheLogOfAStoreIsReadWhole) {
  make_shop();
  EXPECT_EQ(json_of({"verify", "shop"})["stores"][0]["log"]["cells"], 6);
  std::string segment;
  for (const auto& entry : fs::directory_iterator(path("shop/wal")))
    segment = "shop/wal/" + entry.path().filename().string();
  std::string damaged = read_file(segment);
  char& victim = damaged[damaged.size() / 2];
  victim = static_cast<char>(victim ^ 0x10);
  write_file(segment, damaged);
  EXPECT_EQ(code_of_fault(), "V-LOG");
  const ToolResult text = run({"verify", "shop"});
  EXPECT_NE(text.out.find("FAIL  shop"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("V-LOG"), std::string::npos) << text.out;
}

TEST_F(Verify, SoIsWhatIsKeptOfItForFeeds) {
  make_shop();
  out_of({"feed", "create", "shop", "all"});
  out_of({"put", "shop", "orders", "user50", "d:name", "Grace"});
  out_of({"flush", "shop"});
  std::vector<std::string> segments;
  for (const auto& entry : fs::directory_iterator(path("shop/wal")))
    segments.push_back("shop/wal/" + entry.path().filename().string());
  std::ranges::sort(segments);
  ASSERT_GE(segments.size(), 2u);
  const std::string kept = read_file(segments.front());
  std::string damaged = kept;
  damaged[200] = static_cast<char>(damaged[200] ^ 0x10);
  write_file(segments.front(), damaged);
  EXPECT_EQ(code_of_fault(), "V-LOG");
  EXPECT_NE(run({"feed", "read", "shop", "all"}).exit, 0);
  EXPECT_EQ(run({"get", "shop", "orders", "user50"}).exit, 0) << "the store itself misses nothing";
  fs::remove(path(segments.front()));
  EXPECT_EQ(code_of_fault(), "V-LOG");
  write_file(segments.front(), kept);
  EXPECT_EQ(run({"verify", "shop"}).exit, 0) << "healed";
  EXPECT_EQ(run({"feed", "read", "shop", "all"}).exit, 0);
}

// A file over its memory: the name of the error, and the exit status of a file that is not sound.
TEST_F(Verify, ALimitIsNotCalledDamage) {
  Output out(1);
  Session session(out);
  session.set_format(Format::kJson);
  ::testing::internal::CaptureStderr();
  const Exit exit =
      session.end(name_file_failure(session, Status::limit("the file's index takes more memory")));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(exit, Exit::kNegative);
  EXPECT_EQ(Json::parse(said)["error"]["code"], "CEL-LIMIT") << said;
  EXPECT_NE(Json::parse(said)["error"].value("hint", ""), "");
}

}  // namespace
}  // namespace cellar::testing
