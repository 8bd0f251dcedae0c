// Claims about relations. Q34 compares an edge list with lists of neighbours. Q37 has one relation of many,
// as a row of its own or as a column.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "cellar/keys.h"

namespace cellar::bench {
namespace {

// ---- Q34: is there a link from a to b? ----

constexpr uint64_t kLinksOfNode = 50;
constexpr uint64_t kLinkFiles = 4;
uint64_t link_nodes() { return scaled(4000, 100); }

std::string node_name(uint64_t node) { return numbered("n", node, 7); }
// The i-th link of a node: to a node with an even number. Odd ones have none.
uint64_t link_target(uint64_t node, uint64_t i) { return (node + i * 37) % link_nodes() * 2; }
uint64_t link_file(uint64_t node, uint64_t i) { return mixed(node * kLinksOfNode + i) % kLinkFiles; }

// One cell of a row for each link, one column for each, or all in one cell.
enum class Links { kEdges, kColumns, kColumnsRowcol, kOneCell };
constexpr const char* kLinksNames[] = {"edge_list", "columns", "columns_rowcol_bloom", "one_cell"};

Status write_links(Links links, uint64_t file, const std::shared_ptr<Table>& table, Batch& batch) {
  for (uint64_t node = 0; node < link_nodes(); ++node) {
    std::string all;
    for (uint64_t i = 0; i < kLinksOfNode; ++i) {
      const std::string target = node_name(link_target(node, i));
      all += target;
      if (links == Links::kOneCell || link_file(node, i) != file) continue;
      if (links == Links::kEdges) {
        batch.put(table, Put(node_name(node) + target).add_at("d", "", 1, ""));
      } else {
        batch.put(table, Put(node_name(node)).add_at("d", target, 1, ""));
      }
    }
    if (links == Links::kOneCell && node % kLinkFiles == file)
      batch.put(table, Put(node_name(node)).add_at("d", "", 1, all));
  }
  return {};
}

BedPlan links_plan(Links links) {
  BedPlan plan;
  plan.table.families = {{.name = "d", .bloom = links == Links::kColumnsRowcol ? "rowcol" : "row"}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    for (uint64_t file = 0; file < kLinkFiles; ++file) {
      Batch batch;
      CELLAR_TRY(write_links(links, file, table, batch));
      CELLAR_TRY(write_batch(engine, batch, true));
      CELLAR_TRY(table->flush());
    }
    return {};
  };
  return plan;
}

Result<bool> linked(Links links, Table& table, uint64_t from, uint64_t to, ReadStats& stats) {
  const std::string source = node_name(from);
  const std::string target = node_name(to);
  if (links == Links::kEdges) return table.exists(Get(source + target).stats(&stats));
  if (links != Links::kOneCell) return table.exists(Get(source).column("d", target).stats(&stats));
  CELLAR_TRY_ASSIGN(const RowBatch batch, table.get(Get(source).stats(&stats)));
  const std::string_view all = batch.value("d", "").value_or("");
  for (size_t at = 0; at < all.size(); at += target.size())
    if (all.substr(at, target.size()) == target) return true;
  return false;
}

void q34(benchmark::State& state, Links links, uint64_t percent_missing) {
  Bed& bed = Bed::of(fmt::format("q34 {}", static_cast<int>(links)), [=] { return links_plan(links); });
  Table& table = ready(bed, true);
  Random random(34);
  bool right = true;
  repeat(state, [&](ReadStats& stats) -> Status {
    const bool missing = random.below(100) < percent_missing;
    const uint64_t from = random.below(link_nodes());
    const uint64_t to = link_target(from, random.below(kLinksOfNode)) + (missing ? 1 : 0);
    CELLAR_TRY_ASSIGN(const bool found, linked(links, table, from, to, stats));
    right = right && found != missing;
    return {};
  });
  state.counters["bytes per link"] =
      static_cast<double>(bed.file_bytes()) / static_cast<double>(link_nodes() * kLinksOfNode);
  expect(state, right, "a link was not found, or one that does not exist was");
}

// ---- Q37: one relation of k ----

uint64_t q37_relations() { return scaled(200'000, 20'000); }

BedPlan relations_plan(bool tall, uint64_t k) {
  BedPlan plan;
  plan.table.families = {{.name = "f"}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t i = 0; i < std::max(k, q37_relations()); ++i) {
      const std::string user = md5_bytes(numbered("user", i / k));
      const std::string whom = md5_bytes(numbered("user", i % k));
      batch.put(table, tall ? Put(user + whom).add_at("f", "", 1, "1") : Put(user).add_at("f", whom, 1, "1"));
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

enum class Q37Way { kTallRow, kWideColumn, kWideRow };
constexpr const char* kQ37Names[] = {"row_of_the_relation", "column_of_the_wide_row", "whole_wide_row"};

void q37(benchmark::State& state, Q37Way way, uint64_t k) {
  const bool tall = way == Q37Way::kTallRow;
  Table& table =
      ready(Bed::of(fmt::format("q37 {} {}", tall, k), [=] { return relations_plan(tall, k); }), true);
  const uint64_t users = std::max(k, q37_relations()) / k;
  Random random(37);
  RowBatch batch;
  size_t found = 0;
  repeat(state, [&](ReadStats& stats) -> Status {
    const std::string user = md5_bytes(numbered("user", random.below(users)));
    const std::string whom = md5_bytes(numbered("user", random.below(k)));
    Get get(tall ? user + whom : user);
    if (way == Q37Way::kWideColumn) get.column("f", whom);
    CELLAR_TRY(table.get_into(get.stats(&stats), batch));
    for (const CellView& cell : batch.row())
      if (tall || cell.qualifier() == whom) ++found;
    batch.clear();
    return {};
  });
  expect_each(state, found, 1);
}

[[maybe_unused]] const bool registered_links = [] {
  for (const Links links : {Links::kEdges, Links::kColumns, Links::kColumnsRowcol, Links::kOneCell})
    for (const uint64_t missing : {10, 90})
      claim(fmt::format("Q34_links/missing_percent:{}/stored:{}", missing,
                        kLinksNames[static_cast<int>(links)]),
            [=](benchmark::State& state) { q34(state, links, missing); });
  for (const uint64_t k : {10, 100, 1000, 10'000})
    for (const Q37Way way : {Q37Way::kTallRow, Q37Way::kWideColumn, Q37Way::kWideRow})
      claim(fmt::format("Q37_one_relation/read:{}/relations:{}", kQ37Names[static_cast<int>(way)], k),
            [=](benchmark::State& state) { q37(state, way, k); });
  return true;
}();

}  // namespace
}  // namespace cellar::bench
