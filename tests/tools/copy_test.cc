// Goal: `cellar copy` copies tables whole, with schema, versions and times to live, to stores and clusters.
// It goes on where it ended, and refuses what it should. Method: the real program; a cluster is a store that
// `cellar serve` serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class Copy : public ToolTest {
 protected:
  // The options of all tables, without identifiers and sizes.
  Json schema_of_store(const std::string& store) const {
    Json tables = Json::object();
    for (const Json& table : json_of({"describe", store})["tables"]) {
      Json& to = tables[table["name"].get<std::string>()];
      to["options"] = table["options"];
      for (const Json& family : table["families"])
        to["families"][family["name"].get<std::string>()] = family["options"];
    }
    return tables;
  }
  std::string cells_of(const std::string& store, const std::string& table, bool raw = false) const {
    std::vector<std::string> words = {"export", store, table, "--tags", "--quiet"};
    if (raw) words.emplace_back("--raw");
    return out_of(words);
  }

  // A store with a table whose options are far from the defaults, and one with many rows.
  void make_store() const {
    out_of({"create", "shop", "orders",
            "d:max_versions=3,min_versions=1,ttl_s=forever,keep_deleted_cells=true,compression=gz,encoding="
            "fast_diff,bloom=rowcol,block_bytes=32768,in_memory=true,metadata.owner=ada",
            "c:ttl_s=100000000,compression=zstd(level=9),bloom=rowprefix_fixed_length(prefix_length=4)",
            "--set", "memtable_bytes=32m", "--set", "OWNER=ada", "--set", "durability=async_wal", "--set",
            "configuration.my.key=7"});
    for (const char* const time : {"1", "2", "3"})
      out_of({"put", "shop", "orders", "user41", "d:name", std::string("Ada ") + time, "--ts", time});
    out_of({"put", "shop", "orders", "user42", "c:seen", "x", "--ttl", "90d"});
    out_of({"put", "shop", "orders", "user43", "d:name", "gone", "--ts", "5"});
    out_of({"delete", "shop", "orders", "user43", "d:name", "--ts", "5"});
    out_of({"create", "shop", "more", "d:max_versions=2"});
    out_of({"load", "shop", "more", "-"}, lines_of_rows("row", 3000, 400));
  }

  // A cell of 2 MB after all rows of the table "more". A store with this setting refuses it, after the rows.
  static constexpr const char* kSmallCells = "CELLAR_ENGINE=cell_bytes_max=1m";
  void add_large_cell() const {
    write_file("large", std::string(2'000'000, 'l'));
    out_of({"put", "shop", "more", "row99999", "--from-file", "d:q=large", "--ts", "7"});
  }
};

TEST_F(Copy, AStoreIsCopiedWithItsSchemas) {
  make_store();
  const Json copied = json_of({"copy", "shop", "copied"});
  ASSERT_EQ(copied["tables"].size(), 2u);
  EXPECT_EQ(copied["tables"][0]["table"], "more");
  EXPECT_EQ(copied["tables"][0]["rows"], 3000);
  EXPECT_EQ(copied["tables"][1]["created"], true);
  EXPECT_EQ(copied["tables"][1]["compared"]["ranges_different"], 0);
  EXPECT_EQ(schema_of_store("copied"), schema_of_store("shop"));
  for (const char* const table : {"orders", "more"})
    EXPECT_EQ(cells_of("copied", table), cells_of("shop", table));
  EXPECT_THAT(cells_of("copied", "orders"), HasSubstr("Ada 1"));
  EXPECT_THAT(cells_of("copied", "orders"), HasSubstr("\"tags\":[[8,"));
  EXPECT_FALSE(std::filesystem::exists(path("copied.copy"))) << "a complete copy needs no state";
}

TEST_F(Copy, MarkersAreCopiedOnRequest) {
  make_store();
  out_of({"copy", "shop", "plain", "orders"});
  EXPECT_THAT(cells_of("plain", "orders", true), Not(HasSubstr("Delete")));
  out_of({"copy", "shop", "raw", "orders", "--raw"});
  EXPECT_EQ(cells_of("raw", "orders", true), cells_of("shop", "orders", true));
  out_of({"create", "other", "t", "d:delete_order=sequence"});
  const ToolResult refused = run({"copy", "other", "nowhere", "--raw"});
  EXPECT_EQ(refused.exit, 4);
  EXPECT_THAT(refused.err, HasSubstr("family d, whose markers"));
  EXPECT_FALSE(std::filesystem::exists(path("nowhere")));
}

TEST_F(Copy, ATableThatTakesNoWritesIsCopied) {
  make_shop();
  out_of({"alter", "shop", "orders", "--set", "read_only=true"});
  out_of({"copy", "shop", "copied", "orders", "--as", "frozen"});
  EXPECT_EQ(cells_of("copied", "frozen"), cells_of("shop", "orders"));
  EXPECT_EQ(run({"put", "copied", "frozen", "r", "d:q", "v"}).exit, 3);
}

TEST_F(Copy, ATableThatExistsIsRefusedWithTheDifference) {
  make_shop();
  out_of({"create", "other", "orders", "d:max_versions=1", "c"});
  const ToolResult refused = run({"copy", "shop", "other", "orders"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("table orders exists already, with other options: "
                                     "family d: max_versions is 3 and 1"));
  EXPECT_THAT(refused.err, HasSubstr("--into-existing"));
  EXPECT_EQ(cells_of("other", "orders"), "");
  const ToolResult added = run({"copy", "shop", "other", "orders", "--into-existing"});
  EXPECT_EQ(added.exit, 1) << "fewer versions are kept: " << added.err;
  EXPECT_THAT(added.err, HasSubstr("table orders keeps its own options: family d: max_versions is 3 and 1"));
  EXPECT_THAT(added.out, HasSubstr("differs  orders"));
  out_of({"create", "narrow", "orders", "d"});
  const ToolResult missing = run({"copy", "shop", "narrow", "orders", "--into-existing"});
  EXPECT_EQ(missing.exit, 3);
  EXPECT_THAT(missing.err, HasSubstr("no family \"c\""));
}

TEST_F(Copy, ASecondTableThatCannotBeMadeStopsBeforeTheFirst) {
  make_shop();
  out_of({"create", "other", "people", "d", "c"});
  EXPECT_EQ(run({"copy", "shop", "other"}).exit, 2);
  EXPECT_THAT(out_of({"list", "other"}), Not(HasSubstr("orders")));
}

TEST_F(Copy, RowsColumnsAndTimesCanBeChosen) {
  make_store();
  out_of({"copy", "shop", "some", "more", "--prefix", "row1000", "--start", "row10003"});
  EXPECT_EQ(json_of({"count", "some", "more"})["counts"][0]["rows"], 7);
  out_of({"copy", "shop", "some", "orders", "--column", "d", "--time", "2..4"});
  const std::string chosen = cells_of("some", "orders");
  EXPECT_EQ(std::ranges::count(chosen, '\n'), 2) << chosen;
  EXPECT_THAT(chosen, AllOf(HasSubstr("Ada 2"), HasSubstr("Ada 3")));
  EXPECT_EQ(run({"copy", "shop", "some", "more", "--prefix", "row1", "--stop", "row2"}).exit, 2);
  EXPECT_EQ(run({"copy", "shop", "some", "orders", "--raw", "--column", "d:name"}).exit, 2);
  EXPECT_EQ(run({"copy", "shop", "some", "--as", "one"}).exit, 2);
  EXPECT_EQ(run({"copy", "shop", "some", "--batch", "1"}).exit, 2);
  EXPECT_EQ(run({"copy", "shop", "some", "ordrs"}).exit, 3);
  EXPECT_EQ(run({"copy", "shop", "some", "orders", "--column", "e"}).exit, 3);
}

TEST_F(Copy, ACopyThatEndedEarlyGoesOn) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied more --batch 64k";
  const ToolResult broken = shell(std::string(kSmallCells) + " " + command);
  EXPECT_EQ(broken.exit, 2) << broken.err;
  EXPECT_THAT(broken.err, HasSubstr("copied.copy tells how far the copy is"));
  const Json state = Json::parse(read_file("copied.copy"));
  EXPECT_GT(state["tables"][0]["rows"], 2000);
  // Another copy must not go on with this file.
  const ToolResult other = run({"copy", "shop", "copied", "more", "--raw", "--batch", "64k"});
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("belongs to another copy: \"raw\" is false there, and true here"));
  const ToolResult again = shell(command);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("were copied before, going on at row row1"));
  EXPECT_THAT(again.err, HasSubstr("copied 3,001 rows"));
  EXPECT_EQ(cells_of("copied", "more"), cells_of("shop", "more"));
  EXPECT_FALSE(std::filesystem::exists(path("copied.copy")));
}

TEST_F(Copy, AFileThatIsNoStateIsRefused) {
  make_shop();
  for (const char* const text :
       {"", "no state", "{}", "{\"schema\":\"cellar.copy-state/1\",\"request\":7}"}) {
    write_file("mine", text);
    const ToolResult refused = run({"copy", "shop", "copied", "orders", "--state", "mine"});
    EXPECT_EQ(refused.exit, 3) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("does not tell how far a copy is"));
    EXPECT_EQ(read_file("mine"), text);
  }
  write_file("mine", "{\"schema\":\"cellar.copy-state/9\"}");
  EXPECT_EQ(run({"copy", "shop", "copied", "orders", "--state", "mine"}).exit, 4);
}

TEST_F(Copy, ATableThatIsGoneBeginsAgain) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied more --batch 64k";
  shell(std::string(kSmallCells) + " " + command);
  out_of({"drop", "copied", "more"});
  const ToolResult again = shell(command);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("table more is gone, and its copy begins again"));
  EXPECT_EQ(cells_of("copied", "more"), cells_of("shop", "more"));
}

TEST_F(Copy, TheComparisonFindsADifference) {
  make_store();
  out_of({"copy", "shop", "copied", "more", "--verify", "skip", "--batch", "64k"});
  EXPECT_EQ(run({"copy", "shop", "copied", "more", "--verify", "only"}).exit, 0);
  out_of({"put", "copied", "more", "row12000", "d:q", "planted", "--ts", "7"});
  const ToolResult text = run({"copy", "shop", "copied", "more", "--verify", "only", "--batch", "64k"});
  EXPECT_EQ(text.exit, 1);
  EXPECT_THAT(text.out, HasSubstr("differs  more  --start row11"));
  EXPECT_THAT(text.out, HasSubstr("other cells"));
  const ToolResult json =
      run({"copy", "shop", "copied", "more", "--verify", "only", "--batch", "64k", "--format", "json"});
  const Json differences = Json::parse(json.out)["tables"][0]["differences"];
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_LE(differences[0]["start"].get<std::string>(), "row12000");
  EXPECT_GT(differences[0]["stop"].get<std::string>(), "row12000");
  EXPECT_NE(differences[0]["from"]["hash"], differences[0]["to"]["hash"]);
  // The words of the report copy the range again.
  out_of({"copy", "shop", "copied", "more", "--into-existing", "--start",
          differences[0]["start"].get<std::string>(), "--stop", differences[0]["stop"].get<std::string>()});
  EXPECT_EQ(run({"copy", "shop", "copied", "more", "--verify", "only"}).exit, 0);
}

TEST_F(Copy, ADirectoryThatIsNotThereIsRefused) {
  EXPECT_EQ(run({"copy", "nothing-here", "copied"}).exit, 3);
  EXPECT_FALSE(std::filesystem::exists(path("copied")));
}

TEST_F(Copy, ThroughAClusterAndBack) {
  if (!builds_serve()) return;
  make_store();
  const ToolResult copied = on_cluster(
      "set -e\n"
      "cellar copy shop $H orders more\n"
      "cellar copy shop $H orders --as fresh:orders --raw\n"  // into a namespace that is new
      "cellar copy $H copied\n"
      "cellar copy $H $H more --as twice\n"
      "cellar copy $H copied twice --start row12000 --format json\n");
  ASSERT_EQ(copied.exit, 0) << copied.err;
  EXPECT_EQ(Json::parse(copied.out)["tables"][0]["rows"], 1000);
  EXPECT_EQ(schema_of_store("copied")["orders"], schema_of_store("shop")["orders"]);
  EXPECT_EQ(schema_of_store("copied")["fresh:orders"], schema_of_store("shop")["orders"]);
  const auto cells = [&](const char* const store, const char* const table) {
    return out_of({"export", store, table, "--quiet"});  // tags do not travel
  };
  for (const char* const table : {"orders", "more"}) EXPECT_EQ(cells("copied", table), cells("shop", table));
  EXPECT_EQ(cells_of("served", "orders"), cells_of("shop", "orders")) << "times to live travel to a cluster";
  EXPECT_EQ(cells_of("served", "fresh:orders", true), cells_of("shop", "orders", true));
}

TEST_F(Copy, ACopyToAClusterGoesOn) {
  if (!builds_serve()) return;
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop $H more --batch 64k --state more.state";
  const ToolResult broken = on_cluster(command, kSmallCells);
  EXPECT_NE(broken.exit, 0);
  EXPECT_THAT(broken.err, HasSubstr("more.state tells how far the copy is"));
  const ToolResult again = on_cluster(command);  // at another port
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("going on at row row1"));
  EXPECT_EQ(cells_of("served", "more"), cells_of("shop", "more"));
}

TEST_F(Copy, AClusterThatIsLostLeavesTheState) {
  if (!builds_serve()) return;
  make_store();
  out_of({"load", "shop", "more", "-"}, lines_of_rows("more", 40'000, 400));
  // The server ends when some ranges of rows are copied.
  const ToolResult lost = on_cluster(
      "cellar copy shop \"$H?timeout_ms=1000\" more --batch 64k --state s & copy=$!\n"
      "until grep -q '\"cells\": [1-9]' s 2>/dev/null || ! kill -0 $copy; do :; done\n"
      "kill -KILL $server; wait $copy");
  EXPECT_NE(lost.exit, 0);
  EXPECT_THAT(lost.err, HasSubstr("s tells how far the copy is: run the same command to go on"));
  ASSERT_TRUE(std::filesystem::exists(path("s")));
  EXPECT_FALSE(std::filesystem::exists(path("s.lock")));
  const ToolResult again = on_cluster("cellar copy shop $H more --batch 64k --state s");
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("were copied before, going on at row more"));
  EXPECT_THAT(again.err, HasSubstr("copied 43,000 rows"));
  EXPECT_EQ(cells_of("served", "more"), cells_of("shop", "more"));
  EXPECT_FALSE(std::filesystem::exists(path("s")));
}

// The cluster answers no more, so the copy ends with an error of the cluster after Ctrl-C.
TEST_F(Copy, AnInterruptedCopyThatFailsIsInterrupted) {
  if (!builds_serve()) return;
  make_store();
  const ToolResult ended = on_cluster(
      "kill -STOP $server; cellar copy shop \"$H?timeout_ms=2000\" more --state s & copy=$!\n"
      "sleep 0.7; kill -INT $copy; wait $copy; code=$?; kill -CONT $server; exit $code");
  EXPECT_EQ(ended.exit, 130) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("CEL-INTERRUPTED"));
}

// The table is as the state expects it by its name, but its rows are gone.
TEST_F(Copy, ATableThatLostItsRowsBeginsAgain) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied more --batch 64k --verify skip";
  for (const char* const loss : {"cellar truncate copied more",
                                 "cellar drop copied more && cellar create copied more d:max_versions=2",
                                 "rm -rf copied && cp -a early copied"}) {
    SCOPED_TRACE(loss);
    // "early" is the store with the table that the copy made, before the first cell.
    const std::string keep_early =
        "rm -rf copied copied.copy early; cellar copy shop copied more --stop a; cp -a copied early; ";
    shell(keep_early + "cellar drop copied more");
    EXPECT_EQ(shell(std::string(kSmallCells) + " " + command).exit, 2);
    EXPECT_EQ(shell(loss).exit, 0);
    const ToolResult again = shell(command);
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("and its copy begins again"));
    EXPECT_EQ(cells_of("copied", "more"), cells_of("shop", "more"));
  }
}

// A complete copy takes no writes any more if its table takes none.
TEST_F(Copy, ACopyThatTakesNoWritesBeginsAgain) {
  make_store();
  add_large_cell();
  out_of({"alter", "shop", "orders", "--set", "read_only=true"});
  const std::string command = "cellar copy shop copied orders more";
  EXPECT_EQ(shell(std::string(kSmallCells) + " " + command).exit, 2);
  EXPECT_EQ(cells_of("copied", "orders"), cells_of("shop", "orders"));
  out_of({"truncate", "copied", "orders"});
  const ToolResult again = shell(command);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("table orders lost rows that were copied, and its copy begins again"));
  EXPECT_EQ(cells_of("copied", "orders"), cells_of("shop", "orders"));
  EXPECT_EQ(run({"put", "copied", "orders", "r", "d:q", "v"}).exit, 3);
}

TEST_F(Copy, ASourceThatWasMadeAnewIsRefused) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied more --batch 64k --verify skip";
  shell(std::string(kSmallCells) + " " + command);
  out_of({"drop", "shop", "more"});
  out_of({"create", "shop", "more", "d:max_versions=2"});
  out_of({"put", "shop", "more", "row00001", "d:q", "new"});
  const ToolResult refused = shell(command);
  EXPECT_EQ(refused.exit, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("table more is another one than that whose copy began"));
  EXPECT_THAT(refused.err, HasSubstr("rm copied.copy"));
  out_of({"drop", "copied", "more"});
  std::filesystem::remove(path("copied.copy"));
  EXPECT_EQ(shell(command).exit, 0);
  EXPECT_EQ(cells_of("copied", "more"), cells_of("shop", "more"));
}

// The copy ends in its first table. Then the second one, which the copy would make, is made by somebody.
TEST_F(Copy, ATableThatWasMadeMeanwhileIsNotTakenForACopy) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied";
  EXPECT_EQ(shell(std::string(kSmallCells) + " " + command).exit, 2);
  out_of({"create", "copied", "orders", "d", "c"});
  out_of({"put", "copied", "orders", "mine", "d:q", "v"});
  const ToolResult refused = shell(command);
  EXPECT_EQ(refused.exit, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("table orders exists already"));
  EXPECT_THAT(cells_of("copied", "orders"), AllOf(HasSubstr("mine"), Not(HasSubstr("user41"))));
}

// A copy that was killed between the note that it makes the table and the note that it has made it.
TEST_F(Copy, ATableThatWasJustMadeIsTheCopysOwnIfItIsEmpty) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied more --batch 64k --verify skip";
  for (const bool used : {true, false}) {
    shell("rm -rf copied copied.copy; " + std::string(kSmallCells) + " " + command);
    out_of({"drop", "copied", "more"});
    out_of({"create", "copied", "more", "d:max_versions=2"});
    if (used) out_of({"put", "copied", "more", "mine", "d:q", "v"});
    Json state = Json::parse(read_file("copied.copy"));
    for (const char* const count : {"rows", "cells", "bytes", "to_id"}) state["tables"][0][count] = 0;
    for (const char* const row : {"next", "last"}) state["tables"][0][row] = "";
    state["tables"][0]["created"] = false;
    write_file("copied.copy", state.dump());
    const ToolResult again = shell(command);
    EXPECT_EQ(again.exit, used ? 2 : 0) << again.err;
    if (used) {
      EXPECT_THAT(again.err, HasSubstr("exists already"));
    }
  }
  EXPECT_EQ(cells_of("copied", "more"), cells_of("shop", "more"));
}

// The words that are printed copy the range again, with the ends and the choice of the comparison.
TEST_F(Copy, TheWordsOfADifferenceCopyItAgain) {
  make_store();
  out_of({"copy", "shop", "copied", "more", "--as", "twice"});
  for (const char* const row : {"row10000", "row10001", "row10008", "row10009"})
    out_of({"put", "copied", "twice", row, "d:q", "planted", "--ts", "7"});
  const ToolResult found = run({"copy", "shop", "copied", "more", "--as", "twice", "--verify", "only",
                                "--start", "row10000", "--start-exclusive", "--stop", "row10008",
                                "--stop-inclusive", "--column", "d:q", "--time", "5..9"});
  EXPECT_EQ(found.exit, 1);
  EXPECT_THAT(found.out,
              HasSubstr("differs  more  --start row10000 --start-exclusive --stop row10008 --stop-inclusive "
                        "--column d:q --time 5ms..9ms --as twice --into-existing  other cells"));
  const std::string words =
      found.out.substr(0, found.out.rfind("  ")).substr(std::string("differs  ").size());
  EXPECT_EQ(shell("cellar copy shop copied " + words).exit, 0);
  const std::string copied = cells_of("copied", "twice");
  EXPECT_EQ(copied.find("planted", copied.find("row10001")), copied.find("planted", copied.find("row10009")))
      << "the rows between are mended";
  // Surplus cells of TO are named, since a copy does not remove it.
  out_of({"put", "copied", "twice", "row5", "d:q", "surplus"});
  const ToolResult surplus = run({"copy", "shop", "copied", "more", "--as", "twice", "--into-existing"});
  EXPECT_EQ(surplus.exit, 1);
  EXPECT_THAT(surplus.err,
              HasSubstr("1 range with more cells in copied than in shop: a copy removes no cells"));
}

TEST_F(Copy, AFamilyThatTheCopyLacksIsNamedWithItsSide) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied more --batch 64k";
  shell(std::string(kSmallCells) + " " + command);
  out_of({"alter", "shop", "more", "e"});
  out_of({"put", "shop", "more", "row5", "e:q", "v"});
  const ToolResult missing = shell(command);
  EXPECT_EQ(missing.exit, 3);
  EXPECT_THAT(missing.err, HasSubstr("table more of copied has no family \"e\""));
  EXPECT_THAT(missing.err, HasSubstr("cellar alter copied more e"));
  const ToolResult only = run({"copy", "shop", "copied", "more", "--verify", "only"});
  EXPECT_EQ(only.exit, 3);
  EXPECT_THAT(only.err, HasSubstr("table more of copied has no family \"e\""));
  out_of({"alter", "copied", "more", "e"});
  EXPECT_EQ(shell(command).exit, 0);
  EXPECT_EQ(cells_of("copied", "more"), cells_of("shop", "more"));
}

TEST_F(Copy, AStateThatDoesNotFitLeavesNoStore) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied more --batch 64k";
  shell(std::string(kSmallCells) + " " + command);
  std::filesystem::remove_all(path("copied"));
  const ToolResult stale = shell(command);
  EXPECT_EQ(stale.exit, 2) << stale.err;
  EXPECT_THAT(stale.err, HasSubstr("rm copied.copy"));
  EXPECT_FALSE(std::filesystem::exists(path("copied")));
  EXPECT_EQ(run({"copy", "shop", "copied", "--state", "no-such-directory/s"}).exit, 3);
  EXPECT_FALSE(std::filesystem::exists(path("copied")));
  write_file("mine", "no state");
  EXPECT_EQ(run({"copy", "shop", "copied", "--state", "mine"}).exit, 3);
  EXPECT_FALSE(std::filesystem::exists(path("copied")));
  std::filesystem::remove(path("copied.copy"));
  EXPECT_EQ(shell(command).exit, 0);
}

TEST_F(Copy, RequestsAreToldApart) {
  make_store();
  add_large_cell();
  const std::string command = "cellar copy shop copied more --batch 64k --start row1 --start-exclusive";
  EXPECT_EQ(shell(std::string(kSmallCells) + " " + command).exit, 2);
  const ToolResult other =
      run({"copy", "shop", "copied", "more", "--batch", "64k", "--start", "row1 exclusive"});
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("belongs to another copy"));
  const ToolResult again = shell(command);
  EXPECT_EQ(again.exit, 0) << again.err;
}

TEST_F(Copy, ATableThatIsNamedTwiceIsCopiedOnce) {
  make_store();
  const Json copied = json_of({"copy", "shop", "copied", "more", "more", "--as", "once"});
  EXPECT_EQ(copied["tables"].size(), 1u);
  // The state of a store that is named "." lies next to its directory.
  write_file("copied/..copy", "mine");
  const ToolResult here = shell("cd copied && cellar copy ../shop . orders");
  EXPECT_EQ(here.exit, 0) << here.err;
  EXPECT_EQ(read_file("copied/..copy"), "mine");
}

// A version that a compaction would drop shows in a time range that excludes the newer ones.
TEST_F(Copy, VersionsThatACompactionDropsAreNoDifference) {
  out_of({"create", "shop", "t", "d:max_versions=1"});
  out_of({"put", "shop", "t", "row", "d:q", "old", "--ts", "100"});
  out_of({"put", "shop", "t", "row", "d:q", "new", "--ts", "300"});
  ASSERT_THAT(out_of({"scan", "shop", "t", "--time", "0..200"}), HasSubstr("old"));
  out_of({"copy", "shop", "copied", "t"});
  const std::vector<std::string> compare = {"copy",     "shop", "copied", "t",
                                            "--verify", "only", "--time", "0..200"};
  EXPECT_EQ(run(compare).exit, 0);
  out_of({"put", "copied", "t", "other", "d:q", "surplus", "--ts", "100"});
  EXPECT_EQ(run(compare).exit, 1);
}

}  // namespace
}  // namespace cellar::testing
