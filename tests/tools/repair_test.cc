// Goal: a damaged store can be repaired. Afterwards it opens and is sound, and everything that was not at
// risk is there. Method: a small store is damaged in many ways: each file is deleted, cut, emptied,
// swapped, replaced, and changed byte by byte. Each time it is repaired and opened, and its cells are
// compared with those before. A second repair finds nothing to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "cellar/cellar.h"
#include "cellar/environment.h"
#include "engine/log/directory.h"
#include "engine/log/wal_format.h"
#include "engine/manifest/manifest.h"
#include "tests/support/test_scale.h"
#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"
#include "tools/repair/log_look.h"
#include "tools/repair/plan_repair.h"
#include "tools/repair/repair_run.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

// A cell without its value.
struct Place {
  uint32_t table_id = 0;
  std::string family;
  std::string row;
  std::string column_and_time;
  auto operator<=>(const Place&) const = default;
};
using Cells = std::map<Place, std::string>;

std::string bytes_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Other names of the file keep their content.
void put_bytes(const fs::path& file, const std::string& content) {
  fs::remove(file);
  std::ofstream(file, std::ios::binary) << content;
}

class RepairTest : public ToolTest {
 protected:
  // Three families with files, and writes in the log alone. A store that was not closed is a copy of an open
  // one.
  void make_store(const std::string& name, bool closed) {
    const std::string at = path(name + ".made").string();
    EngineOptions options;
    options.create_if_missing = true;
    options.automatic_compaction = false;
    std::unique_ptr<Engine> engine = Engine::open(at, options).value();
    FamilyOptions d;
    d.name = "d";
    FamilyOptions c;
    c.name = "c";
    TableOptions orders;
    orders.families = {d, c};
    TableOptions people;
    people.families = {d};
    ASSERT_TRUE(engine->create_table("orders", orders).ok());
    ASSERT_TRUE(engine->create_table("people", people).ok());
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 10; ++i) write(*engine, "file" + std::to_string(round * 10 + i));
      ASSERT_TRUE(engine->flush().ok());
      ASSERT_TRUE(engine->close().ok());
      engine = Engine::open(at, options).value();
    }
    for (int i = 0; i < 12; ++i) write(*engine, "log" + std::to_string(i));
    ASSERT_TRUE(engine->open_table("orders").value()->erase(Delete("file3").family("d")).ok());
    if (closed) {
      ASSERT_TRUE(engine->close().ok());
    }
    fs::copy(at, path(name), fs::copy_options::recursive);
    fs::remove(path(name + "/LOCK"));
    if (!closed) {
      ASSERT_TRUE(engine->close().ok());
    }
  }

  static void write(Engine& engine, const std::string& row) {
    const auto orders = engine.open_table("orders").value();
    const auto people = engine.open_table("people").value();
    ASSERT_TRUE(orders->put(Put(row).add("d", "name", "name of " + row).add("c", "score", "7")).ok());
    ASSERT_TRUE(people->put(Put(row).add("d", "mail", row + "@example.org")).ok());
  }

  // Returns every cell with its table's number. The families of a table that has lost its name are found by
  // the number in the name that it has now.
  static Cells cells_of(Engine& engine) {
    Cells cells;
    for (const std::string& name : engine.list_tables()) {
      const std::shared_ptr<Table> table = engine.open_table(name).value();
      uint32_t id = name == "orders" ? 1 : name == "people" ? 2 : 0;
      if (name.starts_with("recovered_") && !name.starts_with("recovered_log_"))
        id = static_cast<uint32_t>(std::stoul(name.substr(10)));
      if (name.starts_with("recovered_log_")) id = name.substr(14) == "3" ? 2 : 1;
      const std::unique_ptr<Scanner> scanner = table->scan(Scan().raw(true).all_versions()).value();
      while (scanner->next()) {
        for (const CellView& cell : scanner->row()) {
          Place place = {id, std::string(cell.family()), std::string(cell.row()),
                         std::string(cell.qualifier()) + "@" + std::to_string(cell.timestamp) +
                             std::string(type_name(cell.type()))};
          cells[place] = std::string(cell.value_bytes());
        }
      }
      EXPECT_TRUE(scanner->status().ok()) << scanner->status();
    }
    return cells;
  }

  Cells cells_of_store(const std::string& name) const {
    EngineOptions options;
    options.automatic_compaction = false;
    Result<std::unique_ptr<Engine>> engine = Engine::open(path(name).string(), options);
    EXPECT_TRUE(engine.ok()) << engine.status();
    if (!engine.ok()) return {};
    Cells cells = cells_of(**engine);
    EXPECT_TRUE((*engine)->close().ok());
    return cells;
  }

  // Makes a copy whose files are shared. A change of a file gives it a new content of its own.
  void take_copy(const std::string& of) const {
    fs::remove_all(path("broken"));
    fs::copy(path(of), path("broken"), fs::copy_options::recursive | fs::copy_options::create_hard_links);
  }

  Strings files_of(const std::string& name) const {
    Strings files;
    for (const auto& entry : fs::recursive_directory_iterator(path(name)))
      if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), path(name)).string());
    std::ranges::sort(files);
    return files;
  }

  // Written after the last flush.
  static bool is_in_log_alone(const Place& place) {
    return !place.row.starts_with("file") || place.column_and_time.ends_with("DeleteFamily");
  }
  static bool covers(const RiskOfLoss& risk, const Place& place) {
    if (risk.family.empty()) return risk.place.starts_with("wal") && is_in_log_alone(place);
    return risk.family.ends_with("/" + place.family) && place.row >= risk.first_row &&
           place.row <= risk.last_row;
  }

  // Repairs "broken" and compares it with what it held. The end of a log that was not closed may be missing
  // without a trace: then it looks as after a power loss.
  void expect_repaired(const Cells& before, const std::string& what, bool may_lose_end) const {
    SCOPED_TRACE(what);
    const std::string at = path("broken").string();
    const std::unique_ptr<Directory> root = posix_file_system().open_directory(at, false).value();
    Result<RepairPlan> plan = plan_repair(*root, at, VerifyLevel::kDeep);
    ASSERT_TRUE(plan.ok()) << plan.status();
    if (plan->is_needed()) {
      const Result<std::string> done = carry_out(*root, at, *plan);
      ASSERT_TRUE(done.ok()) << done.status();
      const Result<RepairPlan> again = plan_repair(*root, at, VerifyLevel::kDeep);
      ASSERT_TRUE(again.ok()) << again.status();
      for (const StoreDamage& each : again->damage) ADD_FAILURE() << each.place << ": " << each.text;
    }
    const Cells after = cells_of_store("broken");
    for (const auto& [place, value] : before) {
      const auto found = after.find(place);
      if (found != after.end()) {
        EXPECT_EQ(found->second, value) << place.family << " " << place.row;
        continue;
      }
      const bool end = may_lose_end && is_in_log_alone(place);
      const bool allowed = end || std::ranges::any_of(plan->at_risk, [&, at = place](const RiskOfLoss& risk) {
                             return covers(risk, at);
                           });
      EXPECT_TRUE(allowed) << "lost, and not said to be at risk: " << place.table_id << " " << place.family
                           << " " << place.row;
      if (!allowed) return;
    }
    for (const auto& [place, value] : after)
      EXPECT_TRUE(before.contains(place)) << "not there before: " << place.family << " " << place.row;
  }

  // Damages a copy of a store in every way that `damage` gives, and repairs it.
  void expect_all_repaired(const std::string& store) {
    fs::copy(path(store), path("before"), fs::copy_options::recursive);
    const Cells before = cells_of_store("before");
    ASSERT_EQ(before.size(), 32u * 3 + 1);
    uint64_t times = 0;
    const auto attempt = [&](const std::string& what, const std::function<void()>& damage) {
      if (HasFatalFailure()) return;
      take_copy(store);
      damage();
      expect_repaired(before, what, store == "killed" && what.find("wal/") != std::string::npos);
      times += 1;
    };
    for (const std::string& file : files_of(store)) damage_file(store, file, attempt);
    swap_files(store, attempt);
    count(times, "damaged stores repaired");
  }

  using Attempt = std::function<void(const std::string&, const std::function<void()>&)>;
  void damage_file(const std::string& store, const std::string& file, const Attempt& attempt) const {
    const fs::path at = path("broken/" + file);
    const std::string content = bytes_of_file(path(store + "/" + file));
    const std::string garbage(content.size() + 100, 'x');
    attempt(file + " deleted", [&] { fs::remove(at); });
    attempt(file + " emptied", [&] { put_bytes(at, ""); });
    attempt(file + " is garbage", [&] { put_bytes(at, garbage); });
    attempt(file + " is a directory", [&] { fs::remove(at), fs::create_directory(at); });
    attempt(file + " is a link", [&] {
      fs::rename(at, path("elsewhere"));
      fs::create_symlink(path("elsewhere"), at);
    });
    // Zeros follow the written part of a segment.
    const uint64_t written = content.find_last_not_of('\0') + 1;
    const uint64_t step = std::max<uint64_t>(1, written / scaled(20));
    for (uint64_t i = 0; i < written; i += step) {
      const std::string offset = std::to_string(i);
      attempt(file + " cut at " + offset, [&] { put_bytes(at, content.substr(0, i)); });
      std::string flipped = content;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      attempt(file + " flipped at " + offset, [&] { put_bytes(at, flipped); });
      std::string zeroed = content;
      std::fill_n(zeroed.begin() + static_cast<ptrdiff_t>(i), std::min<uint64_t>(512, zeroed.size() - i),
                  '\0');
      attempt(file + " zeroed at " + offset, [&] { put_bytes(at, zeroed); });
    }
  }

  void swap_files(const std::string& store, const Attempt& attempt) const {
    const Strings files = files_of(store);
    for (size_t i = 0; i + 1 < files.size(); ++i) {
      for (size_t k = i + 1; k < files.size(); ++k) {
        if (fs::path(files[i]).parent_path() != fs::path(files[k]).parent_path() && k != i + 1) continue;
        attempt(files[i] + " and " + files[k] + " swapped", [&] {
          fs::rename(path("broken/" + files[i]), path("elsewhere"));
          fs::rename(path("broken/" + files[k]), path("broken/" + files[i]));
          fs::rename(path("elsewhere"), path("broken/" + files[k]));
        });
        attempt(files[i] + " and " + files[k] + " deleted", [&] {
          fs::remove(path("broken/" + files[i]));
          fs::remove(path("broken/" + files[k]));
        });
      }
    }
  }

  std::map<std::string, std::string> contents(const std::string& name) const {
    std::map<std::string, std::string> all;
    for (const std::string& file : files_of(name)) all[file] = bytes_of_file(path(name + "/" + file));
    return all;
  }
};

TEST_F(RepairTest, RepairsAClosedStoreWhateverIsDamaged) {
  make_store("closed", true);
  expect_all_repaired("closed");
}

TEST_F(RepairTest, RepairsAStoreThatWasNotClosedWhateverIsDamaged) {
  make_store("killed", false);
  expect_all_repaired("killed");
}

TEST_F(RepairTest, ASoundStoreIsLeftAlone) {
  for (const bool closed : {true, false}) {
    make_store(closed ? "closed" : "killed", closed);
    const std::string name = closed ? "closed" : "killed";
    const auto before = contents(name);
    const ToolResult result = run({"repair", name});
    EXPECT_EQ(result.exit, 0) << result.err;
    EXPECT_NE(result.err.find("nothing to repair"), std::string::npos) << result.err;
    auto after = contents(name);
    after.erase("LOCK");
    EXPECT_EQ(before, after);
  }
}

TEST_F(RepairTest, ADryRunWritesNothingAndSaysTheSame) {
  make_store("closed", true);
  fs::remove(path("closed/CURRENT"));
  fs::remove(path("closed/tables/1/c/" +
                  fs::directory_iterator(path("closed/tables/1/c"))->path().filename().string()));
  const auto before = contents("closed");
  const ToolResult dry = run({"repair", "closed", "--dry-run"});
  EXPECT_EQ(dry.exit, 1);
  EXPECT_NE(dry.out.find("damaged   CURRENT: the file is missing"), std::string::npos) << dry.out;
  EXPECT_NE(dry.out.find("at risk   orders/c"), std::string::npos) << dry.out;
  EXPECT_EQ(before, contents("closed"));
  const ToolResult done = run({"repair", "closed"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out, dry.out);
  EXPECT_EQ(run({"verify", "closed", "--level", "deep"}).exit, 0);
  EXPECT_EQ(run({"repair", "closed", "--dry-run"}).exit, 0) << "all is done";
}

TEST_F(RepairTest, WhatIsReplacedIsKept) {
  make_store("closed", true);
  const std::string segment = files_of("closed/wal").back();
  const std::string log = bytes_of_file(path("closed/wal/" + segment));
  std::string damaged = log;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 4);
  put_bytes(path("closed/wal/" + segment), damaged);
  const Json plan = json_of({"repair", "closed"});
  EXPECT_EQ(plan["quarantine"], "quarantine/1");
  EXPECT_EQ(bytes_of_file(path("closed/quarantine/1/wal/" + segment)), damaged);
  EXPECT_LT(fs::file_size(path("closed/wal/" + segment)), damaged.size());
  const ToolResult lost = run({"wal", "dump", "closed/quarantine/1/wal/" + segment, "--cells"});
  EXPECT_EQ(lost.exit, 1);
  EXPECT_NE(lost.out.find("after damage"), std::string::npos) << lost.out;
  EXPECT_NE(lost.out.find("orders"), std::string::npos) << "the store above knows the names: " << lost.out;
}

TEST_F(RepairTest, ACopyIsRepairedAndTheStoreStaysAsItIs) {
  make_store("closed", true);
  fs::remove(path("closed/CURRENT"));
  const auto before = contents("closed");
  const ToolResult result = run({"repair", "closed", "--to", "copy"});
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(before, contents("closed"));
  EXPECT_EQ(cells_of_store("copy").size(), 32u * 3 + 1);
  EXPECT_EQ(before, contents("closed")) << "not even when the copy is written to";
  EXPECT_EQ(run({"repair", "closed", "--to", "copy"}).exit, 2) << "it exists already";
}

TEST_F(RepairTest, AnOpenStoreIsNotRepaired) {
  make_store("closed", true);
  const std::unique_ptr<Engine> engine = Engine::open(path("closed").string()).value();
  for (const char* option : {"--quiet", "--dry-run"})
    EXPECT_EQ(error_of({"repair", "closed", option}, 3)["code"], "CEL-LOCKED");
  EXPECT_TRUE(engine->close().ok());
}

TEST_F(RepairTest, OtherDirectoriesAreRefused) {
  make_store("closed", true);
  out_of({"snapshot", "create", "closed", "before"});
  EXPECT_EQ(error_of({"repair", "closed/snapshots/before"}, 4)["code"], "CEL-NOT-SUPPORTED");
  EXPECT_EQ(error_of({"repair", "nowhere"}, 3)["code"], "CEL-NOT-STORE");
  fs::create_directory(path("empty"));
  EXPECT_EQ(error_of({"repair", "empty"}, 3)["code"], "CEL-NOT-STORE");
  write_file("empty/other.txt", "text");
  EXPECT_EQ(error_of({"repair", "empty", "--dry-run"}, 3)["code"], "CEL-NOT-STORE");
}

// A feed that would miss writes must not go on as if it had all of them.
TEST_F(RepairTest, AFeedThatWouldMissWritesIsLost) {
  make_store("closed", true);
  out_of({"feed", "create", "closed", "audit"});
  for (const char* row : {"a", "b", "c"}) out_of({"put", "closed", "orders", row, "d:q", "v"});
  out_of({"flush", "closed"});
  fs::remove(path("closed/wal/" + files_of("closed/wal").front()));
  const Json plan = json_of({"repair", "closed"});
  EXPECT_FALSE(plan["damage"].empty());
  EXPECT_EQ(run({"get", "closed", "orders", "b"}).exit, 0) << "its file holds it";
  EXPECT_TRUE(json_of({"feed", "list", "closed"})["feeds"][0]["lost"]);
}

// The engine refuses a store, and each time the program says which command goes on.
TEST_F(RepairTest, ErrorsOfDamagedStoresNameTheRepair) {
  make_store("closed", true);
  fs::remove(path("closed/CURRENT"));
  for (const Strings& line :
       {Strings{"get", "closed", "orders", "log1"}, Strings{"put", "closed", "orders", "r", "d:q", "v"},
        Strings{"manifest", "dump", "closed"}, Strings{"wal", "verify", "closed"}}) {
    const ToolResult result = run(line);
    EXPECT_NE(result.exit, 0);
    EXPECT_NE(result.err.find("cellar repair closed --dry-run"), std::string::npos) << line[0] << result.err;
  }
}

// With no manifest at all, tables have numbers for names, and every cell is there.
TEST_F(RepairTest, AStoreWithoutAnyManifestIsMadeFromItsFiles) {
  make_store("closed", true);
  fs::copy(path("closed"), path("before"), fs::copy_options::recursive);
  const Cells before = cells_of_store("before");
  for (const std::string& file : files_of("closed"))
    if (file.starts_with("MANIFEST-") || file == "CURRENT") fs::remove(path("closed/" + file));
  const Json plan = json_of({"repair", "closed"});
  EXPECT_EQ(cells_of_store("closed"), before) << plan.dump(2);
}

// The cut is exactly at the damage: what was written before it is there, and nothing after it.
TEST_F(RepairTest, TheLogIsCutAtTheDamage) {
  make_store("closed", true);
  const std::string segment = files_of("closed/wal").back();
  const std::unique_ptr<Directory> root =
      posix_file_system().open_directory(path("closed").string(), false).value();
  const std::unique_ptr<Directory> wal = open_wal_directory(*root, false).value();
  std::vector<std::pair<uint64_t, std::set<std::string>>> records;  // offset, rows
  const VisitRecord visit = [&](const SeenRecord& record) {
    if (record.header.type != RecordType::kData) return true;
    auto& [offset, rows] = records.emplace_back(record.offset, std::set<std::string>());
    LogCells cells(record.payload, record.header.count, record.header.sequence);
    for (LogCell each; cells.next(each);)
      rows.insert(std::to_string(each.family_id) + std::string(each.cell.row()));
    return true;
  };
  const FileHeader header = read_file_header(*wal, segment, FileKind::kLog).value();
  ASSERT_TRUE(look_at_segment(*wal, segment, header.identity, header.id, visit).ok());
  ASSERT_EQ(records.size(), 25u);
  const std::string log = bytes_of_file(path("closed/wal/" + segment));
  for (size_t damaged = 0; damaged < records.size(); damaged += sweep_step()) {
    take_copy("closed");
    std::string flipped = log;
    flipped[records[damaged].first + 50] ^= 1;
    put_bytes(path("broken/wal/" + segment), flipped);
    ASSERT_EQ(run({"repair", "broken", "--quiet"}).exit, 0);
    std::set<std::string> there;
    for (const auto& [place, value] : cells_of_store("broken"))
      there.insert(std::to_string(place.table_id == 2 ? 3 : place.family == "d" ? 1 : 2) + place.row);
    for (size_t i = 0; i + 1 < records.size(); ++i)
      for (const std::string& row : records[i].second)
        EXPECT_EQ(there.contains(row), i < damaged) << row << " with damage at " << damaged;
  }
}

// The log of the last flush is often still there: then a lost file costs nothing.
TEST_F(RepairTest, TheLogWritesLostFilesAgain) {
  const std::string at = path("made").string();
  EngineOptions options;
  options.create_if_missing = true;
  const std::unique_ptr<Engine> engine = Engine::open(at, options).value();
  FamilyOptions d;
  d.name = "d";
  TableOptions table;
  table.families = {d};
  ASSERT_TRUE(engine->create_table("orders", table).ok());
  for (int i = 0; i < 9; ++i)
    ASSERT_TRUE(
        engine->open_table("orders").value()->put(Put("row" + std::to_string(i)).add("d", "q", "v")).ok());
  ASSERT_TRUE(engine->flush().ok());
  ASSERT_TRUE(engine->open_table("orders").value()->put(Put("row9").add("d", "q", "v")).ok());
  fs::copy(at, path("broken"), fs::copy_options::recursive);
  ASSERT_TRUE(engine->close().ok());
  for (const std::string& file : files_of("broken/tables")) fs::remove(path("broken/tables/" + file));
  const Json plan = json_of({"repair", "broken"});
  ASSERT_EQ(plan["at_risk"].size(), 1u);
  EXPECT_EQ(plan["at_risk"][0]["text"], "the log still holds these writes, but not those that skipped it");
  EXPECT_EQ(cells_of_store("broken").size(), 10u);
}

// Damage in front of writes that are all in files costs nothing: the log begins after it.
TEST_F(RepairTest, DamagedSegmentsThatNobodyNeedsCostNothing) {
  make_store("closed", true);
  out_of({"feed", "create", "closed", "audit"});  // it keeps the segments
  for (const char* row : {"a", "b"}) {
    out_of({"put", "closed", "orders", row, "d:q", "v", "c:q", "v"});
    out_of({"put", "closed", "people", row, "d:q", "v"});
  }
  out_of({"flush", "closed"});
  out_of({"put", "closed", "orders", "c", "d:q", "v"});
  {
    const std::unique_ptr<Directory> root =
        posix_file_system().open_directory(path("closed").string(), false).value();
    const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
    const std::unique_ptr<Manifest> manifest = Manifest::load(*root, *executor).value();
    ManifestState state = manifest->state();
    ASSERT_FALSE(state.feeds.retained.empty());
    state.log_start = state.feeds.retained.front().id;
    state.feeds = {};
    ASSERT_TRUE(manifest->switch_to(state).ok());
  }
  EXPECT_EQ(run({"wal", "verify", "closed"}).exit, 0) << "so far it is sound";
  const std::string first = files_of("closed/wal").front();
  std::string log = bytes_of_file(path("closed/wal/" + first));
  log[150] ^= 1;
  put_bytes(path("closed/wal/" + first), log);
  EXPECT_EQ(run({"wal", "verify", "closed"}).exit, 1);
  const Json plan = json_of({"repair", "closed"});
  EXPECT_FALSE(plan["damage"].empty());
  EXPECT_TRUE(plan["at_risk"].empty()) << plan.dump(2);
  for (const char* row : {"a", "b", "c"}) EXPECT_EQ(run({"get", "closed", "orders", row}).exit, 0) << row;
}

// A repair may be killed at any time, and the next one ends it.
TEST_F(RepairTest, AnInterruptedRepairIsRunAgain) {
  make_store("closed", true);
  fs::copy(path("closed"), path("before"), fs::copy_options::recursive);
  const Cells before = cells_of_store("before");
  const std::string segment = files_of("closed/wal").back();
  const std::string file = files_of("closed/tables/1/c").front();
  uint64_t killed = 0;
  const uint64_t rounds = scaled(40);
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    take_copy("closed");
    std::string log = bytes_of_file(path("broken/wal/" + segment));
    log[log.size() / 2] = static_cast<char>(log[log.size() / 2] ^ 4);
    put_bytes(path("broken/wal/" + segment), log);
    put_bytes(path("broken/tables/1/c/" + file), "damaged");
    put_bytes(path("broken/CURRENT"), "damaged");
    const std::string at = path("broken").string();
    const std::unique_ptr<Directory> root = posix_file_system().open_directory(at, false).value();
    const RepairPlan plan = plan_repair(*root, at, VerifyLevel::kDeep).value();
    const ToolResult result = shell("timeout -s KILL 0.0" + std::to_string(10 + round) +
                                    " cellar repair broken --quiet > /dev/null; echo $?");
    killed += result.out.find("137") != std::string::npos ? 1 : 0;
    const ToolResult again = run({"repair", "broken"});
    ASSERT_EQ(again.exit, 0) << again.err;
    ASSERT_EQ(run({"verify", "broken", "--level", "deep"}).exit, 0);
    const Cells after = cells_of_store("broken");
    for (const auto& [place, value] : before) {
      const auto is_risk = [&, at = place](const RiskOfLoss& risk) { return covers(risk, at); };
      EXPECT_TRUE(after.contains(place) || std::ranges::any_of(plan.at_risk, is_risk)) << place.row;
    }
  }
  count(killed, "repairs killed");
}

}  // namespace
}  // namespace cellar::testing
