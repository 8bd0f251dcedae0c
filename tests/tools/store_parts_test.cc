// Goal: `cellar wal` and `cellar manifest` tell the truth about a store's log and manifest, of a damaged
// store too. Method: the writes of a test are looked for in the printed log. The edits and states are
// compared with what was done. Each byte of the log and of the manifest is changed and cut off: no look
// ends the program, and each finding has a text.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "cellar/cellar.h"
#include "engine/log/directory.h"
#include "tests/support/test_scale.h"
#include "tests/tools/tool_runner.h"
#include "tools/repair/log_look.h"
#include "tools/repair/manifest_look.h"
#include "tools/repair/wal_check.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class StoreParts : public ToolTest {
 protected:
  std::string last_below(const std::string& directory, const std::string& prefix = {}) const {
    std::string last;
    for (const auto& entry : fs::directory_iterator(path(directory)))
      if (entry.path().filename().string().starts_with(prefix))
        last = std::max(last, entry.path().filename().string());
    return directory + "/" + last;
  }
  void flip(const std::string& file, size_t at) const {
    std::string bytes = read_file(file);
    ASSERT_LT(at, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    write_file(file, bytes);
  }
  // Gives `look` the bytes with one of them changed, and cut off there. It visits every byte at full scale.
  static void flip_and_cut_everywhere(
      const std::string& bytes, const char* what,
      const std::function<void(const std::string& damaged, size_t at)>& look) {
    const uint64_t step = sweep_step();
    for (size_t i = 0; i < bytes.size(); i += step) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      look(flipped, i);
      look(bytes.substr(0, i), i);
      if (HasFatalFailure()) return;
    }
    count(2 * bytes.size() / step, what);
  }
  // A log of one segment with many writes, which was closed.
  void make_logged() const {
    out_of({"create", "shop", "orders", "d", "c"});
    std::string lines;
    for (int i = 0; i < 9; ++i)
      lines += R"({"row":"row)" + std::to_string(i) +
               R"(","family":"d","qualifier":"q","ts":5,"value":"v"})"
               "\n";
    out_of({"load", "shop", "orders", "-", "--batch", "1"}, lines);
  }
};

TEST_F(StoreParts, TheLogHasEveryWrite) {
  make_logged();
  const Json records = json_of({"wal", "dump", "shop"});
  std::vector<uint64_t> sequences;
  for (const Json& each : records["records"]) {
    EXPECT_EQ(each["state"], "sound");
    if (each["type"] != "data") continue;
    sequences.push_back(each["sequence"]);
    EXPECT_EQ(each["families"], Json({"orders/d"}));
    EXPECT_EQ(each["cells"], 1);
  }
  EXPECT_EQ(sequences.size(), 9u);
  EXPECT_TRUE(std::ranges::is_sorted(sequences));
  const Json cells = json_of({"wal", "dump", "shop", "--cells"});
  ASSERT_EQ(cells["cells"].size(), 9u);
  EXPECT_EQ(cells["cells"][4]["row"], "row4");
  EXPECT_EQ(cells["cells"][4]["table"], "orders");
  EXPECT_EQ(cells["cells"][4]["value"], "v");
  const uint64_t fourth = cells["cells"][4]["record"];
  const Json two =
      json_of({"wal", "dump", "shop", "--cells", "--from", std::to_string(fourth), "--limit", "2"});
  ASSERT_EQ(two["cells"].size(), 2u);
  EXPECT_EQ(two["cells"][0]["row"], "row4");
  EXPECT_TRUE(json_of({"wal", "dump", "shop", "--table", "orders"})["records"].size() == 9u);
}

TEST_F(StoreParts, SegmentsArePrintedWhereverTheyLie) {
  make_logged();
  fs::create_directory(path("far"));
  fs::copy(path(last_below("shop/wal")), path("far/piece"));
  const Json near = json_of({"wal", "dump", last_below("shop/wal")});
  const Json far = json_of({"wal", "dump", "far/piece"});
  ASSERT_EQ(near["records"].size(), far["records"].size());
  const auto named =
      std::ranges::find(near["records"], "data", [](const Json& each) { return each["type"]; });
  EXPECT_EQ((*named)["families"], Json({"orders/d"}));
  const auto nameless =
      std::ranges::find(far["records"], "data", [](const Json& each) { return each["type"]; });
  EXPECT_EQ((*nameless)["families"], Json({"family 1"}));
}

TEST_F(StoreParts, DamageIsShownWithWhatIsLost) {
  make_logged();
  const std::string segment = last_below("shop/wal");
  const Json before = json_of({"wal", "dump", "shop"});
  const Json& third = *std::ranges::find_if(
      before["records"], [](const Json& each) { return each["sequence"] == 3 && each["type"] == "data"; });
  const uint64_t offset = third["offset"];
  flip(segment, offset + 60);
  const ToolResult result = run({"wal", "verify", "shop", "--format", "json"});
  EXPECT_EQ(result.exit, 1) << result.err;
  const Json verdict = Json::parse(result.out);
  EXPECT_FALSE(verdict["sound"]);
  EXPECT_EQ(verdict["last_sequence"], 2);
  EXPECT_EQ(verdict["recovered_records"], 2);
  EXPECT_EQ(verdict["lost_records"], 7);
  EXPECT_EQ(verdict["lost_first_sequence"], 3);
  EXPECT_EQ(verdict["lost_last_sequence"], 9);
  EXPECT_EQ(verdict["lost_unreadable"], 1) << "the damaged record itself";
  EXPECT_EQ(verdict["lost_rows"], Json({"orders/d: 6 cells, rows row3 to row8"}));
  EXPECT_NE(std::string(verdict["place"]).find("offset " + std::to_string(offset)), std::string::npos);
  const ToolResult dump = run({"wal", "dump", "shop", "--format", "json"});
  EXPECT_EQ(dump.exit, 1);
  std::map<std::string, int> states;
  const Json dumped = Json::parse(dump.out);
  for (const Json& each : dumped["records"]) states[each["state"]] += each["type"] == "data" ? 1 : 0;
  EXPECT_EQ(states["sound"], 2);
  EXPECT_EQ(states["unreadable"], 1);
  EXPECT_EQ(states["after damage"], 6);
  const ToolResult open = run({"get", "shop", "orders", "row1"});
  EXPECT_EQ(open.exit, 3);
  EXPECT_NE(open.err.find("cellar repair shop --dry-run"), std::string::npos) << open.err;
}

TEST_F(StoreParts, AStoreOfARunningProgramIsRead) {
  EngineOptions options;
  options.create_if_missing = true;
  const std::unique_ptr<Engine> engine = Engine::open(path("shop").string(), options).value();
  FamilyOptions family;
  family.name = "d";
  TableOptions table_options;
  table_options.families = {family};
  const std::shared_ptr<Table> table = engine->create_table("orders", table_options).value();
  ASSERT_TRUE(table->put(Put("row").add("d", "q", "v")).ok());
  const Json verdict = json_of({"wal", "verify", "shop"});
  EXPECT_TRUE(verdict["sound"]);
  EXPECT_FALSE(verdict["clean"]);
  EXPECT_EQ(verdict["recovered_cells"], 1);
  EXPECT_EQ(json_of({"wal", "dump", "shop", "--cells"})["cells"].size(), 1u);
  EXPECT_TRUE(json_of({"manifest", "check", "shop"})["sound"]);
  EXPECT_TRUE(json_of({"manifest", "history", "shop"})["sound"]);
  ASSERT_TRUE(table->put(Put("row").add("d", "q", "w")).ok()) << "the looks took no lock and changed nothing";
  ASSERT_TRUE(engine->close().ok());
}

TEST_F(StoreParts, TheHistoryHasWhatWasDone) {
  out_of({"create", "shop", "orders", "d", "c"});
  const std::string created = run({"manifest", "history", "shop"}).out;
  EXPECT_NE(created.find("table orders created"), std::string::npos) << created;
  EXPECT_NE(created.find("family orders/c added"), std::string::npos) << created;
  EXPECT_NE(created.find("closed at segment"), std::string::npos) << created;
  out_of({"put", "shop", "orders", "row", "d:q", "v"});
  out_of({"flush", "shop"});
  const std::string flushed = run({"manifest", "history", "shop"}).out;
  EXPECT_NE(flushed.find("of orders/d added"), std::string::npos) << flushed;
  EXPECT_NE(flushed.find("orders/d flushed up to sequence 1"), std::string::npos) << flushed;
  out_of({"drop", "shop", "orders"});
  const std::string dropped = run({"manifest", "history", "shop"}).out;
  EXPECT_NE(dropped.find("table orders dropped"), std::string::npos) << dropped;
}

TEST_F(StoreParts, StatesAreShownAsOfEachEdit) {
  out_of({"create", "shop", "orders", "d", "c"});
  const Json history = json_of({"manifest", "history", "shop"});
  ASSERT_GE(history["edits"].size(), 2u);
  const uint64_t first = history["edits"][0]["edit"];
  const uint64_t newest = history["newest_edit"];
  ASSERT_LT(first, newest);
  EXPECT_EQ(json_of({"manifest", "dump", "shop", "--edit", std::to_string(first)})["edit"], first);
  const Json now = json_of({"manifest", "dump", "shop"});
  EXPECT_EQ(now["edit"], newest);
  EXPECT_EQ(json_of({"manifest", "dump", "shop", "--edit", std::to_string(newest)}), now);
  ASSERT_EQ(now["tables"].size(), 1u);
  EXPECT_EQ(now["tables"][0]["families"].size(), 2u);
}

TEST_F(StoreParts, TheCheckNamesMissingDamagedAndUnknownFiles) {
  make_shop();
  out_of({"flush", "shop"});
  const std::string file = last_below("shop/tables/1/d");
  fs::copy(path(file), path("shop/tables/1/d/" + std::string(32, 'b')));
  const Json orphan = json_of({"manifest", "check", "shop"});
  EXPECT_TRUE(orphan["sound"]) << "such a file is only removed";
  EXPECT_EQ(orphan["orphans"], 1);
  EXPECT_EQ(orphan["findings"][0]["code"], "orphan");
  flip(file, read_file(file).size() - 3000);
  const ToolResult damaged = run({"manifest", "check", "shop", "--format", "json"});
  EXPECT_EQ(damaged.exit, 1);
  EXPECT_EQ(Json::parse(damaged.out)["findings"][0]["code"], "V-MANIFEST") << damaged.out;
  fs::remove(path(file));
  const ToolResult missing = run({"manifest", "check", "shop", "--format", "json"});
  EXPECT_EQ(missing.exit, 1);
  EXPECT_EQ(Json::parse(missing.out)["findings"][0]["code"], "V-FILE-MISSING") << missing.out;
}

// Both kinds of files, changed and cut at every byte, are looked at in this process.
TEST_F(StoreParts, EveryByteOfTheLogMayBeDamaged) {
  make_logged();
  const std::string file = last_below("shop/wal");
  const std::string name = fs::path(file).filename().string();
  const std::string bytes = read_file(file);
  const std::unique_ptr<Directory> root =
      posix_file_system().open_directory(path("shop").string(), false).value();
  const std::unique_ptr<Directory> wal = open_wal_directory(*root, false).value();
  const Identity identity = read_file_header(*wal, name, FileKind::kLog).value().identity;
  uint64_t id = 0;
  ASSERT_TRUE(parse_segment_name(name, id));
  const auto look = [&](const std::string& damaged, size_t at) {
    write_file(file, damaged);
    uint64_t seen = 0;
    const VisitRecord visit = [&](const SeenRecord&) { return ++seen < 1000; };
    const Result<SegmentLook> found = look_at_segment(*wal, name, identity, id, visit);
    ASSERT_TRUE(found.ok()) << at << found.status();
    EXPECT_LE(found->end, damaged.size());
    EXPECT_LE(found->sound.records, 9u);
    const Result<WalCheck> check = check_wal(*root);
    ASSERT_TRUE(check.ok()) << at << check.status();
    EXPECT_FALSE(check->damage.ok()) << "the log was closed properly, so each byte counts: " << at;
    EXPECT_FALSE(check->damage.message().empty());
  };
  flip_and_cut_everywhere(bytes, "damaged logs looked at", look);
}

TEST_F(StoreParts, EveryByteOfTheManifestMayBeDamaged) {
  out_of({"create", "shop", "orders", "d", "c"});
  const std::string file = last_below("shop", "MANIFEST-");
  uint64_t generation = 0;
  ASSERT_TRUE(parse_manifest_name(fs::path(file).filename().string(), generation));
  const std::string bytes = read_file(file);
  const std::unique_ptr<Directory> root =
      posix_file_system().open_directory(path("shop").string(), false).value();
  const auto look = [&](const std::string& damaged, size_t at) {
    write_file(file, damaged);
    const VisitEdit visit = [&](const SeenEdit& seen) { return !changes_of(seen).empty(); };
    for (const VisitEdit& each : {visit, VisitEdit()}) {
      const Result<GenerationLook> found = look_at_generation(*root, generation, {}, each);
      ASSERT_TRUE(found.ok()) << at << found.status();
      EXPECT_LE(found->end, damaged.size());
      EXPECT_FALSE(found->sound() && damaged.size() == bytes.size()) << "a changed byte is seen: " << at;
      EXPECT_EQ(found->damage.ok(), found->damage.message().empty());
    }
  };
  flip_and_cut_everywhere(bytes, "damaged manifests looked at", look);
}

TEST_F(StoreParts, UnknownTablesAndOptionsAreRefused) {
  make_logged();
  EXPECT_EQ(error_of({"wal", "dump", "shop", "--table", "order"}, 3)["code"], "CEL-TABLE");
  EXPECT_EQ(error_of({"wal", "verify", "shop", "--limit", "2"}, 2)["code"], "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(error_of({"wal", "show", "shop"}, 2)["code"], "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(error_of({"wal", "dump", "nowhere"}, 3)["code"], "CEL-NOT-STORE");
  EXPECT_EQ(error_of({"manifest", "dump", "nowhere"}, 3)["code"], "CEL-NOT-FOUND");
  fs::create_directory(path("empty"));
  EXPECT_EQ(error_of({"manifest", "check", "empty"}, 3)["code"], "CEL-NOT-STORE");
  EXPECT_EQ(error_of({"manifest", "history", "shop", "--edit", "2"}, 2)["code"], "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(error_of({"manifest", "dump", "shop", "--edit", "9999"}, 3)["code"], "CEL-NOT-FOUND");
}

}  // namespace
}  // namespace cellar::testing
